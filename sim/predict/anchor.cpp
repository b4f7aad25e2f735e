#include "sim/predict/anchor.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/diagnostic.h"
#include "sim/base/quantity_text.h"
#include "sim/base/refuse.h"
#include "sim/predict/input/input_use.h"
#include "sim/predict/job_run.h"
#include "sim/predict/physical_bound.h"

namespace headway {
namespace {

constexpr double kTolerance = 1e-6;  ///< of the measured time: far below what anybody measures
constexpr int kMostSteps = 60;
/// A time so many times what is predicted is a mistake. Milliseconds that were taken for seconds
/// are a thousand times as many, and no published step takes ten times what is predicted: between
/// the two lies neither.
constexpr double kMostSlowdown = 100.0;

constexpr const char* kWhatToCheck =
    "check that the time is of one whole optimizer step, of this very model, precision, batch and "
    "cluster";

[[noreturn]] void refuse_time(std::string message, const std::string& place) {
  Diagnostic problem;
  problem.message = std::move(message);
  problem.pointer = place;
  problem.help = kWhatToCheck;
  throw InputError(std::move(problem));
}

struct Step {
  JobRun run;
  Seconds time;  ///< with what it waits for samples
};

Step step_with(Scenario scenario, double factor, int jobs) {
  scenario.software_factor = factor;
  Step step{.run = run_job(scenario, *scenario.strategy, scenario.run.replicas, jobs)};
  step.time = step.run.time();
  if (scenario.input) {
    step.time += input_use(scenario, *scenario.strategy, step.run.time(), jobs).stalled;
  }
  return step;
}

/// Where steps wait for samples that are read ahead, software that is slower may make them no
/// longer: a time near what input alone takes is not told from such software.
void check_input(const Scenario& scenario, const Step& known, Seconds measured, int jobs,
                 const std::string& place) {
  constexpr double kSlower = 1.1;
  if (!scenario.input || measured > kSlower * known.time) return;
  const Step slower = step_with(scenario, kSlower, jobs);
  if (slower.time - known.time >= 0.5 * (slower.run.time() - known.run.time())) return;
  Diagnostic problem;
  problem.message = fmt::format(
      "steps of this job wait for samples: that one took {} does not tell how fast its software is",
      exact_text(measured));
  problem.pointer = place;
  problem.help =
      "take a step of a job whose input keeps up, or leave data_loading out of its scenario if the "
      "samples were there";
  throw InputError(std::move(problem));
}

/// Nominal time that the busiest stage computes, recomputation left out.
Seconds longest_compute(const Workload& workload) {
  Seconds longest;
  for (const Program& program : workload.programs) {
    Seconds sum;
    for (const Operation& operation : program.operations) {
      if (operation.kind != OperationKind::compute) continue;
      sum += program.blocks[static_cast<std::size_t>(operation.block)].time[Cause::compute];
    }
    longest = max(longest, sum);
  }
  return longest;
}

/// The least factor at which no stage beats the peak of its devices.
double least_factor(const Scenario& scenario, const JobRun& run) {
  const PhysicalBound bound =
      physical_bound(scenario.model, *scenario.strategy, scenario.profiles(), run.workload,
                     run.timeline, scenario.cluster->topology);
  return std::min(1.0, bound.compute / longest_compute(run.workload));
}

}  // namespace

std::string anchor_place(const Scenario& scenario, std::size_t number) {
  const auto part = scenario.source ? scenario.source->member("anchor") : std::nullopt;
  if (!part) return {};
  return part->is_array() ? fmt::format("/anchor/{}/measured_iteration_time", number)
                          : "/anchor/measured_iteration_time";
}

AnchorFit fit_anchor(const Scenario& scenario, Seconds measured, int jobs,
                     const std::string& place) {
  const Step known = step_with(scenario, 1.0, jobs);
  if (measured > kMostSlowdown * known.time) {
    refuse_time(fmt::format("{} is more than {:.0f} times what this job is predicted to take, {}",
                            exact_text(measured), kMostSlowdown, short_text(known.time)),
                place);
  }
  check_input(scenario, known, measured, jobs, place);
  AnchorFit fit{1.0, known.time};
  const auto excess = [&](Seconds time) { return time / measured - 1.0; };

  double low = least_factor(scenario, known.run);
  const Seconds fastest = low < 1.0 ? step_with(scenario, low, jobs).time : known.time;
  double low_excess = excess(fastest);
  if (low_excess > kTolerance) {
    refuse_time(
        fmt::format("no software could run this job in {}: with every product at the peak of "
                    "the device it takes {}",
                    exact_text(measured), short_text(fastest)),
        place);
  }
  if (low_excess >= -kTolerance) {
    fit.software_factor = low;
    return fit;
  }
  double high = 1.0;
  double high_excess = excess(known.time);
  while (high_excess < 0.0) {
    high *= std::max(2.0, measured / known.time);
    high_excess = excess(step_with(scenario, high, jobs).time);
  }
  // The Illinois variant of regula falsi (Dowell and Jarratt 1971): an end that stays is halved.
  int side = 0;
  fit.software_factor = high;
  for (int step = 0; step < kMostSteps; ++step) {
    const double factor = (low * high_excess - high * low_excess) / (high_excess - low_excess);
    const double now = excess(step_with(scenario, factor, jobs).time);
    fit.software_factor = factor;
    if (std::abs(now) <= kTolerance) return fit;
    if (now > 0.0) {
      high = factor;
      high_excess = now;
      if (side == 1) low_excess /= 2.0;
      side = 1;
    } else {
      low = factor;
      low_excess = now;
      if (side == -1) high_excess /= 2.0;
      side = -1;
    }
  }
  return fit;
}

Scenario with_anchor(const Scenario& ran, std::optional<Scenario> asked, Seconds measured) {
  nlohmann::json resolved = {{"measured_iteration_time", exact_text(measured)}};
  if (!asked) {
    Scenario anchored = ran;
    anchored.anchors = {{measured, nullptr}};
    (*anchored.resolved)["anchor"] = std::move(resolved);
    return anchored;
  }
  const std::string device = ran.cluster->accelerator_names();
  if (asked->cluster->accelerator_names() != device) {
    refuse(fmt::format("{} was measured on {}, {} is on {}", ran.name, device, asked->name,
                       asked->cluster->accelerator_names()),
           "an anchor tells of the accelerators it was measured on only");
  }
  resolved["scenario"] = *ran.resolved;
  (*asked->resolved)["anchor"] = std::move(resolved);
  asked->anchors = {{measured, std::make_shared<const Scenario>(ran)}};
  return *std::move(asked);
}

Scenario anchored_scenario(const Scenario& scenario, const Anchor& anchor) {
  Scenario measured = anchor.of ? *anchor.of : scenario;
  measured.anchors.clear();
  return measured;
}

}  // namespace headway

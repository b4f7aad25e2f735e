#include "calibrate/cli/calibrate.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <utility>

#include "calibrate/cli/results.h"
#include "calibrate/suite/interruption.h"
#include "sim/base/diagnostic.h"
#include "sim/base/join_words.h"

namespace headway {
namespace {

/// One line that is written over on a terminal, at most five times a second.
class ProgressLine {
 public:
  explicit ProgressLine(bool is_shown) : is_shown_(is_shown) {}
  void show(const std::string& section, std::size_t done, std::size_t total, const Point& next) {
    const auto now = std::chrono::steady_clock::now();
    if (!is_shown_ || (done > 0 && now - last_ < std::chrono::milliseconds(200))) return;
    last_ = now;
    fmt::print(stderr, "\r\033[K{} {}/{}: {}", section, done + 1, total, point_text(next));
    std::fflush(stderr);
    is_open_ = true;
  }
  void close() {
    if (is_open_) fmt::print(stderr, "\r\033[K");
    is_open_ = false;
  }

 private:
  bool is_shown_;
  bool is_open_ = false;
  std::chrono::steady_clock::time_point last_;
};

/// Writes the sections until now, in case there is no later one.
void write_checkpoint(const Options& options, Measurements all, const std::vector<Section>& plan,
                      std::size_t done) {
  for (std::size_t i = done; i < plan.size(); ++i) {
    all.calibration.missing.push_back(plan[i].name + ": not reached");
    all.calibration.is_aborted = true;
  }
  write_points(options, all);
  if (!options.output.empty()) (void)write_profile(options, all);
}

/// Runs a part of the calibration. What ended it early, with the exit code for that.
template <class Part>
std::string problem_of(int& code, Part part) {
  try {
    part();
    return "";
  } catch (const Interrupted& interrupted) {
    code = 130;
    return interrupted.what();
  } catch (const EnvironmentError& error) {
    code = 3;
    return error.what();
  }
}

/// What is not even tried, and why.
std::vector<std::string> left_out(const Offer& offer, const PlanRules& rules) {
  std::vector<std::string> missing;
  if (!offer.no_collectives.empty()) missing.push_back("collectives: " + offer.no_collectives);
  for (std::string& reason : left_out_shapes(offer, rules)) missing.push_back(std::move(reason));
  if (!offer.no_fused_attention.empty() && rules.attention.empty() && rules.only.empty()) {
    missing.push_back("fused attention: " + offer.no_fused_attention);
  }
  if (!rules.only.empty()) {
    missing.push_back(
        fmt::format("everything but products and {}, as asked for", join_words(rules.only, ", ")));
  }
  return missing;
}

/// With nothing measured yet.
Measurements empty_measurements(const Job& job, const PlanRules& rules, const Offer& offer) {
  Measurements all{.name = job.options.name,
                   .command = job.command_line,
                   .created_utc = job.created_utc,
                   .tool = kTool,
                   .backend = backend_name(job.options.backend),
                   .seed = fmt::format("{}", job.options.seed)};
  all.calibration.offer = offer;
  if (!job.options.accelerator.empty()) all.calibration.offer.accelerator = job.options.accelerator;
  all.calibration.missing = left_out(all.calibration.offer, rules);
  return all;
}

}  // namespace

int calibrate(const Job& job, const PlanRules& rules, Backend& backend, Rendezvous& rendezvous,
              const std::optional<BlockTrial>& block) {
  const bool is_first = rendezvous.rank() == 0;
  ProgressLine line(is_first && job.options.shows_progress);
  const Progress progress = [&line](const std::string& section, std::size_t done, std::size_t total,
                                    const Point& next) { line.show(section, done, total, next); };
  Measurements all = empty_measurements(job, rules, backend.offer());
  Calibration& calibration = all.calibration;
  const std::vector<Section> plan = calibration_plan(backend.offer(), rules);
  const SweepRules sweep{job.options.passes, job.options.seed};
  int code = 0;
  for (std::size_t i = 0; i < plan.size() && code == 0; ++i) {
    const std::string problem = problem_of(code, [&] {
      measure_section(plan[i], backend, rendezvous, sweep, progress, calibration.points,
                      calibration.refused);
    });
    if (code == 0) {
      if (is_first && i + 1 < plan.size()) write_checkpoint(job.options, all, plan, i + 1);
      continue;
    }
    line.close();
    fmt::print(stderr, "rank {}: {} ended early: {}\n", rendezvous.rank(), plan[i].name, problem);
    calibration.is_aborted = true;
    calibration.missing.push_back(plan[i].name + " (in part): " + problem);
    for (std::size_t rest = i + 1; rest < plan.size(); ++rest) {
      calibration.missing.push_back(plan[rest].name + ": not reached");
    }
  }
  line.close();
  // A block is measured to check costs, not to make any: without it the profile has all that it
  // holds.
  enum class Use { costs, check };
  const auto add = [&](Use use, const char* what, const auto& measure) {
    const std::string problem = problem_of(code, measure);
    if (code == 0) return;
    fmt::print(stderr, "rank {}: {} ended early: {}\n", rendezvous.rank(), what, problem);
    if (use == Use::costs) calibration.is_aborted = true;
    calibration.missing.push_back(fmt::format("{}: {}", what, problem));
  };
  const MeasuredPoint* const product = sustained_product(calibration.points);
  if (code == 0 && product != nullptr && calibration.offer.sustained > 0.0_s &&
      is_wanted(rules, kSustainedPart)) {
    if (is_first) write_checkpoint(job.options, all, plan, plan.size());
    add(Use::costs, "sustained products", [&] {
      constexpr double kQuick = 1.0 / 3.0;
      calibration.sustained =
          sustained_run(backend, *product, sustained_pass(calibration.points),
                        (rules.quick ? kQuick : 1.0) * calibration.offer.sustained);
    });
  }
  if (code == 0 && job.options.jitter) {
    add(Use::costs, "jitter",
        [&] { calibration.jitter = measured_jitter(backend, *job.options.jitter); });
  }
  if (code == 0 && block) {
    constexpr Seconds kDuration = 2.0_s;
    add(Use::check, "transformer block", [&] {
      calibration.block = measured_block(block->device, block->shape, job.options.seed, kDuration);
    });
  }
  if (is_first) {
    // Points first: they are kept even where no profile can be made of them.
    write_points(job.options, all);
    report_results(job.options, calibration, write_profile(job.options, all));
  }
  return code;
}

}  // namespace headway

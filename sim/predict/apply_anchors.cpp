#include "sim/predict/apply_anchors.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "sim/base/join_words.h"
#include "sim/predict/anchor.h"
#include "sim/predict/input/input_use.h"
#include "sim/predict/interval.h"
#include "sim/predict/shared_error.h"

namespace headway {
namespace {

/// Below this a measured job tells less of the asked one's error than it leaves open.
constexpr double kLittleShared = 0.5;

std::string little_shared_warning(const ErrorTraits& asked, const ErrorTraits& measured,
                                  const std::string& name) {
  return fmt::format(
      "{} says little of this job: {} differ, and of what such a job is off by this one has {:.0f} "
      "% too; measure one that is more alike",
      name, join_words(error_differences(asked, measured), " and "),
      100.0 * shared_error(asked, measured));
}

/// A measured step that is further off than those that constants were fitted to hardly ever are.
std::optional<std::string> implausible_warning(const AnchorStep& step, double spread,
                                               const Scenario& scenario) {
  constexpr double kQuantile995 = 2.5758293035489004;  // of the standard normal distribution
  const double farthest = kQuantile995 * std::hypot(model_error(scenario), spread);
  const double ratio = step.measured / step.predicted;
  if (std::abs(std::log(ratio)) <= farthest) return std::nullopt;
  return fmt::format(
      "{} was measured to take {:.3g} times what is predicted, and 99 of 100 such jobs are "
      "expected within {:.2f} .. {:.2f}: check that the time is of one step of that very job",
      step.of, ratio, std::exp(-farthest), std::exp(farthest));
}

/// What the scenario would be predicted to take without its anchors.
void tell_without(AnchorEffect& effect, const Scenario& scenario, const JobRun& run, int jobs) {
  effect.time_without = run.time();
  effect.interval_without = expected_interval(run.times, run.cost.spread, model_error(scenario));
  if (!scenario.input) return;
  const InputUse use = input_use(scenario, *scenario.strategy, run.time(), jobs);
  effect.time_without += use.stalled;
  for (double* end : {&effect.interval_without.low, &effect.interval_without.high}) {
    *end = step_of_other(*scenario.input, use, run.time(), Seconds(*end)).count();
  }
}

}  // namespace

double weighted_factor(const std::vector<double>& factors, const std::vector<double>& weights) {
  double logarithm = 0.0;
  for (std::size_t i = 0; i < factors.size(); ++i) logarithm += weights[i] * std::log(factors[i]);
  return std::exp(logarithm);
}

AppliedAnchors apply_anchors(Scenario& scenario, int jobs, const DrawsElsewhere& draws_elsewhere) {
  AppliedAnchors applied;
  AnchorEffect& effect = applied.effect;
  const ErrorTraits asked = error_traits(scenario.model, *scenario.strategy);
  std::vector<ErrorTraits> others;
  std::vector<double> factors;
  for (std::size_t i = 0; i < scenario.anchors.size(); ++i) {
    const Anchor& anchor = scenario.anchors[i];
    const Scenario measured = anchored_scenario(scenario, anchor);
    const AnchorFit fit = fit_anchor(measured, anchor.measured, jobs, anchor_place(scenario, i));
    effect.steps.push_back({.of = measured.name,
                            .measured = anchor.measured,
                            .predicted = fit.predicted,
                            .software_factor = fit.software_factor});
    factors.push_back(fit.software_factor);
    if (anchor.of == nullptr) continue;
    others.push_back(error_traits(measured.model, *measured.strategy));
    if (shared_error(asked, others.back()) >= kLittleShared) continue;
    applied.warnings.push_back(little_shared_warning(asked, others.back(), measured.name));
  }
  const JobRun without =
      run_job(scenario, *scenario.strategy, scenario.run.replicas, jobs, draws_elsewhere);
  tell_without(effect, scenario, without, jobs);
  if (others.empty()) {
    scenario.software_factor = factors.front();
  } else {
    const ErrorByOthers known = error_by_others(asked, others);
    applied.variance_left = known.variance_left;
    scenario.software_factor = weighted_factor(factors, known.weights);
  }
  effect.software_factor = scenario.software_factor;
  for (const AnchorStep& step : effect.steps) {
    const auto warning = implausible_warning(step, without.cost.spread, scenario);
    if (warning) applied.warnings.push_back(*warning);
  }
  return applied;
}

}  // namespace headway

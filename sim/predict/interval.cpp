#include "sim/predict/interval.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sim/base/diagnostic.h"
#include "sim/jobs/strategy.h"

namespace headway {
namespace {

/// Standard deviation between two measurements of one configuration: 1 to 2 %
/// (tests/validation/README.md).
constexpr double kRepeatError = 0.02;
/// What software does with experts by default is known of no source better than of others.
constexpr double kOpenExpertsError = 0.204;
/// What nobody measured on an accelerator, of mixtures of experts and of all else.
constexpr double kUnmeasuredExpertsError = 0.14;
constexpr double kUnmeasuredError = 0.08;
/// The 95th percentile of the standard normal distribution.
constexpr double kQuantile95 = 1.6448536269514722;

}  // namespace

std::size_t median_index(const std::vector<double>& times) {
  HEADWAY_CHECK(!times.empty(), "a median needs a run");
  std::vector<std::size_t> order(times.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return times[i]; });
  return order[(order.size() - 1) / 2];
}

namespace {

/// `variance` is that of the logarithm of all errors but the draws.
Interval interval_around(const std::vector<double>& times, double variance) {
  const double median = times[median_index(times)];
  if (times.size() > 1) {
    double sum = 0.0;
    for (const double time : times) {
      const double deviation = std::log(time / median);
      sum += deviation * deviation;
    }
    variance += sum / static_cast<double>(times.size() - 1);
  }
  const double factor = std::exp(kQuantile95 * std::sqrt(variance));
  return {median / factor, median * factor};
}

}  // namespace

JobKind job_kind(const Scenario& scenario) {
  if (scenario.strategy->task != Task::pretrain) return JobKind::fine_tuning;
  if (scenario.model.routing() == nullptr) return JobKind::dense;
  return scenario.leaves_experts_open ? JobKind::open_experts : JobKind::experts;
}

double model_error(JobKind kind) {
  switch (kind) {
    case JobKind::dense:
      return 0.078;
    case JobKind::experts:
      return 0.146;
    case JobKind::open_experts:
      return kOpenExpertsError;
    case JobKind::fine_tuning:
      return 0.096;
  }
  HEADWAY_CHECK(false, "unknown kind of job");
}

double known_source_error(JobKind kind) {
  switch (kind) {
    case JobKind::dense:
      return 0.056;
    case JobKind::experts:
      return 0.107;
    case JobKind::open_experts:
      return kOpenExpertsError;
    case JobKind::fine_tuning:
      return 0.043;
  }
  HEADWAY_CHECK(false, "unknown kind of job");
}

double accelerator_error(JobKind kind, const Profile& profile) {
  const bool is_known = profile.kind == "measured" || profile.published_steps.count > 0 ||
                        !profile.device.products.empty();
  if (is_known) return 0.0;
  const bool has_experts = kind == JobKind::experts || kind == JobKind::open_experts;
  return has_experts ? kUnmeasuredExpertsError : kUnmeasuredError;
}

const Profile& least_known(const Scenario& scenario) {
  const Profile* least = &scenario.profiles().of(0);
  for (int kind = 1; kind < scenario.cluster->kinds(); ++kind) {
    const Profile& other = scenario.profiles().of(kind);
    const bool knows_less = other.published_steps.count < least->published_steps.count;
    if (other.kind != "measured" && (least->kind == "measured" || knows_less)) least = &other;
  }
  return *least;
}

double model_error(const Scenario& scenario) {
  const JobKind kind = job_kind(scenario);
  double of_accelerators = 0.0;
  for (int i = 0; i < scenario.cluster->kinds(); ++i) {
    of_accelerators = std::max(of_accelerators, accelerator_error(kind, scenario.profiles().of(i)));
  }
  return std::hypot(model_error(kind), of_accelerators);
}

std::string_view job_kind_title(JobKind kind) {
  switch (kind) {
    case JobKind::dense:
      return "dense pre-training";
    case JobKind::experts:
      return "mixtures of experts";
    case JobKind::open_experts:
      return "mixtures of experts of which no more was read than preset, degrees and batches";
    case JobKind::fine_tuning:
      return "fine-tuning";
  }
  HEADWAY_CHECK(false, "unknown kind of job");
}

Interval expected_interval(const std::vector<double>& times, double spread, double model_error) {
  return interval_around(times, spread * spread + model_error * model_error);
}

Interval anchored_interval(const std::vector<double>& times, double spread, double model_error,
                           double variance_left) {
  return interval_around(times, variance_left * (spread * spread + model_error * model_error));
}

Interval repeated_interval(const std::vector<double>& times) {
  return interval_around(times, kRepeatError * kRepeatError);
}

}  // namespace headway

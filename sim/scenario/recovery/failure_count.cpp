#include "sim/scenario/recovery/failure_count.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/quantity_text.h"

namespace headway {
namespace {

/// How many of a cause's units break in a time: at least, in the mean, as lifetimes that begin
/// before the end reach it (Wald).
double least_failures(const FailureCause& cause, Seconds length) {
  return cause.units * std::max(0.0, length / cause.lifetime.mean - 1.0);
}

}  // namespace

Diagnostic too_many_failures() {
  Diagnostic problem;
  problem.message =
      "the job breaks too often to be followed: its histories hold more than 50 million failures";
  problem.pointer = "/reliability";
  problem.help =
      "take fewer \"runs\", a shorter \"duration\" or longer mean times; where no checkpoint is "
      "done before the next failure, training never ends";
  return problem;
}

std::optional<Diagnostic> too_many_failures(const std::vector<FailureCause>& causes, Seconds length,
                                            int runs) {
  double all = 0.0;
  double most = 0.0;
  std::size_t worst = 0;
  for (std::size_t i = 0; i < causes.size(); ++i) {
    const double failures = least_failures(causes[i], length);
    all += failures;
    if (failures <= most) continue;
    most = failures;
    worst = i;
  }
  if (runs * all <= static_cast<double>(kMostLifetimes)) return std::nullopt;
  const FailureCause& cause = causes[worst];
  const bool is_observed = cause.lifetime.kind == LifetimeKind::empirical;
  Diagnostic problem = too_many_failures();
  problem.pointer =
      fmt::format("/reliability/failures/{}/{}", worst, is_observed ? "times" : "mean_time");
  problem.label = fmt::format("one of {} breaks every {}", grouped_digits(cause.units),
                              short_text(cause.lifetime.mean / static_cast<double>(cause.units)));
  return problem;
}

}  // namespace headway

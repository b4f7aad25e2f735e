#include "sim/validate/row_job.h"

#include <utility>

#include "sim/base/diagnostic.h"
#include "sim/jobs/strategy.h"
#include "sim/validate/left_out_source.h"
#include "sim/validate/source_effects.h"

namespace headway {
namespace {

/// Draws per row; the median of three is within half a percent of that of many.
constexpr int kDraws = 3;
/// From here on the draws of one run average out within it: a single one is within a tenth of a
/// percent of the median of three.
constexpr double kPassesOfOneDraw = 20'000.0;

int draws_of(const Strategy& strategy) {
  const double passes = 2.0 * static_cast<double>(strategy.micro_batches()) * strategy.chunks() *
                        strategy.data_parallel;
  return passes < kPassesOfOneDraw ? kDraws : 1;
}

}  // namespace

std::variant<Scenario, Refusal> job_of_row(const PublishedRow& row, const RowJobOptions& options,
                                           std::vector<std::string>& assumed) {
  auto outcome = scenario_of_row(row, options.profiles, assumed, options.detail);
  if (row.ran_out_of_memory) {
    return Refusal{"it ran out of memory: there is no time to compare with"};
  }
  auto* const scenario = std::get_if<Scenario>(&outcome);
  if (scenario == nullptr) return outcome;
  const bool is_mixture = row.head.kind == "moe";
  switch (options.knowledge) {
    case SourceKnowledge::own:
      return with_source_effects(
          std::move(*scenario),
          effects_of_source(known_source_effects(), row.head.source, row.release, is_mixture));
    case SourceKnowledge::shared:
      return outcome;
    case SourceKnowledge::none:
      return without_source(std::move(*scenario), row.head.source, is_mixture);
  }
  HEADWAY_CHECK(false, "unknown knowledge of a source");
}

JobRun run_row_job(const Scenario& scenario) {
  return run_job(scenario, *scenario.strategy, draws_of(*scenario.strategy), 1);
}

}  // namespace headway

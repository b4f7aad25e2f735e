#include <fmt/format.h>

#include "sim/jobs/rules/strategy_rules.h"
#include "sim/jobs/strategy.h"

namespace headway {
namespace {

/// Whether ranks hold parts of the model's tables.
bool places_tables(Layout job) {
  return job.model.has_tables() && job->tables.placement != TablePlacement::replicated;
}

/// What does not go with placed tables, and why.
StrategyRule not_placed(std::string_view field, std::string_view words, std::string_view why,
                        std::string_view help, bool (*holds)(Layout)) {
  return {.fields = {field, "embedding_tables"},
          .words = words,
          .why = why,
          .help = help,
          .holds = holds};
}

}  // namespace

std::vector<StrategyRule> table_rules() {
  return {
      {.fields = {"embedding_tables"},
       .besides = {"data_parallel"},
       .words = "embedding_tables.group must divide data_parallel",
       .holds =
           [](Layout job) {
             return !job.model.has_tables() || divides(job->tables.group, job->data_parallel);
           },
       .broken = [](Layout job) -> BrokenRule {
         return {fmt::format("groups of {} among {} ranks", job->tables.group, job->data_parallel),
                 nearest_help(job->tables.group, job->data_parallel, [&](std::int64_t size) {
                   return divides(size, job->data_parallel);
                 })};
       }},
      not_placed("pipeline_parallel", "pipeline_parallel does not go with tables that ranks share",
                 "rows would have to be updated while later samples look them up",
                 "set pipeline_parallel to 1",
                 [](Layout job) { return !places_tables(job) || job->pipeline_parallel == 1; }),
      not_placed("synchronisation",
                 "tables that ranks share need synchronisation.scheme \"all_reduce\"",
                 "the ranks of all samples meet in every pass",
                 "set embedding_tables.placement to \"replicated\", or leave synchronisation out",
                 [](Layout job) {
                   return !places_tables(job) || job->synchronisation->reduces_gradients();
                 }),
  };
}

}  // namespace headway

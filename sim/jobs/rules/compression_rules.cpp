#include "sim/jobs/rank_shape_of.h"
#include "sim/jobs/rules/strategy_rules.h"

namespace headway {
namespace {

bool compresses(const Strategy& job) { return !job.compression.is_none(); }

/// What does not go with compressed gradients, and why.
StrategyRule not_compressed(std::string_view field, std::string_view words, std::string_view why,
                            std::string_view help, bool (*holds)(Layout)) {
  return {
      .fields = {field, "compression"}, .words = words, .why = why, .help = help, .holds = holds};
}

}  // namespace

std::vector<StrategyRule> compression_rules() {
  return {
      not_compressed(
          "synchronisation", "compression needs synchronisation.scheme \"all_reduce\"",
          "nothing else exchanges gradients by collectives",
          "leave compression out (local steps have bits)",
          [](Layout job) { return !compresses(job) || job->synchronisation->reduces_gradients(); }),
      not_compressed(
          "zero_stage", "zero_stage does not go with compression",
          "ranks would have to decompress what others own",
          "set zero_stage to 0, or leave compression out",
          [](Layout job) { return !compresses(job) || job->sharding == Sharding::none; }),
      not_compressed("tensor_parallel", "tensor_parallel does not go with compression",
                     "what is left of a matrix on a rank is not modelled",
                     "set tensor_parallel to 1, or leave compression out",
                     [](Layout job) { return !compresses(job) || job->tensor_parallel == 1; }),
      not_compressed("schedule",
                     "schedules with two copies of the model do not go with compression",
                     "which copy keeps what was left out is not modelled", "use another schedule",
                     [](Layout job) { return !compresses(job) || !job->schedule->is_doubled(); }),
      not_compressed("expert_parallel", "mixtures of experts do not go with compression",
                     "experts exchange gradients by themselves", "leave compression out",
                     [](Layout job) { return !compresses(job) || !job.model.routing(); }),
      not_compressed("task", "adapters do not go with compression", "they are small already",
                     "leave compression out",
                     [](Layout job) { return !compresses(job) || !trains_adapters(job); }),
  };
}

}  // namespace headway

#include "sim/programs/workload_notes.h"

namespace headway {

std::vector<std::string> workload_notes(const Model& model, const Strategy& strategy,
                                        bool is_overruled) {
  std::vector<std::string> notes;
  const auto note = [&notes](const char* text) { notes.emplace_back(text); };
  if (!model.is_validated) {
    note(
        "no published training step of such a model was held against predictions: the interval "
        "is that of transformers, whose kernels the constants were fitted to");
  }
  if (strategy.synchronisation.by_servers()) {
    note(
        "a server works at one push at a time, as fast as its host's memory; what else its host "
        "does costs it nothing");
  }
  if (strategy.synchronisation.has_local_updates()) {
    note(
        "an iteration is a local step and its share of a push: what so few pushes cost in loss is "
        "not counted, how fast workers are is drawn once for all rounds, and clients that drop out "
        "are among the backup_workers");
  }
  if (strategy.islands() > 1) {
    note(
        "an iteration is the average one of a period of local steps: what islands lose "
        "in loss by them is not counted, and what slows single steps is as if they met at every "
        "one");
  }
  if (is_overruled) {
    note(
        "NCCL has no such gradient_algorithm for some of the collectives: they run as it "
        "chooses");
  }
  if (strategy.expert_imbalance == 1.0 && strategy.expert_parallel > 1) {
    note("routing is even: every expert gets as many tokens as the others (expert_imbalance)");
  }
  return notes;
}

}  // namespace headway

#include "sim/programs/workload_notes.h"

#include "sim/jobs/strategy.h"

namespace headway {
namespace {

constexpr std::string_view kOverruled =
    "some collectives cannot run by the gradient_algorithm that was asked for and run as without "
    "it: "
    "what sharded replicas reduce and gather has no tree, and `headway collective --algorithm` "
    "tells "
    "what a fabric lacks";

}  // namespace

bool is_about_what_was_asked(std::string_view note) { return note == kOverruled; }

std::vector<std::string> workload_notes(const Model& model, const Strategy& strategy,
                                        bool is_overruled) {
  std::vector<std::string> notes;
  const auto note = [&notes](const char* text) { notes.emplace_back(text); };
  if (!model.is_validated) {
    note(
        "no published training step of such a model was held against predictions: the interval "
        "is that of transformers, whose kernels the constants were fitted to");
  }
  for (const std::string& left_out : model.left_out) notes.push_back(left_out);
  for (const std::string& left_out : strategy.synchronisation->notes(strategy)) {
    note(left_out.c_str());
  }
  if (is_overruled) notes.emplace_back(kOverruled);
  if (strategy.expert_imbalance == 1.0 && strategy.expert_parallel > 1) {
    note("routing is even: every expert gets as many tokens as the others (expert_imbalance)");
  }
  return notes;
}

}  // namespace headway

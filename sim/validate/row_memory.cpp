#include "sim/validate/row_memory.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace headway {
namespace {

/// What a software family keeps for the backward pass, and in which precision it holds gradients.
struct KeptBySoftware {
  std::string_view framework;
  std::string_view release;  ///< the only one meant; any if empty
  Precision gradients;
  bool fuses_normalization;
  bool fuses_activation;
  bool splits_logits;
  bool fuses_loss;
};

/// Sources. Aleph-Alpha/scaling, src/scaling: bf16 gradients, logits gathered before the loss,
/// SwiGLU of elementary operations; arXiv:2311.05610, section 3: the RMS norm is a fused kernel in
/// the trials that say so. mosaicml/llm-foundry, llmfoundry/models/mpt/modeling_mpt.py: the loss is
/// flash-attention's fused kernel unless a configuration says otherwise.
constexpr std::array kSoftware{
    KeptBySoftware{"aleph-alpha", "rms", Precision::bf16, true, false, false, false},
    KeptBySoftware{"aleph-alpha", "", Precision::bf16, false, false, false, false},
    KeptBySoftware{"composer-fsdp", "", Precision::bf16, true, true, true, true},
};

}  // namespace

Strategy strategy_in_memory(const PublishedRow& row, Strategy strategy) {
  const auto* const found = std::ranges::find_if(kSoftware, [&](const KeptBySoftware& entry) {
    return entry.framework == row.head.framework &&
           (entry.release.empty() || entry.release == row.release);
  });
  if (found == kSoftware.end()) return strategy;
  strategy.gradient_precision = found->gradients;
  strategy.fused_normalization = found->fuses_normalization;
  strategy.fused_activation = found->fuses_activation;
  strategy.vocabulary_parallel_loss = found->splits_logits;
  strategy.fused_loss = found->fuses_loss;
  return strategy;
}

}  // namespace headway

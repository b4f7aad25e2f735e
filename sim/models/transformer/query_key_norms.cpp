#include "sim/models/transformer/transformer_parts.h"

namespace headway {
namespace {

constexpr double kBoth = 2.0;  ///< of queries and of keys

/// Kernels of a norm: backward one for what it took, one that sums up gradients of gains.
constexpr Launches kNormLaunches{.forward = 1.0, .backward = 2.0};
constexpr double kLaunchesOfLayer = 14.0;  ///< forward, of a layer of attention and an MLP

// What the host takes for a norm where each operator is a kernel, in layers with RMS norms: of
// those two more or less are 0.2 of 1.3 ms next to layer norms, which are three of 68 kernels of
// 1.1 ms (scripts/torch_huggingface.py).
constexpr double kIssueOfLayerNorm = 3.0 / 68.0 * 1.1 / 1.3;
constexpr double kIssueOfRmsNorm = kIssueOfLayerNorm + 0.1 / 1.3;

void add_launches(Layer& layer, Normalization normalization) {
  const double issue =
      normalization == Normalization::rms_norm ? kIssueOfRmsNorm : kIssueOfLayerNorm;
  const double issued = layer.separate_issue * layer.launches.forward / kLaunchesOfLayer;
  layer.launches.forward += kBoth * kNormLaunches.forward;
  layer.launches.backward += kBoth * kNormLaunches.backward;
  layer.separate_issue = (issued + kBoth * issue) * kLaunchesOfLayer / layer.launches.forward;
}

}  // namespace

void add_query_key_norms(Layer& layer, Normalization normalization, Weights gains,
                         double elements) {
  const Again again = {{RecomputePart::alternate}};
  layer.weights.push_back(gains);
  add_pass(layer, "query_key_norms", Rows::tokens, kReadAndWritten * elements, Cut::tensor, again);
  layer.passes.back().operators = Operators::merged;
  add_head_norm_operators(layer, normalization, elements, again);
  keep_norm_input(layer, normalization,
                  {.name = "queries and keys before their norms",
                   .elements = elements,
                   .cut = Cut::tensor,
                   .again = again});
  add_launches(layer, normalization);
}

void add_query_key_norms(Layer& layer, const TransformerModel& model) {
  if (model.query_key_norms == QueryKeyNorms::none) return;
  const double elements = real((model.attention_heads + model.kv_heads) * model.head_size);
  const bool biased = model.normalization == Normalization::layer_norm && model.normalization_bias;
  const double tensors = biased ? 2.0 : 1.0;
  const bool shared = model.query_key_norms == QueryKeyNorms::each_head;
  add_query_key_norms(layer, model.normalization,
                      {.part = Part::normalization,
                       .count = tensors * (shared ? kBoth * real(model.head_size) : elements),
                       .cut = shared ? Cut::none : Cut::tensor,
                       .tensors = kBoth * tensors},
                      elements);
}

}  // namespace headway

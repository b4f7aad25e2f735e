#include "sim/layers/rank_shape.h"

#include <limits>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

constexpr double kSingleBytes = 4.0;
constexpr double kMaskBytes = 1.0;

/// Experts split by the ranks of theirs, everything else by tensor parallelism.
double parts_of(const Product& product, const RankShape& shape) {
  return product.part == Part::experts ? shape.expert_tensor_parallel : shape.tensor_parallel;
}

}  // namespace

bool RankShape::holds(KernelChoice when) const {
  switch (when) {
    case KernelChoice::always:
      return true;
    case KernelChoice::fused_attention:
      return fused_attention;
    case KernelChoice::unfused_attention:
      return !fused_attention;
    case KernelChoice::fused_normalization:
      return fused_normalization;
    case KernelChoice::unfused_normalization:
      return !fused_normalization;
    case KernelChoice::fused_activation:
      return fused_activation;
    case KernelChoice::unfused_activation:
      return !fused_activation;
    case KernelChoice::unfused_softmax:
      return !fused_attention && !fused_softmax && element_bytes < kSingleBytes;
    case KernelChoice::copied_attention:
      return fused_attention && copied_attention;
    case KernelChoice::expert_masks:
      return expert_masks != ExpertMasks::none;
  }
  HEADWAY_CHECK(false, "unknown condition");
}

double RankShape::bytes(Stored stored) const {
  switch (stored) {
    case Stored::working:
      return element_bytes;
    case Stored::residual:
      return wide_residuals ? kSingleBytes : element_bytes;
    case Stored::quantised:
      return product_bytes;
    case Stored::quantised_copy:
      return product_bytes < element_bytes ? product_bytes : 0.0;
    case Stored::activation_input:
      return activation_input_bytes;
    case Stored::single:
      return kSingleBytes;
    case Stored::mask:
      return kMaskBytes;
  }
  HEADWAY_CHECK(false, "unknown way to store");
}

bool RankShape::needs_input(const std::optional<AdapterTarget>& target) const {
  return !frozen || (target && std::ranges::find(adapters, *target) != adapters.end());
}

double expert_load(double experts, const RankShape& shape) {
  if (shape.expert_masks != ExpertMasks::none) return shape.expert_capacity;
  const double local = experts / shape.expert_parallel;
  const double most =
      shape.expert_capacity > 0.0 ? shape.expert_capacity : std::numeric_limits<double>::infinity();
  const double busiest = std::min(shape.expert_imbalance, most);
  if (experts <= 1.0) return busiest;
  const double others = std::min((experts - shape.expert_imbalance) / (experts - 1.0), most);
  return (busiest + (local - 1.0) * others) / local;
}

double row_count(Rows rows, const Layer& layer, const RankShape& shape) {
  switch (rows) {
    case Rows::tokens:
      return shape.tokens();
    case Rows::own:
      return shape.residual_tokens();
    case Rows::routed:
      break;
  }
  HEADWAY_CHECK(layer.routing.has_value(), "routed rows in a layer without experts");
  return shape.residual_tokens() * shape.expert_tensor_parallel * layer.routing->experts_per_token *
         expert_load(layer.routing->experts, shape);
}

double outputs_on_rank(const Product& product, const RankShape& shape) {
  if (product.split != Split::outputs) return product.outputs;
  const double parts = parts_of(product, shape);
  if (product.grouped_outputs == 0.0) return product.outputs / parts;
  const double shared = product.outputs - product.grouped_outputs;
  return shared / parts +
         product.grouped_outputs / product.groups * std::max(1.0, product.groups / parts);
}

double inputs_on_rank(const Product& product, const RankShape& shape) {
  return product.split == Split::inputs ? product.inputs / parts_of(product, shape)
                                        : product.inputs;
}

}  // namespace headway

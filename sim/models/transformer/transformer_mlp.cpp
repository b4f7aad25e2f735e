#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "sim/models/transformer/transformer_parts.h"

namespace headway {
namespace {

using P = RecomputePart;

constexpr double kGatedActivationBytes = 6.0;  ///< two halves read, their product written
constexpr double kPlainActivationBytes = 4.0;  ///< read and written

/// An MLP by its names: of its parameters, products, activation pass and kept tensors.
struct MlpWords {
  Part part;
  Rows rows;
  Cut cut;
  std::string prefix;       ///< of products: "" gives "fc1"
  std::string kept_prefix;  ///< of tensors: "" gives "FC2 input"
  std::string gate;
  double copies;
  std::optional<AdapterTarget> inward;
  std::optional<AdapterTarget> outward;
  Again products;
  Again activation;
  Again activation_input;
  Again second_input;
};

/// transformers' NewGELUActivation, 0.5 x (1 + tanh(c (x + 0.044715 x^3))), by PyTorch's operators:
/// six of one tensor and two of two. Backward, as autograd has them, five of one (the two of
/// constant factors, the power's own power and its exponent, the half) and six of two (both
/// factors, the tangent, the power, and two sums of the three gradients of x). Tensors that are
/// kept: x for the power, what the tangent gives, and both factors of the last product, one of them
/// half of x and as wide as that. All others are in fp32 where autocast is on, which raises powers
/// in it.
void add_written_out_gelu(Layer& layer, double inner, const MlpWords& words) {
  constexpr double kOfOne = 4.0;
  constexpr double kOfTwo = 6.0;
  constexpr double kWider = 2.0;
  constexpr double kForward = 6.0 * kOfOne + 2.0 * kOfTwo;
  constexpr double kBackward = 5.0 * kOfOne + 6.0 * kOfTwo;
  layer.passes.push_back(
      {.name = words.prefix + "activation, written out",
       .rows = words.rows,
       .forward = kForward * inner,
       .backward = kBackward * inner,
       .cut = words.cut,
       .when = KernelChoice::unfused_activation,
       .again = words.activation,
       .merged = false,
       .wide = MovedBytes{kWider * kForward * inner, kWider * kBackward * inner}});
  const auto keep = [&](const char* name, Stored stored, const Again& again) {
    layer.kept.push_back({.name = words.kept_prefix + name,
                          .rows = words.rows,
                          .elements = inner,
                          .cut = words.cut,
                          .stored = stored,
                          .when = KernelChoice::unfused_activation,
                          .again = again});
  };
  keep("what is cubed", Stored::residual, words.activation_input);
  keep("tangent", Stored::residual, words.second_input);
  keep("1 + tangent", Stored::residual, words.second_input);
  keep("half of what is activated", Stored::working, words.second_input);
}

void add_activation(Layer& layer, const TransformerModel& model, double inner,
                    const MlpWords& words) {
  const double inputs = (model.gated_mlp ? 2.0 : 1.0) * inner;
  const auto pass = [&](KernelChoice when) {
    add_pass(layer, words.prefix + "activation", words.rows,
             (model.gated_mlp ? kGatedActivationBytes : kPlainActivationBytes) * inner, words.cut,
             words.activation, when);
  };
  const auto keep_input = [&](double elements, KernelChoice when) {
    layer.kept.push_back({.name = words.kept_prefix + "activation input",
                          .rows = words.rows,
                          .elements = elements,
                          .cut = words.cut,
                          .stored = Stored::activation_input,
                          .when = when,
                          .again = words.activation_input});
  };
  if (model.activation != ActivationFunction::gelu_new) {
    pass(KernelChoice::always);
    layer.passes.back().operators = Operators::merged;
    add_activation_operators(layer, model, inner);
    const bool result_tells = model.activation == ActivationFunction::relu && !model.gated_mlp;
    if (!result_tells) keep_input(inputs, KernelChoice::always);
    return;
  }
  add_written_out_gelu(layer, inner, words);
  keep_input(inputs, KernelChoice::fused_activation);
  // The product with a gated MLP's other half is a pass either way, and needs that half.
  pass(model.gated_mlp ? KernelChoice::always : KernelChoice::fused_activation);
  if (model.gated_mlp) keep_input(inner, KernelChoice::unfused_activation);
}

void add_mlp(Layer& layer, const TransformerModel& model, double inner, const MlpWords& words) {
  const double h = real(model.hidden);
  const double inward = model.gated_mlp ? 2.0 : 1.0;
  layer.products.push_back({.name = words.prefix + "fc1",
                            .part = words.part,
                            .rows = words.rows,
                            .outputs = inward * inner,
                            .inputs = h,
                            .split = Split::outputs,
                            .bias = model.mlp_bias,
                            .copies = words.copies,
                            .gathered = true,
                            .target = words.inward,
                            .again = words.products});
  layer.products.push_back({.name = words.prefix + "fc2",
                            .part = words.part,
                            .rows = words.rows,
                            .outputs = h,
                            .inputs = inner,
                            .split = Split::inputs,
                            .bias = model.mlp_bias,
                            .copies = words.copies,
                            .target = words.outward,
                            .again = words.products});
  add_activation(layer, model, inner, words);
  layer.kept.push_back({.name = words.kept_prefix + "FC2 input",
                        .rows = words.rows,
                        .elements = inner,
                        .cut = words.cut,
                        .stored = Stored::quantised,
                        .for_weights = true,
                        .target = words.outward,
                        .again = words.second_input});
  if (!model.gated_mlp) return;
  layer.kept.push_back({.name = words.gate,
                        .rows = words.rows,
                        .elements = inner,
                        .cut = words.cut,
                        .when = KernelChoice::unfused_activation,
                        .again = words.second_input});
}

}  // namespace

void add_dense_mlp(Layer& layer, const TransformerModel& model) {
  layer.kept.push_back({.name = "FC1 input",
                        .rows = Rows::own,
                        .elements = real(model.hidden),
                        .gathered = true,
                        .stored = Stored::quantised,
                        .for_weights = true,
                        .target = AdapterTarget::fc1,
                        .again = {{P::layernorm}}});
  // One of the two halves of each of fc1 and fc2 is made again: of Llama's products PyTorch keeps
  // queries, values, one of the two halves of FC1, and FC2, whose output stands in here for the
  // input of FC1, which is as large and not kept.
  add_mlp(layer, model, real(model.ffn_hidden),
          {.part = Part::mlp,
           .rows = Rows::tokens,
           .cut = Cut::tensor,
           .gate = "activated gate",
           .copies = 1.0,
           .inward = AdapterTarget::fc1,
           .outward = AdapterTarget::fc2,
           .products = {{P::mlp}, {P::alternate, kHalfAgain}},
           .activation = {{P::activation}, {P::mlp}, {P::alternate}},
           .activation_input = {{P::mlp}, {P::alternate, kHalfAgain}},
           .second_input = {{P::activation}, {P::mlp}, {P::alternate}}});
  layer.exchanges.push_back({.width = real(model.hidden), .again = {{P::mlp}}});
}

void add_experts(Layer& layer, const TransformerModel& model, const MixtureOfExperts& mixture) {
  const double h = real(model.hidden);
  layer.routing = ExpertRouting{.experts = real(mixture.experts),
                                .experts_per_token = real(mixture.experts_per_token),
                                .groups = real(mixture.groups),
                                .groups_per_token = real(mixture.groups_per_token),
                                .inner = real(mixture.expert_hidden),
                                .width = h,
                                .again = {{P::moe}}};
  layer.products.push_back({.name = "router",
                            .part = Part::router,
                            .rows = Rows::own,
                            .outputs = real(mixture.experts),
                            .inputs = h,
                            .bias = model.mlp_bias,
                            .wide = true,
                            .quantised = false,
                            .again = {{P::moe}}});
  layer.kept.push_back({.name = "router input", .rows = Rows::own, .elements = h});
  layer.kept.push_back({.name = "expert weights by place",
                        .rows = Rows::own,
                        .elements = 1.0,
                        .placed = true,
                        .when = KernelChoice::expert_masks,
                        .again = {{P::moe}}});
  layer.kept.push_back({.name = "taken places of experts",
                        .rows = Rows::own,
                        .elements = 1.0,
                        .placed = true,
                        .stored = Stored::mask,
                        .when = KernelChoice::expert_masks,
                        .again = {{P::moe}}});
  layer.kept.push_back({.name = "expert FC1 input",
                        .rows = Rows::routed,
                        .elements = h,
                        .stored = Stored::quantised,
                        .again = {{P::moe}}});
  add_mlp(layer, model, real(mixture.expert_hidden),
          {.part = Part::experts,
           .rows = Rows::routed,
           .cut = Cut::expert_tensor,
           .prefix = "expert_",
           .kept_prefix = "expert ",
           .gate = "activated expert gate",
           .copies = real(mixture.experts),
           .products = {{P::moe}},
           .activation = {{P::activation}, {P::moe}, {P::moe_act}},
           .activation_input = {{P::moe}},
           .second_input = {{P::activation}, {P::moe}, {P::moe_act}}});
  if (mixture.shared_expert_hidden == 0) return;
  add_mlp(layer, model, real(mixture.shared_expert_hidden),
          {.part = Part::mlp,
           .rows = Rows::tokens,
           .cut = Cut::tensor,
           .prefix = "shared_",
           .kept_prefix = "shared ",
           .gate = "activated shared gate",
           .copies = 1.0,
           .products = {{P::moe}, {P::shared_experts}},
           .activation = {{P::activation}, {P::moe}, {P::shared_experts}},
           .activation_input = {{P::moe}, {P::shared_experts}},
           .second_input = {{P::activation}, {P::moe}, {P::shared_experts}}});
  layer.exchanges.push_back({.width = h, .again = {{P::moe}, {P::shared_experts}}});
}

}  // namespace headway

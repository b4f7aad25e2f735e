#include "sim/models/transformer/transformer_parts.h"

namespace headway {
namespace {

using P = RecomputePart;

constexpr double kGatingBytes = 6.0;  ///< a channel: both factors are read, their product written

}  // namespace

// As transformers has it (Lfm2ShortConv): one product gives both gates and what goes in, which is
// gated, filtered, gated again and put back by another.
void add_short_convolution(Layer& layer, const TransformerModel& model) {
  const ShortConvolution& filter = *model.short_convolution;
  const double h = real(model.hidden);
  constexpr double kThree = 3.0;  ///< two gates and what goes in
  layer.products.push_back({.name = "convolution_inward",
                            .part = Part::other,
                            .outputs = kThree * h,
                            .inputs = h,
                            .split = Split::outputs,
                            .bias = filter.bias,
                            .gathered = true,
                            .again = {{P::alternate, kHalfAgain}}});
  layer.products.push_back({.name = "convolution_outward",
                            .part = Part::other,
                            .outputs = h,
                            .inputs = h,
                            .split = Split::inputs,
                            .bias = filter.bias,
                            .again = {{P::alternate, kHalfAgain}}});
  const double of_channel = real(filter.positions) + (filter.bias ? 1.0 : 0.0);
  layer.weights.push_back({Part::other, h * of_channel, Cut::tensor});
  const auto gate = [&](const char* name) {
    add_pass(layer, name, Rows::tokens, kGatingBytes * h, Cut::tensor, {{P::alternate}});
  };
  gate("gate_in");
  add_convolution(layer, h);
  gate("gate_out");
  keep_inward_input(layer, "convolution input", h);
  const auto keep = [&layer](const char* name, double elements, Again again) {
    layer.kept.push_back({.name = name, .elements = elements, .cut = Cut::tensor, .again = again});
  };
  keep("gates and what they let in", kThree * h, {{P::alternate, kHalfAgain}});
  keep("what is filtered", h, {{P::alternate}});
  keep("filtered", h, {{P::alternate}});
  keep_outward_input(layer, h);
  layer.exchanges.push_back({.width = h});
}

}  // namespace headway

// What mixers with a state have in common.
#include <utility>

#include "sim/models/transformer/transformer_parts.h"

namespace headway {
namespace {

using P = RecomputePart;

constexpr double kGatedNorm = 6.0;  ///< two read, one written

}  // namespace

void add_convolution(Layer& layer, double channels) {
  add_pass(layer, "convolution", Rows::tokens, kReadAndWritten * channels, Cut::tensor,
           {{P::alternate}});
}

void add_gated_norm(Layer& layer, double channels) {
  add_pass(layer, "gated_norm", Rows::tokens, kGatedNorm * channels, Cut::tensor,
           {{P::layernorm}, {P::alternate}});
}

void keep_inward_input(Layer& layer, std::string name, double channels) {
  layer.kept.push_back({.name = std::move(name),
                        .rows = Rows::own,
                        .elements = channels,
                        .stored = Stored::quantised,
                        .for_weights = true,
                        .again = {{P::layernorm}, {P::alternate}}});
}

void keep_outward_input(Layer& layer, double channels) {
  layer.kept.push_back({.name = "outward input",
                        .elements = channels,
                        .cut = Cut::tensor,
                        .stored = Stored::quantised,
                        .for_weights = true,
                        .again = {{P::layernorm}, {P::alternate}}});
}

}  // namespace headway

#include "sim/models/transformer/encoder_decoder.h"

#include <utility>

namespace headway {

void append_decoder(Model& model, CrossingLayer layer, std::int64_t layers, double width) {
  const auto first = static_cast<int>(model.kinds.size());
  for (Layer* half : {&layer.attention, &layer.crossed}) {
    half->input += width;
    half->output += width;
    model.kinds.push_back(std::move(*half));
  }
  for (std::int64_t i = 0; i < layers; ++i) {
    model.layers.push_back(first);
    model.layers.push_back(first + 1);
  }
}

}  // namespace headway

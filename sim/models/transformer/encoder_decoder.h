#pragma once

#include <cstdint>

#include "sim/layers/model.h"

namespace headway {

/// A layer of a decoder that attends to what an encoder gave, as two: attention, and cross
/// attention with the MLP. Both for so many rows as the decoder has.
struct CrossingLayer {
  Layer attention;
  Layer crossed;
};

/// Adds the layers of such a decoder behind those of its encoder, whose positions are `width`
/// wide: each hands them on besides its own.
void append_decoder(Model& model, CrossingLayer layer, std::int64_t layers, double width);

}  // namespace headway

#pragma once

#include "sim/files/field_table.h"
#include "sim/layers/model.h"
#include "sim/models/transformer/transformer.h"

namespace headway {

/// The values that say what images a decoder sees.
inline constexpr Range kImageShares = between(0.001, 1);
inline constexpr Range kImagePatches = between(1, 100'000'000);

/// Puts the layers of its vision tower in front of those of a decoder: rows are patches, as many
/// for each position as the share of images and their merging say. They stand on the first stage of
/// a pipeline, pixels enter with the words, the projectors stand behind the last. Everything is
/// trained.
void add_vision_tower(Model& model, const TransformerModel& fields, const VisionTower& tower);

[[nodiscard]] const FieldTable<VisionTower>& vision_tower_fields();

/// Reports sizes that do not divide what they have to, and windows without layers.
void check_vision_tower(ObjectReader& reader, const VisionTower& tower);

}  // namespace headway

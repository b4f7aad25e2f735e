#include "sim/jobs/schedules/layer_placement.h"

#include <algorithm>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

/// `items` over `parts`, the first parts taking the rest.
std::vector<int> even_split(int items, int parts) {
  std::vector<int> split(static_cast<std::size_t>(parts), items / parts);
  std::fill_n(split.begin(), items % parts, items / parts + 1);
  return split;
}

constexpr int kEnds = 2;  ///< the embedding and the loss

/// Layers of every chunk but the last, where that one is short.
std::int64_t full_chunk(std::int64_t layers, std::int64_t chunks) {
  return (layers + kEnds + chunks - 1) / chunks;
}

}  // namespace

bool can_place(LayerPlacement placement, std::int64_t layers, std::int64_t chunks,
               std::int64_t prediction_layers) {
  switch (placement) {
    case LayerPlacement::even:
      return chunks <= layers;
    case LayerPlacement::embedding_and_loss_as_layers: {
      // A chunk of one place has room for one end; the first and the last may be the same.
      const std::int64_t places = layers + kEnds + prediction_layers;
      const std::int64_t in_last = chunks == 1 ? kEnds + prediction_layers : 1 + prediction_layers;
      return chunks <= places && places / chunks >= in_last;
    }
    case LayerPlacement::short_last_chunk:
      return (chunks - 1) * full_chunk(layers, chunks) <= layers;
  }
  HEADWAY_CHECK(false, "unknown placement");
}

std::vector<int> layers_per_chunk(LayerPlacement placement, int layers, int chunks,
                                  int prediction_layers) {
  HEADWAY_CHECK(layers >= 1, "no layer to place");
  HEADWAY_CHECK(chunks >= 1, "no chunk to place layers in");
  const bool has_room = can_place(placement, layers, chunks, prediction_layers);
  HEADWAY_CHECK(has_room, "a chunk would have no layer");
  if (placement == LayerPlacement::even) return even_split(layers, chunks);
  if (placement == LayerPlacement::short_last_chunk) {
    const auto full = static_cast<int>(full_chunk(layers, chunks));
    std::vector<int> split(static_cast<std::size_t>(chunks), full);
    split.back() = layers - (chunks - 1) * full;
    return split;
  }
  std::vector<int> split = even_split(layers + kEnds + prediction_layers, chunks);
  --split.front();
  split.back() -= 1 + prediction_layers;
  return split;
}

std::vector<int> layers_of_chunks(const Strategy& strategy, std::int64_t layers,
                                  int prediction_layers) {
  if (!strategy.layers_per_stage.empty()) return strategy.layers_per_stage;
  return layers_per_chunk(strategy.layer_placement, static_cast<int>(layers), strategy.chunks(),
                          prediction_layers);
}

}  // namespace headway

#include "sim/jobs/stage_parameters.h"

#include <algorithm>

#include "sim/base/diagnostic.h"
#include "sim/jobs/rank_shape_of.h"
#include "sim/jobs/schedules/layer_placement.h"
#include "sim/layers/parameters.h"
#include "sim/layers/work.h"

namespace headway {
namespace {

int position_of(const Strategy& strategy, int stage, int chunk) {
  return chunk_position(*strategy.schedule, stage, chunk, strategy.pipeline_parallel);
}

}  // namespace

std::vector<LayerRange> chunk_layers(const Model& model, const Strategy& strategy) {
  std::vector<LayerRange> ranges;
  ranges.reserve(static_cast<std::size_t>(strategy.chunks()));
  int first = 0;
  std::vector<int> counts = layers_of_chunks(strategy, model.shared_layers(), model.ahead.layers);
  if (strategy.layers_per_stage.empty()) counts.front() += model.leading_layers;
  for (const int count : counts) {
    ranges.push_back({first, count});
    first += count;
  }
  return ranges;
}

std::vector<LayerRange> stage_layers(const Model& model, const Strategy& strategy, int stage) {
  HEADWAY_CHECK(stage >= 0, "no such stage");
  HEADWAY_CHECK(stage < strategy.pipeline_parallel, "no such stage");
  const std::vector<LayerRange> chunks = chunk_layers(model, strategy);
  std::vector<LayerRange> layers;
  for (int chunk = 0; chunk < strategy.chunks_of_stage(); ++chunk) {
    layers.push_back(chunks[static_cast<std::size_t>(position_of(strategy, stage, chunk))]);
  }
  return layers;
}

bool is_first_chunk(const Strategy& strategy, int stage, int chunk) {
  return position_of(strategy, stage, chunk) == 0;
}

bool is_last_chunk(const Strategy& strategy, int stage, int chunk) {
  return position_of(strategy, stage, chunk) == strategy.chunks() - 1;
}

std::vector<int> kinds_of_layers(const Model& model, const LayerRange& range) {
  std::vector<int> kinds(model.kinds.size());
  for (int layer = range.first; layer < range.first + range.count; ++layer) {
    ++kinds[static_cast<std::size_t>(model.kind_of(layer))];
  }
  return kinds;
}

StageParameters stage_parameters(const Model& model, const Strategy& strategy, int stage) {
  return stage_parameters(model, strategy, stage, stage_layers(model, strategy, stage));
}

StageParameters stage_parameters(const Model& model, const Strategy& strategy, int stage,
                                 std::span<const LayerRange> layers) {
  const RankShape shape = rank_shape_of(strategy);
  bool is_first = false;
  bool is_last = false;
  for (int chunk = 0; chunk < strategy.chunks_of_stage(); ++chunk) {
    is_first = is_first || is_first_chunk(strategy, stage, chunk);
    is_last = is_last || is_last_chunk(strategy, stage, chunk);
  }

  StageParameters parameters;
  const auto add_layers = [&](double count, int kind) {
    const Layer& layer = model.kind(kind);
    const Parameters of_layer = parameters_on_rank(layer, shape);
    parameters.layers += count * of_layer.shared();
    parameters.experts += count * of_layer.experts();
    parameters.adapters += count * adapter_parameters_on_rank(layer, shape, adapter_rank(strategy));
  };
  for (const LayerRange& range : layers) {
    const std::vector<int> counts = kinds_of_layers(model, range);
    for (std::size_t kind = 0; kind < counts.size(); ++kind) {
      if (counts[kind] > 0) add_layers(counts[kind], static_cast<int>(kind));
    }
  }
  const Parameters first = parameters_on_rank(model.first, shape);
  if (is_first) parameters.embedding = first.total();
  if (is_last) {
    const bool reuses_embedding = model.tied && is_first;
    parameters.head = parameters_on_rank(model.last, shape).total() -
                      (reuses_embedding ? first.of(Part::embedding) : 0.0);
    if (model.ahead.layers > 0) {
      add_layers(model.ahead.layers, model.ahead.kind);
      parameters.head += model.ahead.layers * parameters_on_rank(model.ahead.join, shape).total();
      // The embedding of the tokens ahead is a copy, unless the head is one.
      if (!is_first && !model.tied) parameters.head += first.of(Part::embedding);
    }
  }
  return parameters;
}

double trained_parameters(const StageParameters& parameters, const Strategy& strategy) {
  return trains_adapters(strategy) ? parameters.adapters : parameters.total();
}

}  // namespace headway

#include "sim/layers/model.h"

#include <algorithm>
#include <utility>

namespace headway {
namespace {

bool recomputes(const Layer& layer, RecomputePart part) {
  const auto any = [part](const auto& items) {
    return std::ranges::any_of(items, [part](const auto& item) { return item.again.with(part); });
  };
  return any(layer.products) || any(layer.passes) || any(layer.kept) ||
         any(layer.activation_products) || any(layer.scans) ||
         (layer.attention && layer.attention->again.with(part)) ||
         (layer.routing && layer.routing->again.with(part));
}

}  // namespace

const ExpertRouting* Model::routing() const {
  for (const Layer& layer : kinds) {
    if (layer.routing) return &*layer.routing;
  }
  return nullptr;
}

bool Model::has_tables() const {
  return std::ranges::any_of(kinds, [](const Layer& layer) { return !layer.tables.empty(); });
}

bool Model::recomputes(RecomputePart part) const {
  return std::ranges::any_of(
      kinds, [part](const Layer& layer) { return headway::recomputes(layer, part); });
}

bool Model::has_target(AdapterTarget target) const {
  return std::ranges::all_of(kinds, [target](const Layer& layer) {
    return std::ranges::any_of(
        layer.products, [target](const Product& product) { return product.target == target; });
  });
}

const TensorLimit* first_indivisible(const Model& model, std::int64_t ranks) {
  for (const TensorLimit& limit : model.tensor_limits) {
    const bool shares = limit.may_share && ranks % limit.size == 0;
    if (limit.size % ranks != 0 && !shares) return &limit;
  }
  return nullptr;
}

void append_layers(Model& model, Layer layer, int count) {
  model.kinds.push_back(std::move(layer));
  model.layers.insert(model.layers.end(), static_cast<std::size_t>(count),
                      static_cast<int>(model.kinds.size()) - 1);
}

}  // namespace headway

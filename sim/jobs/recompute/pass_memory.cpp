#include "sim/jobs/recompute/pass_memory.h"

#include <algorithm>

#include "sim/jobs/recompute/recompute.h"

namespace headway {

PassMemory::PassMemory(const Model& model, const Strategy& strategy)
    : model_(model),
      strategy_(strategy),
      keeping_(strategy),
      recomputing_(model.kinds.size()),
      whole_(model.kinds.size()) {
  keeping_.recompute = Recompute::none;
}

Bytes PassMemory::on_device(const LayerRange& range) {
  Bytes sum;
  for (int i = 0; i < range.count; ++i) sum += on_device(range, i);
  return sum;
}

Bytes PassMemory::on_host(const LayerRange& range) {
  Bytes sum;
  for (int i = 0; i < std::min(range.count, strategy_.offload_layers); ++i) {
    sum += of_layer(range.first + i, strategy_, recomputing_);
  }
  return sum;
}

Bytes PassMemory::at_work(const LayerRange& range, const std::vector<Bytes>& of_kinds) {
  const Bytes largest = *std::max_element(of_kinds.begin(), of_kinds.end());
  Bytes most;
  Bytes let_go;
  for (int i = range.count - 1; i >= 0 && largest - let_go > most; --i) {
    const int kind = model_.kind_of(range.first + i);
    most = max(most, of_kinds[static_cast<std::size_t>(kind)] - let_go);
    let_go += on_device(range, i);
  }
  return most;
}

Bytes PassMemory::on_device(const LayerRange& range, int i) {
  if (i < strategy_.offload_layers) return Bytes(0.0);
  const bool recomputes =
      strategy_.offload_layers > 0 || i < recomputed_layers(strategy_, range.count);
  return of_layer(range.first + i, recomputes ? strategy_ : keeping_,
                  recomputes ? recomputing_ : whole_);
}

Bytes PassMemory::of_layer(int layer, const Strategy& strategy, OfKinds& known) const {
  std::optional<Bytes>& bytes = known[static_cast<std::size_t>(model_.kind_of(layer))];
  if (!bytes) bytes = recomputing_layer_bytes(model_.layer(layer), strategy);
  return *bytes;
}

}  // namespace headway

#pragma once

#include <optional>
#include <vector>

#include "sim/base/units.h"
#include "sim/jobs/stage_parameters.h"
#include "sim/jobs/strategy.h"
#include "sim/layers/model.h"

namespace headway {

/// What a micro-batch's passes through consecutive layers keep on one rank, embedding and head
/// apart. The model must outlive it, and so must the strategy.
class PassMemory {
 public:
  PassMemory(const Model& model, const Strategy& strategy);

  [[nodiscard]] Bytes on_device(const LayerRange& range);
  [[nodiscard]] Bytes on_host(const LayerRange& range);

  /// What the backward pass needs at most beyond all that is kept, where each kind of layer needs
  /// so much while it is worked on: by then the layers behind it have let go of theirs.
  [[nodiscard]] Bytes at_work(const LayerRange& range, const std::vector<Bytes>& of_kinds);

 private:
  using OfKinds = std::vector<std::optional<Bytes>>;

  Bytes on_device(const LayerRange& range, int i);
  Bytes of_layer(int layer, const Strategy& strategy, OfKinds& known) const;

  const Model& model_;
  const Strategy& strategy_;
  Strategy keeping_;
  OfKinds recomputing_;  ///< what the strategy recomputes
  OfKinds whole_;        ///< nothing
};

}  // namespace headway

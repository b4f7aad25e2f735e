#pragma once

#include <optional>
#include <span>

#include "calibrate/cpu/collectives.h"
#include "calibrate/train/worker.h"

namespace headway {

/// All-reduces gradients in the order they are handed in: beside the caller on a thread of its own,
/// or at once. Nothing to do for a group of one.
class Reducer {
 public:
  Reducer(Transport& group, bool overlap);

  void reduce(std::span<float> gradient);
  /// Until all of them are done; rethrows what failed.
  void finish();

 private:
  Collectives collectives_;
  bool is_alone_;
  std::optional<Worker> worker_;
};

}  // namespace headway

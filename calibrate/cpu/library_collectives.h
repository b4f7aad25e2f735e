#pragma once

#include <span>

namespace headway {

/// Collectives as a library runs them: black boxes, whose algorithm depends on size, ranks and
/// version. Measured beside ours, never used as a cost.
class LibraryCollectives {
 public:
  virtual ~LibraryCollectives() = default;
  /// Sum of the data of the first `ranks` ranks, which all call it, in place.
  virtual void all_reduce(std::span<float> data, int ranks) = 0;
};

}  // namespace headway

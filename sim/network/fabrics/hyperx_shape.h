#pragma once

#include <vector>

#include "sim/network/fabrics/fabric.h"

namespace headway {

/// The shape of a generated HyperX (J. Ahn and others, SC 2009): switches in a grid, every two of
/// one line cabled to each other. The last dimension varies fastest. Cables: endpoint to switch in
/// the order of endpoints; then dimension by dimension, line by line, pair by pair (0-1, 0-2, ...,
/// 1-2, ...), the parallel ones of a pair together.
struct HyperXShape : FabricLayout {
  struct Dimension {
    int size = 1;
    int stride = 1;  ///< switches from one coordinate to the next
    int first_cable = 0;

    [[nodiscard]] int coordinate(int number) const { return number / stride % size; }
    [[nodiscard]] int pairs() const { return size * (size - 1) / 2; }  ///< of a line
    /// The line that a switch stands on.
    [[nodiscard]] int line(int number) const {
      return number / (stride * size) * stride + number % stride;
    }
    /// Where the pair of two coordinates, the lower one first, stands among those of its line.
    [[nodiscard]] int pair(int low, int high) const {
      return low * (2 * size - low - 1) / 2 + high - low - 1;
    }
  };
  std::vector<Dimension> dimensions;
  int endpoints = 0;
  int endpoints_per_switch = 1;
  int cables_per_pair = 1;

  [[nodiscard]] int switch_of(VertexId endpoint) const { return endpoint / endpoints_per_switch; }
  [[nodiscard]] LinkId endpoint_link(VertexId endpoint) const { return 2 * endpoint; }
  /// The first of the links from one switch to another that differs in one coordinate only.
  [[nodiscard]] LinkId first_link(int from, int to) const {
    for (const Dimension& dimension : dimensions) {
      const int a = dimension.coordinate(from);
      const int b = dimension.coordinate(to);
      if (a == b) continue;
      const int pair =
          dimension.line(from) * dimension.pairs() + dimension.pair(a < b ? a : b, a < b ? b : a);
      const LinkId link = 2 * (dimension.first_cable + pair * cables_per_pair);
      return a < b ? link : Topology::reverse(link);
    }
    return -1;
  }
};

}  // namespace headway

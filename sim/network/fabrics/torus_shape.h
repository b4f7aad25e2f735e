#pragma once

#include <cstdlib>
#include <vector>

#include "sim/network/fabrics/fabric.h"

namespace headway {

/// The shape of a generated torus or mesh, whose endpoints forward themselves, and the arithmetic
/// that numbers its links. The last dimension varies fastest. Cables stand dimension by dimension;
/// within one, in the order of the vertices they lead from towards the next higher coordinate.
struct TorusShape : FabricLayout {
  struct Dimension {
    int size = 1;
    bool wraps = false;  ///< the last vertex is cabled to the first
    int stride = 1;      ///< vertices from one coordinate to the next
    int first_cable = 0;

    /// Cables along one line of vertices.
    [[nodiscard]] int cables_of_line() const { return wraps ? size : size - 1; }
    [[nodiscard]] int coordinate(VertexId vertex) const { return vertex / stride % size; }
    /// The link from a vertex to the one of the next higher coordinate (of the last, to the first).
    [[nodiscard]] LinkId link_up(VertexId vertex) const {
      const int line = vertex / (stride * size);
      return 2 * (first_cable + (line * cables_of_line() + coordinate(vertex)) * stride +
                  vertex % stride);
    }
    /// The vertex of the next higher coordinate (of the last, the first).
    [[nodiscard]] VertexId above(VertexId vertex) const {
      return coordinate(vertex) + 1 < size ? vertex + stride : vertex - (size - 1) * stride;
    }
    [[nodiscard]] VertexId below(VertexId vertex) const {
      return coordinate(vertex) > 0 ? vertex - stride : vertex + (size - 1) * stride;
    }
  };
  std::vector<Dimension> dimensions;
};

}  // namespace headway

#pragma once

#include "sim/network/fabrics/clos_shape.h"
#include "sim/network/routing/path_choices.h"

namespace headway {

/// All shortest paths between endpoints of a generated Clos fabric, in closed form.
class ClosPaths final : public PathChoices {
 public:
  explicit ClosPaths(const ClosShape& shape) : shape_(shape) {}

  /// Requires an endpoint for its destination.
  void first_links(VertexId at, VertexId destination, std::vector<LinkId>& links) const override;

  [[nodiscard]] std::optional<int> route_class(VertexId source,
                                               VertexId destination) const override {
    return shape_.tiers_between(source, destination);
  }

 private:
  void from_leaf(int leaf, VertexId destination, std::vector<LinkId>& links) const;
  void from_spine(int number, VertexId destination, std::vector<LinkId>& links) const;
  void from_core(int number, VertexId destination, std::vector<LinkId>& links) const;

  ClosShape shape_;
};

}  // namespace headway

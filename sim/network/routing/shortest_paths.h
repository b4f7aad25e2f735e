#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "sim/network/routing/path_choices.h"

namespace headway {

/// The first links of all shortest paths (by number of links) of a topology. Searches backwards
/// from the switch that a destination is attached to, once for all destinations there and only
/// when first asked; keeps two bytes for each vertex that forwards and each such switch.
class ShortestPaths final : public PathChoices {
 public:
  explicit ShortestPaths(const Topology& topology);  ///< which outlives this object

  /// The switch that all cables of an endpoint lead to; the endpoint itself if there is no single
  /// one.
  [[nodiscard]] VertexId attachment(VertexId endpoint) const {
    return attachment_[static_cast<std::size_t>(endpoint)];
  }

  /// Sets `links` to those from `at` that begin a shortest path to `destination`, ordered by the
  /// vertex they lead to; to nothing if there is no path. Requires at != destination.
  void first_links(VertexId at, VertexId destination, std::vector<LinkId>& links) const override;

 private:
  using Distances = std::vector<std::uint16_t>;  ///< of each forwarding vertex

  [[nodiscard]] std::shared_ptr<const Distances> distances_to(VertexId target) const;
  [[nodiscard]] Distances search(VertexId target) const;

  const Topology& topology_;
  std::vector<VertexId> attachment_;     ///< of each vertex; of a switch, itself
  std::vector<std::int32_t> forwarder_;  ///< the number of a vertex among those that forward, or -1
  int forwarders_ = 0;
  mutable std::mutex mutex_;
  mutable std::unordered_map<VertexId, std::shared_ptr<const Distances>> distances_;
};

}  // namespace headway

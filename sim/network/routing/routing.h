#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stdexcept>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/network/topology.h"

namespace headway {

/// Part of a flow on a link: `share` of its bytes cross it (1 on a single path, 1/n where a routing
/// sprays over n equal paths). A route may name a link several times; its shares add up.
struct LinkShare {
  LinkId link = -1;
  double share = 1.0;
  friend bool operator==(const LinkShare&, const LinkShare&) = default;
};

/// There is no way from one endpoint to another, or the routing knows none.
class UnreachableError : public std::runtime_error {
 public:
  UnreachableError(const Topology& topology, VertexId source, VertexId destination);
  [[nodiscard]] VertexId source() const { return source_; }
  [[nodiscard]] VertexId destination() const { return destination_; }

 private:
  VertexId source_;
  VertexId destination_;
};

/// It as a problem of the input, with what to do about it.
[[nodiscard]] InputError as_input_error(const UnreachableError& error);

/// What lies on the routes of everybody to everybody.
struct AllRoutes {
  std::vector<LinkShare> links;  ///< each once; its share is how many routes cross it
  VertexId from = -1;            ///< two ends of a longest route
  VertexId to = -1;
};

/// How a fabric forwards: the links that a flow between two endpoints loads. Implementations keep
/// no table of host pairs and answer in O(hops). They may be asked from several threads.
class Routing {
 public:
  virtual ~Routing() = default;

  /// Appends the links from `source` to `destination`, in order along the path. `flow` tells apart
  /// flows of one pair where the routing hashes. Appends nothing if source equals destination.
  /// Throws UnreachableError if there is no way.
  virtual void append_route(VertexId source, VertexId destination, std::uint64_t flow,
                            std::vector<LinkShare>& route) const = 0;

  /// A number that pairs of endpoints have in common only if, link after link, what their routes
  /// cross has the same latency and share: hardly more numbers than a fabric has tiers. Nothing
  /// where the route itself has to be asked for.
  [[nodiscard]] virtual std::optional<int> route_class(VertexId /*source*/,
                                                       VertexId /*destination*/) const {
    return std::nullopt;
  }

  /// The routes between any two of `endpoints` (of which some may be the same), both ways, where
  /// they can be counted without following each. Routes with as many links are as long.
  [[nodiscard]] virtual std::optional<AllRoutes> routes_between_all(
      std::span<const VertexId> /*endpoints*/) const {
    return std::nullopt;
  }

  /// Whether it moves load off crowded links, as `relieve` does.
  [[nodiscard]] virtual bool sees_load() const { return false; }
  /// What it does about load that it sees. `loads` are what flows that begin together put on links,
  /// each once, for every byte of them: what links between switches would not carry at `pace` goes
  /// other ways, if these have room. `topology` is what the routing was built for, maybe with other
  /// rates.
  virtual void relieve(const Topology& /*topology*/, BytesPerSecond /*pace*/,
                       std::vector<LinkShare>& /*loads*/) const {}

  /// Whether each flow takes one of several paths by its addresses, where some may meet.
  [[nodiscard]] virtual bool hashes_flows() const { return false; }

  /// Whether each pair of endpoints has one way, by a rule that spreads pairs over equal ones.
  [[nodiscard]] virtual bool is_by_rule() const { return false; }

  /// What part of the links between switches flows can fill: less than 1 where packets that are
  /// spread in turn still collide now and then.
  [[nodiscard]] virtual double efficiency() const { return 1.0; }

  /// What the flows that meet worst get of these links, where that is not the same.
  [[nodiscard]] virtual double least_efficiency() const { return efficiency(); }
};

}  // namespace headway

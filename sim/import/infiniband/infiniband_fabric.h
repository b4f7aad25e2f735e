#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/base/limits.h"
#include "sim/network/link_rate.h"

namespace headway {

inline constexpr int kMostInfiniBandPorts = 254;  ///< of a node, which numbers them in a byte
inline constexpr int kMostLid = 0xBFFF;           ///< unicast

/// One end of a cable as a dump tells it.
struct InfiniBandPort {
  int peer = -1;  ///< number of the node at the other end
  int peer_port = 0;
  LinkRate rate;
  SourceLocation location;  ///< of the line that says so; without its text
};

/// A switch, a channel adapter or a router.
struct InfiniBandNode {
  enum class Kind { channel_adapter, fabric_switch, router };
  Kind kind = Kind::channel_adapter;
  std::uint64_t guid = 0;
  std::string description;  ///< NodeDescription, printable; may be empty
  int discovery = 0;        ///< that describes it, from 1; 0 if it is only somebody's peer
  std::map<int, InfiniBandPort> ports;      ///< those with a cable, as the node's block says
  std::map<int, std::uint64_t> port_guids;  ///< of an adapter's ports
  std::map<int, int> lids;                  ///< of an adapter's ports; a switch has port 0
  int lmc = 0;

  /// SHARP: a switch's unit that reduces in the network looks like an adapter, and is no host.
  [[nodiscard]] bool is_aggregation_node() const {
    return description.find("Aggregation Node") != std::string::npos;
  }
};

/// What discoveries of InfiniBand subnets found. An adapter with ports in several subnets is one
/// node; a switch is of one subnet.
class InfiniBandFabric {
 public:
  /// Notes a line that may tell of a node or a port; false if there were more of them than a fabric
  /// may have cables.
  [[nodiscard]] bool has_room() { return ++lines_ <= limits().cables; }

  /// What is read from now on comes from another discovery.
  void begin_discovery() { ++discovery_; }
  [[nodiscard]] int discovery() const { return discovery_; }

  [[nodiscard]] const std::vector<InfiniBandNode>& nodes() const { return nodes_; }
  [[nodiscard]] InfiniBandNode& node(int number) {
    return nodes_[static_cast<std::size_t>(number)];
  }
  [[nodiscard]] const InfiniBandNode& node(int number) const {
    return nodes_[static_cast<std::size_t>(number)];
  }
  /// The node's number, -1 if there is none.
  [[nodiscard]] int find(std::uint64_t guid) const {
    const auto found = numbers_.find(guid);
    return found == numbers_.end() ? -1 : found->second;
  }
  /// The node's number; makes it if it is new.
  int add(InfiniBandNode::Kind kind, std::uint64_t guid) {
    const auto [place, is_new] = numbers_.try_emplace(guid, static_cast<int>(nodes_.size()));
    if (is_new) nodes_.push_back({.kind = kind, .guid = guid});
    return place->second;
  }

 private:
  int discovery_ = 0;
  std::int64_t lines_ = 0;
  std::vector<InfiniBandNode> nodes_;
  std::unordered_map<std::uint64_t, int> numbers_;
};

}  // namespace headway

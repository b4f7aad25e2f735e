#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "sim/import/infiniband/forwarding_dump.h"
#include "sim/import/infiniband/infiniband_fabric.h"

namespace headway {

/// What a forwarding table knows of an endpoint.
struct Destination {
  int lid = 0;  ///< 0 if it has none
  int subnet = 0;
};

/// The switches whose tables become rows, and what they are cabled to.
struct ForwardingSwitches {
  const InfiniBandFabric& fabric;
  std::vector<int> numbers;              ///< of the switches, in the order of rows
  std::vector<int> subnets;              ///< of every node: a LID means something within its own
  std::set<std::pair<int, int>> cabled;  ///< node and port
};

/// The rows of a topology's table routing, and what is odd about them.
struct ForwardingRows {
  std::vector<std::string> rows;  ///< two hexadecimal digits of a port for each destination
  std::size_t without = 0;        ///< switches that have no table
  std::size_t unused = 0;         ///< tables that no switch has
  std::int64_t loose = 0;         ///< entries that lead to a port without a cable
};

[[nodiscard]] ForwardingRows forwarding_rows(const ForwardingSwitches& switches,
                                             const ForwardingTables& tables,
                                             const std::vector<Destination>& destinations);

}  // namespace headway

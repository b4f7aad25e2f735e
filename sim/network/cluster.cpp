#include "sim/network/cluster.h"

#include <algorithm>

#include "sim/base/diagnostic.h"

namespace headway {

namespace {

/// Each text once, in the order of kinds.
std::string joined_names(const Cluster& cluster, std::string NodeType::*name) {
  std::vector<std::string> names;
  for (int kind = 0; kind < cluster.kinds(); ++kind) {
    const std::string& found = cluster.type_of_kind(kind).*name;
    if (std::ranges::find(names, found) == names.end()) names.push_back(found);
  }
  std::string text = names.front();
  for (std::size_t i = 1; i < names.size(); ++i) {
    text += (i + 1 < names.size() ? ", " : " and ") + names[i];
  }
  return text;
}

}  // namespace

std::string Cluster::accelerator_names() const {
  return joined_names(*this, &NodeType::accelerator);
}

std::string Cluster::type_names() const { return joined_names(*this, &NodeType::name); }

VertexId Cluster::endpoint_of(int accelerator, int part) const {
  return endpoint_on_rail_of(accelerator, accelerator, part);
}

VertexId Cluster::endpoint_towards(int accelerator, int other, int part) const {
  return endpoint_on_rail_of(accelerator, rails_only ? other : accelerator, part);
}

VertexId Cluster::endpoint_on_rail_of(int accelerator, int other, int part) const {
  HEADWAY_CHECK(accelerator >= 0, "accelerators count from 0");
  HEADWAY_CHECK(accelerator < accelerators(), "the cluster has no such accelerator");
  const auto place = static_cast<std::size_t>(other % node_type.accelerators);
  const auto node = static_cast<std::size_t>(node_of(accelerator));
  const auto nics = static_cast<std::size_t>(node_type.nics);
  return endpoints[node * nics + static_cast<std::size_t>(node_type.nearest_nic[place] + part)];
}

}  // namespace headway

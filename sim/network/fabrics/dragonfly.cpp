#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/network/endpoint_names.h"
#include "sim/network/group_layout.h"
#include "sim/network/latency_defaults.h"

namespace headway {

FabricBuilder build_dragonfly;
FabricBuilder build_dragonfly_plus;

namespace {

constexpr int kMostParts = 1 << 20;

/// The cables of one kind.
struct CableKind {
  BytesPerSecond bandwidth;
  Seconds latency;
  int per_pair = 1;  ///< of switches
};

CableKind read_cables(ObjectReader& reader, std::string_view key, BytesPerSecond bandwidth,
                      Seconds latency, bool has_pairs) {
  const JsonCursor none(JsonDocument::parse("the default", "{}", reader.diagnostics()));
  ObjectReader part(reader.part(key).value_or(none), reader.diagnostics());
  CableKind cables{.bandwidth = part.quantity<BytesPerSecond>("bandwidth", positive(), bandwidth),
                   .latency = part.quantity<Seconds>("cable_latency", at_least(0.0), latency)};
  if (has_pairs) {
    cables.per_pair = static_cast<int>(part.integer("cables_per_pair", between(1, 1024), 1));
  }
  reader.resolve(key, part.finish());
  return cables;
}

/// Either kind of dragonfly. Endpoints are on the first `leaves` switches of a group, cables to
/// other groups on its last `gates` ones: on a dragonfly all switches are both, on a dragonfly+
/// none is.
struct DragonflyPlan {
  int groups = 1;
  int leaves = 1;
  int gates = 1;
  bool is_plus = false;
  int endpoints_per_leaf = 1;
  int global_per_gate = 1;
  Seconds switch_latency;
  BytesPerSecond endpoint_bandwidth;
  CableKind local;
  CableKind global;

  [[nodiscard]] int switches() const { return is_plus ? leaves + gates : leaves; }  ///< of a group
  /// For endpoints of a group.
  [[nodiscard]] std::int64_t room() const {
    return static_cast<std::int64_t>(leaves) * endpoints_per_leaf;
  }
  [[nodiscard]] double cables_of_group() const {
    const double pairs = is_plus ? 1.0 * leaves * gates : leaves * (leaves - 1.0) / 2.0;
    return static_cast<double>(room()) + pairs * local.per_pair + 0.5 * gates * global_per_gate;
  }
};

class DragonflyReader {
 public:
  DragonflyReader(ObjectReader& reader, const FabricRequest& request, bool is_plus)
      : reader_(reader), request_(request) {
    plan_.is_plus = is_plus;
  }

  std::optional<DragonflyPlan> read(int& nodes) {
    const std::size_t problems = reader_.diagnostics().all().size();
    const auto count = [&](std::string_view key) {
      return static_cast<int>(reader_.integer(key, between(1, kMostParts)));
    };
    plan_.leaves = count(plan_.is_plus ? "leaves_per_group" : "switches_per_group");
    plan_.gates = plan_.is_plus ? count("spines_per_group") : plan_.leaves;
    plan_.endpoints_per_leaf = count(plan_.is_plus ? "endpoints_per_leaf" : "endpoints_per_switch");
    plan_.global_per_gate =
        count(plan_.is_plus ? "global_cables_per_spine" : "global_cables_per_switch");
    plan_.switch_latency =
        reader_.quantity<Seconds>("switch_latency", at_least(0.0), kSwitchLatency);
    const BytesPerSecond nic = request_.node_type.nic_bandwidth;
    plan_.endpoint_bandwidth = nic;
    plan_.local = read_cables(reader_, "local", nic, kLeafCableLatency, true);
    plan_.global = read_cables(reader_, "global", plan_.local.bandwidth, kCoreCableLatency, false);
    read_groups(nodes, reader_.diagnostics().all().size() == problems);
    if (reader_.diagnostics().all().size() != problems) return std::nullopt;
    if (!fits_in_memory(plan_.groups * plan_.cables_of_group(), reader_)) return std::nullopt;
    return plan_;
  }

 private:
  void read_groups(int& nodes, bool is_known) {
    const int nics = request_.node_type.nics;
    std::optional<int> groups;
    if (reader_.has("groups")) {
      groups = static_cast<int>(reader_.integer("groups", between(1, kMostParts)));
    } else {
      static_cast<void>(reader_.part("groups"));
    }
    if (!is_known) return;
    const double room = static_cast<double>(plan_.leaves) * plan_.endpoints_per_leaf;
    nodes =
        groups && !request_.nodes
            ? static_cast<int>(std::min<double>(std::max(*groups * room / nics, 1.0), kMostParts))
            : requested_nodes(request_, reader_);
    const double endpoints = static_cast<double>(nodes) * nics;
    plan_.groups = groups.value_or(static_cast<int>((endpoints + room - 1) / room));
    reader_.resolve("groups", plan_.groups);
    const std::string_view key = groups ? "groups" : "kind";
    if (endpoints > plan_.groups * room) {
      reader_.report(key, "the fabric has too few places for NICs",
                     fmt::format("{} groups with {:.0f} places for {:.0f} NICs", plan_.groups, room,
                                 endpoints));
    }
    const double ports = static_cast<double>(plan_.gates) * plan_.global_per_gate;
    if (plan_.groups > 1 && ports < plan_.groups - 1) {
      reader_.report(key, "a group has too few cables to reach every other one",
                     fmt::format("{:.0f} cables for {} other groups", ports, plan_.groups - 1));
    }
  }

  ObjectReader& reader_;
  const FabricRequest& request_;
  DragonflyPlan plan_;
};

class DragonflyBuilder {
 public:
  DragonflyBuilder(const DragonflyPlan& plan, int nodes, int nics) : plan_(plan) {
    fabric_.nodes = nodes;
    fabric_.endpoints = add_endpoints(fabric_.topology, nodes, nics);
    first_ = fabric_.topology.vertex_count();
    layout_->groups = plan.groups;
  }

  Fabric build() {
    Topology& topology = fabric_.topology;
    for (const VertexId endpoint : fabric_.endpoints) {
      layout_->group_of.push_back(static_cast<int>(endpoint / plan_.room()));
    }
    for (int group = 0; group < plan_.groups; ++group) {
      for (int number = 0; number < plan_.switches(); ++number) add_switch(group, number);
    }
    for (const VertexId endpoint : fabric_.endpoints) {
      const int leaf = endpoint / plan_.endpoints_per_leaf;
      topology.add_cable(endpoint, switch_of(leaf / plan_.leaves, leaf % plan_.leaves),
                         plan_.endpoint_bandwidth, kLeafCableLatency);
    }
    for (int group = 0; group < plan_.groups; ++group) add_local_cables(group);
    if (plan_.groups > 1) {
      add_global_cables(topology, *layout_,
                        {.ports = plan_.gates * plan_.global_per_gate,
                         .bandwidth = plan_.global.bandwidth,
                         .latency = plan_.global.latency},
                        [&](int group, int port) {
                          const int gate = port / plan_.global_per_gate;
                          return switch_of(group, (plan_.is_plus ? plan_.leaves : 0) + gate);
                        });
    }
    fabric_.layout = std::move(layout_);
    return std::move(fabric_);
  }

 private:
  [[nodiscard]] VertexId switch_of(int group, int number) const {
    return first_ + group * plan_.switches() + number;
  }

  void add_switch(int group, int number) {
    const bool is_spine = number >= plan_.leaves;
    const char* kind = !plan_.is_plus ? "switch" : is_spine ? "spine" : "leaf";
    fabric_.topology.add_switch(
        fmt::format("group{}/{}{}", group, kind, is_spine ? number - plan_.leaves : number),
        is_spine ? 1 : 0, plan_.switch_latency);
    layout_->group_of.push_back(group);
  }

  void add_local_cables(int group) {
    for (int a = 0; a < plan_.leaves; ++a) {
      for (int b = plan_.is_plus ? plan_.leaves : a + 1; b < plan_.switches(); ++b) {
        for (int cable = 0; cable < plan_.local.per_pair; ++cable) {
          fabric_.topology.add_cable(switch_of(group, a), switch_of(group, b),
                                     plan_.local.bandwidth, plan_.local.latency);
        }
      }
    }
  }

  const DragonflyPlan& plan_;
  Fabric fabric_;
  std::unique_ptr<GroupLayout> layout_ = std::make_unique<GroupLayout>();
  VertexId first_ = 0;
};

std::optional<Fabric> build_either(ObjectReader& reader, const FabricRequest& request,
                                   bool is_plus) {
  int nodes = 0;
  const auto plan = DragonflyReader(reader, request, is_plus).read(nodes);
  if (!plan) return std::nullopt;
  return DragonflyBuilder(*plan, nodes, request.node_type.nics).build();
}

}  // namespace

/// Groups of switches, every two of a group cabled to each other, and every two groups (J. Kim and
/// others, ISCA 2008).
std::optional<Fabric> build_dragonfly(ObjectReader& reader, const FabricRequest& request) {
  return build_either(reader, request, false);
}

/// Groups that are trees of leaves and spines; the spines of every two groups are cabled to each
/// other (A. Shpiner and others, "Dragonfly+", HiPINEB 2017).
std::optional<Fabric> build_dragonfly_plus(ObjectReader& reader, const FabricRequest& request) {
  return build_either(reader, request, true);
}

}  // namespace headway

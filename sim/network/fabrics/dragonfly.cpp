#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/network/endpoint_names.h"
#include "sim/network/group_layout.h"
#include "sim/network/latency_defaults.h"

namespace headway {

namespace {

constexpr int kMostParts = 1 << 20;

/// The cables of one kind.
struct CableKind {
  BytesPerSecond bandwidth;
  Seconds latency;
  int per_pair = 1;  ///< of switches
};

std::vector<Field<CableKind>> cable_rows() {
  return {
      {"bandwidth", quantity(&CableKind::bandwidth, positive()),
       R"(Of such a cable.
default: the NIC's of local cables, of global ones theirs)"},
      {"cable_latency", quantity(&CableKind::latency, at_least(0.0)), kFabricCableLatencyNotes}};
}

const FieldTable<CableKind>& local_fields() {
  static const FieldTable<CableKind> kFields([] {
    std::vector<Field<CableKind>> rows = cable_rows();
    rows.push_back({"cables_per_pair", whole(&CableKind::per_pair, between(1, 1024)),
                    "Cables between two switches of a group."});
    return rows;
  }());
  return kFields;
}

const FieldTable<CableKind>& global_fields() {
  static const FieldTable<CableKind> kFields(cable_rows());
  return kFields;
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
  Seconds switch_latency = kSwitchLatency;
  BytesPerSecond endpoint_bandwidth;
  CableKind local{.latency = kLeafCableLatency};
  CableKind global{.latency = kCoreCableLatency};
  std::optional<int> given_groups;

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

/// Those that both have, behind the `own` ones of each.
FieldTable<DragonflyPlan> with_common(std::vector<Field<DragonflyPlan>> rows) {
  using Plan = DragonflyPlan;
  rows.push_back({"switch_latency", quantity(&Plan::switch_latency, at_least(0.0)),
                  kFabricSwitchLatencyNotes});
  rows.push_back({"local", part(&Plan::local, local_fields),
                  R"(The cables within a group of a dragonfly.
default: {})"});
  rows.push_back({"global",
                  part(&Plan::global, global_fields)
                      .made_of(global_fields().described(Plan{}.global))
                      .settled([](Plan& plan) { plan.global.bandwidth = plan.local.bandwidth; }),
                  R"(The cables between groups of a dragonfly.
default: {})"});
  rows.push_back({"groups", whole(&Plan::given_groups, between(1, kMostParts)),
                  R"(Groups of a dragonfly or dragonfly_plus.
limits: each reaches every other one
default: as many as the nodes need)"});
  return FieldTable<Plan>(std::move(rows));
}

const FieldTable<DragonflyPlan>& dragonfly_fields() {
  using Plan = DragonflyPlan;
  constexpr Range kParts = between(1, kMostParts);
  static const FieldTable<Plan> kFields =
      with_common({{"switches_per_group", whole(&Plan::leaves, kParts).required(),
                    "Switches of a group, every two of them cabled to each other."},
                   {"endpoints_per_switch", whole(&Plan::endpoints_per_leaf, kParts).required(),
                    kFabricPlacesNotes},
                   {"global_cables_per_switch", whole(&Plan::global_per_gate, kParts).required(),
                    R"(Cables of a switch to other groups. Every two groups get the same number.
see: J. Kim and others, ISCA 2008: p, a and h are the endpoints, switches and global cables)"}});
  return kFields;
}

const FieldTable<DragonflyPlan>& dragonfly_plus_fields() {
  using Plan = DragonflyPlan;
  constexpr Range kParts = between(1, kMostParts);
  static const FieldTable<Plan> kFields =
      with_common({{"leaves_per_group", whole(&Plan::leaves, kParts).required(),
                    "Switches of a group that endpoints are cabled to."},
                   {"spines_per_group", whole(&Plan::gates, kParts).required(),
                    "Switches of a group that join its leaves and lead to other groups."},
                   {"endpoints_per_leaf", whole(&Plan::endpoints_per_leaf, kParts).required(),
                    "Places for NICs on a leaf, which are filled in order."},
                   {"global_cables_per_spine", whole(&Plan::global_per_gate, kParts).required(),
                    "Cables of a spine to other groups. Every two groups get the same number."}});
  return kFields;
}

class DragonflyReader {
 public:
  DragonflyReader(ObjectReader& reader, const FabricRequest& request, bool is_plus)
      : reader_(reader), request_(request) {
    plan_.is_plus = is_plus;
  }

  std::optional<DragonflyPlan> read(int& nodes) {
    const std::size_t problems = reader_.diagnostics().errors();
    plan_.endpoint_bandwidth = request_.node_type.nic_bandwidth;
    plan_.local.bandwidth = plan_.endpoint_bandwidth;
    (plan_.is_plus ? dragonfly_plus_fields() : dragonfly_fields()).read(reader_, plan_);
    if (!plan_.is_plus) plan_.gates = plan_.leaves;
    read_groups(nodes, reader_.diagnostics().errors() == problems);
    if (reader_.diagnostics().errors() != problems) return std::nullopt;
    if (!fits_in_memory(plan_.groups * plan_.cables_of_group(), reader_)) return std::nullopt;
    return plan_;
  }

 private:
  void read_groups(int& nodes, bool is_known) {
    const int nics = request_.node_type.nics;
    const std::optional<int> groups = plan_.given_groups;
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
FabricKind dragonfly_kind() {
  return {"dragonfly",
          [](ObjectReader& reader, const FabricRequest& request) {
            return build_either(reader, request, false);
          },
          "shortest", [] { return dragonfly_fields().described(); }};
}

/// Groups that are trees of leaves and spines; the spines of every two groups are cabled to each
/// other (A. Shpiner and others, "Dragonfly+", HiPINEB 2017).
FabricKind dragonfly_plus_kind() {
  return {"dragonfly_plus",
          [](ObjectReader& reader, const FabricRequest& request) {
            return build_either(reader, request, true);
          },
          "shortest", [] { return dragonfly_plus_fields().described(); }};
}

}  // namespace headway

#include "sim/network/group_paths.h"
#include "sim/network/routing/equal_cost_paths.h"
#include "sim/network/routing/group_detours.h"

namespace headway {

namespace {

/// On a dragonfly: part of a flow takes minimal paths, the rest goes through every other group in
/// equal parts, by a random group as Valiant has it (J. Kim and others, "Technology-driven,
/// highly-scalable dragonfly topology", ISCA 2008). Adaptive routing (UGAL) picks the part by the
/// load; here it is given: 0 is minimal and 1 Valiant routing. Within a group minimal paths come
/// first, and what they do not carry goes over a third switch.
class ValiantRouting final : public Routing {
 public:
  ValiantRouting(const RoutingRequest& request, const GroupLayout& layout, double share)
      : topology_(request.topology),
        paths_(request.topology, layout),
        layout_(layout),
        detours_(layout, false),
        share_(share) {}

  void append_route(VertexId source, VertexId destination, std::uint64_t /*flow*/,
                    std::vector<LinkShare>& route) const override {
    const std::size_t before = route.size();
    const int from = group(source);
    const int to = group(destination);
    const int others = layout_.groups - 2;
    const double detour = from == to || others < 1 ? 0.0 : share_;
    bool is_reached = detour == 1.0 || append(source, destination, 1.0 - detour, route);
    for (int between = 0; detour > 0.0 && between < layout_.groups; ++between) {
      if (between == from || between == to) continue;
      const std::vector<VertexId>& entries = layout_.entries.at({from, between});
      const double part = detour / others / static_cast<double>(entries.size());
      for (const VertexId entry : entries) {
        is_reached &= append(source, entry, part, route) && append(entry, destination, part, route);
      }
    }
    if (is_reached) return;
    route.resize(before);
    throw UnreachableError(topology_, source, destination);
  }

  [[nodiscard]] bool sees_load() const override { return true; }
  void relieve(const Topology& topology, BytesPerSecond pace,
               std::vector<LinkShare>& loads) const override {
    detours_.relieve(topology, pace, loads);
  }

 private:
  [[nodiscard]] int group(VertexId vertex) const {
    return layout_.group_of[static_cast<std::size_t>(vertex)];
  }
  [[nodiscard]] bool append(VertexId from, VertexId to, double amount,
                            std::vector<LinkShare>& route) const {
    return append_split(paths_, topology_, from, to, amount, route);
  }

  const Topology& topology_;
  GroupPaths paths_;
  GroupLayout layout_;
  GroupDetours detours_;
  double share_;
};

struct ValiantFields {
  double share = 0.0;
};

const FieldTable<ValiantFields>& valiant_fields() {
  static const FieldTable<ValiantFields> kFields(
      {{"share", number(&ValiantFields::share, between(0.0, 1.0)).required(),
        R"(Part of the traffic between groups that goes through a third one. 0 is minimal routing;
adaptive routing (UGAL) takes at most 0.5.
see: J. Kim and others, ISCA 2008)"}});
  return kFields;
}

std::unique_ptr<const Routing> build_valiant_routing(ObjectReader& reader,
                                                     const RoutingRequest& request) {
  ValiantFields given;
  valiant_fields().read(reader, given);
  const auto* layout = dynamic_cast<const GroupLayout*>(request.layout);
  if (layout == nullptr) {
    report_wrong_fabric(reader, request, "valiant", "dragonfly");
    return nullptr;
  }
  return std::make_unique<ValiantRouting>(request, *layout, given.share);
}

}  // namespace

RoutingKind valiant_routing() {
  return {"valiant", build_valiant_routing, [] { return valiant_fields().described(); }};
}

}  // namespace headway

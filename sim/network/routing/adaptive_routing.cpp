#include "sim/network/routing/equal_cost_paths.h"

namespace headway {

namespace {

/// Of adaptive routing on InfiniBand and of packets sprayed over Ethernet (NVIDIA, 28 October 2024:
/// Spectrum-X keeps 95 % of the throughput).
constexpr double kEfficiency = 0.95;

/// Every switch spreads packets over all next links on shortest paths, in the long run equally.
class AdaptiveRouting final : public Routing {
 public:
  AdaptiveRouting(const RoutingRequest& request, double efficiency)
      : topology_(request.topology), paths_(equal_cost_paths(request)), efficiency_(efficiency) {}

  void append_route(VertexId source, VertexId destination, std::uint64_t /*flow*/,
                    std::vector<LinkShare>& route) const override {
    if (append_split(*paths_, topology_, source, destination, 1.0, route)) return;
    throw UnreachableError(topology_, source, destination);
  }

  [[nodiscard]] double efficiency() const override { return efficiency_; }

 private:
  const Topology& topology_;
  std::unique_ptr<const PathChoices> paths_;
  double efficiency_;
};

struct AdaptiveFields {
  double efficiency = kEfficiency;
};

const FieldTable<AdaptiveFields>& adaptive_fields() {
  static const FieldTable<AdaptiveFields> kFields(
      {{"efficiency",
        number(&AdaptiveFields::efficiency, {.least = 0.0, .most = 1.0, .open = true}),
        R"(What part of the links between switches flows fill, packets being spread a little unevenly.
see: NVIDIA, 28 October 2024: Spectrum-X keeps 95 % of the throughput)"}});
  return kFields;
}

std::unique_ptr<const Routing> build_adaptive_routing(ObjectReader& reader,
                                                      const RoutingRequest& request) {
  AdaptiveFields given;
  adaptive_fields().read(reader, given);
  return std::make_unique<AdaptiveRouting>(request, given.efficiency);
}

}  // namespace

RoutingKind adaptive_routing() {
  return {"adaptive", build_adaptive_routing, [] { return adaptive_fields().described(); }};
}

}  // namespace headway

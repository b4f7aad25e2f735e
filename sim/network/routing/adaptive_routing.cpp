#include "sim/network/routing/equal_cost_paths.h"

namespace headway {

RoutingBuilder build_adaptive_routing;

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

}  // namespace

std::unique_ptr<const Routing> build_adaptive_routing(ObjectReader& reader,
                                                      const RoutingRequest& request) {
  const double efficiency =
      reader.number("efficiency", {.least = 0.0, .most = 1.0, .open = true}, kEfficiency);
  return std::make_unique<AdaptiveRouting>(request, efficiency);
}

}  // namespace headway

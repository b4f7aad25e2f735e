#include "sim/network/routing/detour_routing.h"

#include <algorithm>

#include "sim/network/routing/shortest_routing.h"

namespace headway {
namespace {

class DetourRouting final : public Routing {
 public:
  DetourRouting(std::unique_ptr<const Routing> routing, const Topology& topology)
      : topology_(topology), routing_(std::move(routing)), detours_(shortest_routing(topology)) {}

  void append_route(VertexId source, VertexId destination, std::uint64_t flow,
                    std::vector<LinkShare>& route) const override {
    const std::size_t before = route.size();
    bool is_whole = append_undisturbed(source, destination, flow, route);
    is_whole =
        is_whole && std::all_of(route.begin() + static_cast<std::ptrdiff_t>(before), route.end(),
                                [&](const LinkShare& hop) { return topology_.is_up(hop.link); });
    if (is_whole) return;
    route.resize(before);
    detours_->append_route(source, destination, flow, route);
  }

  [[nodiscard]] bool sees_load() const override { return routing_->sees_load(); }
  void relieve(const Topology& topology, BytesPerSecond pace,
               std::vector<LinkShare>& loads) const override {
    routing_->relieve(topology, pace, loads);
  }
  [[nodiscard]] bool hashes_flows() const override { return routing_->hashes_flows(); }
  [[nodiscard]] bool is_by_rule() const override { return routing_->is_by_rule(); }
  [[nodiscard]] double efficiency() const override { return routing_->efficiency(); }
  [[nodiscard]] double least_efficiency() const override { return routing_->least_efficiency(); }

 private:
  /// False if the routing knows no way any more.
  [[nodiscard]] bool append_undisturbed(VertexId source, VertexId destination, std::uint64_t flow,
                                        std::vector<LinkShare>& route) const {
    try {
      routing_->append_route(source, destination, flow, route);
      return true;
    } catch (const UnreachableError&) {
      return false;
    }
  }

  const Topology& topology_;
  std::unique_ptr<const Routing> routing_;
  std::unique_ptr<const Routing> detours_;
};

}  // namespace

std::unique_ptr<const Routing> with_detours(std::unique_ptr<const Routing> routing,
                                            const Topology& topology) {
  return std::make_unique<DetourRouting>(std::move(routing), topology);
}

}  // namespace headway

#include "sim/network/changed_cluster.h"

#include <utility>

namespace headway {
namespace {

/// Routes as another cluster of the same shape does: links have the same numbers in both.
class RoutingOfOriginal : public Routing {
 public:
  explicit RoutingOfOriginal(std::shared_ptr<const Cluster> original)
      : original_(std::move(original)) {}

  void append_route(VertexId source, VertexId destination, std::uint64_t flow,
                    std::vector<LinkShare>& route) const override {
    original_->routing->append_route(source, destination, flow, route);
  }
  [[nodiscard]] bool sees_load() const override { return original_->routing->sees_load(); }
  void relieve(const Topology& topology, BytesPerSecond pace,
               std::vector<LinkShare>& loads) const override {
    original_->routing->relieve(topology, pace, loads);
  }
  [[nodiscard]] bool hashes_flows() const override { return original_->routing->hashes_flows(); }
  [[nodiscard]] bool is_by_rule() const override { return original_->routing->is_by_rule(); }
  [[nodiscard]] double efficiency() const override { return original_->routing->efficiency(); }
  [[nodiscard]] double least_efficiency() const override {
    return original_->routing->least_efficiency();
  }

 private:
  std::shared_ptr<const Cluster> original_;
};

}  // namespace

std::shared_ptr<const Cluster> changed_cluster(std::shared_ptr<const Cluster> original,
                                               const std::function<void(Cluster&)>& change) {
  auto changed = std::make_shared<Cluster>();
  changed->name = original->name;
  changed->node_type = original->node_type;
  changed->other_types = original->other_types;
  changed->kind_of_node = original->kind_of_node;
  changed->nodes = original->nodes;
  changed->scale_up_domain = original->scale_up_domain;
  changed->domain_of_node = original->domain_of_node;
  changed->topology = original->topology;
  changed->endpoints = original->endpoints;
  changed->torus = original->torus;
  changed->rails_only = original->rails_only;
  changed->site = original->site;
  change(*changed);
  changed->routing = std::make_unique<RoutingOfOriginal>(std::move(original));
  return changed;
}

}  // namespace headway

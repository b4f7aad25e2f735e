#include "sim/engine/fabric_zone.h"

#include <cmath>
#include <simgrid/kernel/routing/NetPoint.hpp>
#include <string>

namespace headway {

FabricZone::FabricZone(const std::string& name) : NetZoneImpl(name) {}

FabricZone* FabricZone::create(std::span<const double> capacities, int slots) {
  auto* zone = new FabricZone("fabric");  // the engine takes it over
  simgrid::s4u::NetZone* face = zone->get_iface();
  zone->source_ = face->create_host("source", 1.0);
  for (std::size_t i = 0; i < capacities.size(); ++i) {
    simgrid::s4u::Link* link = face->create_link("link" + std::to_string(i), capacities[i]);
    link->set_latency(0.0)->seal();
    zone->links_.push_back(link->get_impl());
  }
  zone->slots_.resize(static_cast<std::size_t>(slots));
  for (std::size_t i = 0; i < zone->slots_.size(); ++i) {
    Slot& slot = zone->slots_[i];
    slot.host = face->create_host("slot" + std::to_string(i), 1.0);
    slot.cap = face->create_link("cap" + std::to_string(i), 1.0);
    slot.cap->set_latency(0.0)->seal();
  }
  face->seal();
  return zone;
}

void FabricZone::set_route(int slot_index, std::span<const int> links, double cap) {
  Slot& slot = slots_[static_cast<std::size_t>(slot_index)];
  slot.route.clear();
  if (std::isfinite(cap)) {
    slot.cap->set_bandwidth(cap);
    slot.route.push_back(slot.cap->get_impl());
  }
  for (const int link : links) slot.route.push_back(links_[static_cast<std::size_t>(link)]);
}

void FabricZone::get_local_route(const simgrid::kernel::routing::NetPoint* /*from*/,
                                 const simgrid::kernel::routing::NetPoint* to,
                                 simgrid::kernel::routing::Route* route, double* /*latency*/) {
  const std::size_t id = to->id();
  if (id == 0) return;
  for (auto* link : slots_[id - 1].route) route->link_list_.push_back(link);
}

}  // namespace headway

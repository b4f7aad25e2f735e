#pragma once

#include <simgrid/kernel/routing/NetZoneImpl.hpp>
#include <simgrid/s4u.hpp>
#include <span>
#include <vector>

namespace headway {

/// A SimGrid zone whose routes are written just before they are used. It has one source host and
/// `slots` destination hosts that stand for no machine: the route to a slot is whatever list of
/// links was put there last. Routes have no latency, so that bandwidth is shared max-min fairly
/// whatever the length of a path (SimGrid's CM02 otherwise shares in inverse proportion to
/// latency).
class FabricZone : public simgrid::kernel::routing::NetZoneImpl {
 public:
  /// Becomes the root zone of the engine, which owns it. Link capacities in bytes/s.
  static FabricZone* create(std::span<const double> capacities, int slots);

  /// The route of a slot: links by index, each as often as its weight says, and a private link of
  /// `cap` bytes/s in front unless that is infinite.
  void set_route(int slot, std::span<const int> links, double cap);

  [[nodiscard]] simgrid::s4u::Host* source() const { return source_; }
  [[nodiscard]] simgrid::s4u::Host* slot_host(int slot) const {
    return slots_[static_cast<std::size_t>(slot)].host;
  }

 protected:
  void get_local_route(const simgrid::kernel::routing::NetPoint* from,
                       const simgrid::kernel::routing::NetPoint* to,
                       simgrid::kernel::routing::Route* route, double* latency) override;

 private:
  struct Slot {
    simgrid::s4u::Host* host = nullptr;
    simgrid::s4u::Link* cap = nullptr;
    std::vector<simgrid::kernel::resource::StandardLinkImpl*> route;
  };

  explicit FabricZone(const std::string& name);

  simgrid::s4u::Host* source_ = nullptr;
  std::vector<simgrid::kernel::resource::StandardLinkImpl*> links_;
  std::vector<Slot> slots_;  ///< the net point of slot i has id i + 1; the source has 0
};

}  // namespace headway

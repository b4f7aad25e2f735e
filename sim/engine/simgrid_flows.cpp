#include "sim/engine/simgrid_flows.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

[[noreturn]] void refuse_weights() {
  Diagnostic problem;
  problem.message =
      "SimGrid's flows load links a whole number of times, and those of this job or collective "
      "have no small common part";
  problem.help =
      "leave run.flows (of `headway collective`, --flows) out: the incremental solver takes any";
  throw InputError(std::move(problem));
}

/// Every link as often as a flow loads it.
std::vector<int> route_of(const std::vector<MaxMinShares::Use>& uses) {
  constexpr double kMostTimes = 1e6;
  std::vector<int> route;
  for (const MaxMinShares::Use& use : uses) {
    if (use.weight != std::round(use.weight) || use.weight > kMostTimes) refuse_weights();
    route.insert(route.end(), static_cast<std::size_t>(use.weight), use.link);
  }
  return route;
}

}  // namespace

SimGridFlows::SimGridFlows(LinkUsage usage, int slots, Finished finished)
    : usage_(std::move(usage)),
      finished_(std::move(finished)),
      zone_(FabricZone::create(usage_.capacities, slots)),
      slots_(static_cast<std::size_t>(slots)) {
  for (const std::vector<MaxMinShares::Use>& uses : usage_.plans) {
    routes_.push_back(route_of(uses));
  }
  for (int slot = slots - 1; slot >= 0; --slot) free_slots_.push_back(slot);
  simgrid::s4u::Activity::on_completion_cb(
      [this](const simgrid::s4u::Activity& activity) { on_completion(activity); });
  simgrid::s4u::Engine::on_time_advance_cb([this](double) {
    for (simgrid::s4u::Activity* activity : spent_) intrusive_ptr_release(activity);
    spent_.clear();
  });
}

void SimGridFlows::start(std::int32_t plan, Bytes amount, BytesPerSecond rate_cap,
                         std::int32_t token, double /*now*/) {
  HEADWAY_CHECK(!free_slots_.empty(), "more flows at once than slots were made for them");
  const int slot = free_slots_.back();
  free_slots_.pop_back();
  Slot& taken = slots_[static_cast<std::size_t>(slot)];
  const auto i = static_cast<std::size_t>(plan);
  const double unit = usage_.units[i];
  zone_->set_route(slot, routes_[i], rate_cap.count() * unit);

  // SimGrid counts whole bytes, and never starts a Comm of none.
  const double bytes = std::max(1.0, std::round(amount.count() * unit));
  const simgrid::s4u::CommPtr comm = simgrid::s4u::Comm::sendto_init();
  taken = {.token = token, .plan = plan, .comm = comm.get()};
  comm->set_data(&taken);
  comm->set_payload_size(static_cast<std::uint64_t>(bytes));
  intrusive_ptr_add_ref(comm.get());  // SimGrid keeps no reference; ours is dropped when spent
  comm->set_source(zone_->source());
  comm->set_destination(zone_->slot_host(slot));  // starts it
}

void SimGridFlows::tell_under_way(const UnderWay& tell, double /*now*/) const {
  for (const Slot& slot : slots_) {
    if (slot.comm == nullptr) continue;
    tell(slot.token, slot.comm->get_remaining() / usage_.units[static_cast<std::size_t>(slot.plan)]);
  }
}

void SimGridFlows::on_completion(const simgrid::s4u::Activity& activity) {
  HEADWAY_CHECK(activity.get_state() == simgrid::s4u::Activity::State::FINISHED,
                "a transfer ended without being finished");
  Slot* slot = activity.get_data<Slot>();
  spent_.push_back(const_cast<simgrid::s4u::Activity*>(&activity));
  slot->comm = nullptr;
  free_slots_.push_back(static_cast<int>(slot - slots_.data()));
  finished_(slot->token, simgrid::s4u::Engine::get_clock());
}

}  // namespace headway

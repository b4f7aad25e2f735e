#include "sim/engine/incremental_flows.h"

#include <algorithm>
#include <utility>

#include "sim/base/diagnostic.h"

namespace headway {

IncrementalFlows::IncrementalFlows(const std::vector<FlowPlan>& plans, LinkUsage usage,
                                   EventQueue& events, Finished finished)
    : plans_(plans),
      usage_(std::move(usage)),
      events_(events),
      finished_(std::move(finished)),
      shares_(usage_.capacities) {}

void IncrementalFlows::start(std::int32_t plan, Bytes amount, std::int32_t token, double now) {
  const auto i = static_cast<std::size_t>(plan);
  const double unit = usage_.units[i];
  const std::int32_t handle = shares_.add(usage_.plans[i], plans_[i].rate_cap.count() * unit);
  if (static_cast<std::size_t>(handle) >= flows_.size()) flows_.emplace_back();
  Flow& flow = flows_[static_cast<std::size_t>(handle)];
  flow.token = token;
  flow.left = amount.count() * unit;
  flow.rate = 0.0;
  flow.at = now;
  ++flow.version;
  unsettled_ = true;
}

void IncrementalFlows::settle(double now) {
  if (!unsettled_) return;
  unsettled_ = false;
  for (const MaxMinShares::Change& change : shares_.settle()) {
    HEADWAY_CHECK(change.rate > 0.0, "a flow was left without bandwidth");
    Flow& flow = flows_[static_cast<std::size_t>(change.flow)];
    flow.left = std::max(0.0, flow.left - flow.rate * (now - flow.at));
    flow.rate = change.rate;
    flow.at = now;
    ++flow.version;
    events_.push(now + flow.left / flow.rate, EventKind::flow_done, change.flow, flow.version);
  }
}

void IncrementalFlows::handle(const Event& event) {
  Flow& flow = flows_[static_cast<std::size_t>(event.id)];
  if (flow.version != event.version) return;
  ++flow.version;
  shares_.remove(event.id);
  unsettled_ = true;
  finished_(flow.token, event.time);
}

}  // namespace headway

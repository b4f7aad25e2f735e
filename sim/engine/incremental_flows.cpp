#include "sim/engine/incremental_flows.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

/// Never 0, which no flow of a network has.
std::uint32_t after(std::uint32_t version) { return version % Event::kMostVersion + 1; }

}  // namespace

IncrementalFlows::IncrementalFlows(std::shared_ptr<const LinkUsage> usage, EventQueue& events,
                                   Finished finished)
    : usage_(std::move(usage)),
      events_(events),
      finished_(std::move(finished)),
      shares_(usage_->capacities) {
  plan_uses_.resize(usage_->plans.size());
  for (std::size_t i = 0; i < plan_uses_.size(); ++i) {
    PlanUse& plan = plan_uses_[i];
    plan.unit = usage_->units[i];
    plan.uses = usage_->plans[i];
    if (plan.uses.size() > plan.few.size()) continue;
    std::ranges::copy(plan.uses, plan.few.begin());
    plan.uses = std::span(plan.few).first(plan.uses.size());
  }
}

void IncrementalFlows::pause_upstream(const Topology& topology) {
  std::vector<MaxMinShares::LinkEnds> ends;
  ends.reserve(usage_->kept.size());
  for (const LinkId link : usage_->kept) {
    const bool is_port = link >= static_cast<LinkId>(topology.link_count());
    ends.push_back(is_port ? MaxMinShares::LinkEnds{}
                           : MaxMinShares::LinkEnds{.from = topology.link(link).from,
                                                    .to = topology.link(link).to});
  }
  shares_.pause_upstream(std::move(ends));
}

void IncrementalFlows::use_episodes(const std::vector<LinkEpisode>& episodes) {
  episodes_ = episodes;
  nominal_ = usage_->capacities;
  for (const LinkEpisode& episode : episodes_) {
    for (const double change : {episode.from, episode.to}) {
      if (std::isfinite(change)) events_.push(change, EventKind::link_change, 0);
    }
  }
  change_links(0.0);
}

void IncrementalFlows::change_links(double now) {
  for (const LinkEpisode& changed : episodes_) {
    const auto kept = std::ranges::lower_bound(usage_->kept, changed.link);
    if (kept == usage_->kept.end() || *kept != changed.link) continue;  // no flow crosses it
    const auto i = static_cast<std::size_t>(kept - usage_->kept.begin());
    double factor = 1.0;
    for (const LinkEpisode& episode : episodes_) {
      if (episode.link == changed.link && episode.from <= now && now < episode.to) {
        factor *= episode.bandwidth_factor;
      }
    }
    shares_.set_capacity(static_cast<std::int32_t>(i), factor * nominal_[i]);
    take_back_those_to_come(now);
  }
  unsettled_ = true;
}

void IncrementalFlows::use_background(const std::vector<BackgroundFlow>& flows,
                                      std::int32_t first_plan) {
  for (const BackgroundFlow& flow : flows) {
    const auto index = static_cast<std::int32_t>(background_.size());
    background_.push_back({first_plan + index, flow.plan.rate_cap.count()});
    events_.push(flow.from, EventKind::background, index);
    if (std::isfinite(flow.to)) events_.push(flow.to, EventKind::background, index);
  }
}

void IncrementalFlows::change_background(std::int32_t id, double now) {
  Background& changed = background_[static_cast<std::size_t>(id)];
  if (changed.handle < 0) {
    constexpr double kEndless = std::numeric_limits<double>::infinity();
    changed.handle = add(changed.plan, changed.rate_cap, kEndless, now);
  } else {
    shares_.remove(changed.handle);
    changed.handle = -1;
    unsettled_ = true;
  }
}

/// Returns the flow's handle.
std::int32_t IncrementalFlows::add(std::int32_t plan, double rate_cap, double amount, double now) {
  const PlanUse& use = plan_use(plan);
  const std::int32_t handle = shares_.add(use.uses, rate_cap * use.unit);
  set_out(handle, amount * use.unit, 0.0, now);
  take_back_those_to_come(now);
  unsettled_ = true;
  return handle;
}

void IncrementalFlows::set_out(std::int32_t handle, double left, double rate, double at) {
  if (static_cast<std::size_t>(handle) >= flows_.size()) flows_.emplace_back();
  Flow& flow = flows_[static_cast<std::size_t>(handle)];
  flow.plan = kNone;
  flow.left = left;
  flow.rate = rate;
  flow.at = at;
  flow.version = after(flow.version);
}

/// What was started ahead on links of the flow that was added, or on the link that was changed.
void IncrementalFlows::take_back_those_to_come(double now) {
  for (const std::int32_t handle : shares_.concerned()) {
    Flow& flow = flows_[static_cast<std::size_t>(handle)];
    if (flow.at <= EventQueue::end_of_moment(now)) continue;
    events_.push(flow.at, EventKind::latency_over, flow.token);
    flow.plan = kNone;
    flow.at = now;  // it may stand here for another link too
    flow.version = after(flow.version);
    shares_.remove(handle);
  }
}

void IncrementalFlows::start(std::int32_t plan, Bytes amount, BytesPerSecond rate_cap,
                             std::int32_t token, double now) {
  const std::int32_t handle = add(plan, rate_cap.count(), amount.count(), now);
  await(handle, plan, token);
}

void IncrementalFlows::await(std::int32_t handle, std::int32_t plan, std::int32_t token) {
  Flow& flow = flows_[static_cast<std::size_t>(handle)];
  flow.plan = plan;
  flow.token = token;
}

bool IncrementalFlows::start_ahead(std::int32_t plan, Bytes amount, BytesPerSecond rate_cap,
                                   std::int32_t token, double begin) {
  const PlanUse& use = plan_use(plan);
  const std::int32_t handle = shares_.add_alone(use.uses, rate_cap.count() * use.unit);
  if (handle < 0) return false;
  set_out(handle, amount.count() * use.unit, shares_.rate(handle), begin);
  await(handle, plan, token);
  expect_end(handle);
  return true;
}

void IncrementalFlows::tell_under_way(const UnderWay& tell, double now) const {
  for (const Flow& flow : flows_) {
    if (flow.plan == kNone) continue;
    const double arrived = flow.rate * std::max(0.0, now - flow.at);
    tell(flow.token, std::max(0.0, flow.left - arrived) / plan_use(flow.plan).unit);
  }
}

void IncrementalFlows::settle(double now) {
  if (!unsettled_) return;
  unsettled_ = false;
  for (const MaxMinShares::Change& change : shares_.settle()) {
    Flow& flow = flows_[static_cast<std::size_t>(change.flow)];
    flow.left = std::max(0.0, flow.left - flow.rate * (now - flow.at));
    flow.rate = change.rate;
    flow.at = now;
    flow.version = after(flow.version);
    expect_end(change.flow);
  }
}

/// Without any rate it waits for its link to come back; what others send has no end of its own.
void IncrementalFlows::expect_end(std::int32_t handle) {
  const Flow& flow = flows_[static_cast<std::size_t>(handle)];
  if (flow.rate == 0.0 || std::isinf(flow.left)) return;
  events_.push(flow.at + flow.left / flow.rate, EventKind::flow_done, handle, flow.version);
}

void IncrementalFlows::handle(const Event& event, double now) {
  Flow& flow = flows_[static_cast<std::size_t>(event.id)];
  if (flow.version != event.version) return;
  flow.version = after(flow.version);
  shares_.remove(event.id);
  unsettled_ = true;
  flow.plan = kNone;
  finished_(flow.token, now);
}

}  // namespace headway

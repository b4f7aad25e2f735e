#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "sim/engine/event_queue.h"
#include "sim/engine/flow_network.h"
#include "sim/engine/link_usage.h"
#include "sim/engine/max_min_shares.h"
#include "sim/programs/perturbation/slowdowns.h"

namespace headway {

/// Flows as entries of our own max-min solver, finishing as events of the executor's queue. Equal
/// to SimGridFlows (tests compare them), at a cost per flow that does not grow with the number of
/// flows that are coupled to it.
class IncrementalFlows : public FlowNetwork {
 public:
  /// `events` outlives this object.
  IncrementalFlows(std::shared_ptr<const LinkUsage> usage, EventQueue& events, Finished finished);

  /// Links are paused as a whole (`MaxMinShares::pause_upstream`); before anything starts. The
  /// usage has to keep all links.
  void pause_upstream(const Topology& topology);
  /// Links that carry less for a while; before anything starts. The usage has to keep them apart.
  void use_episodes(const std::vector<LinkEpisode>& episodes);
  /// An event of kind link_change has come up: some episode begins or ends.
  void change_links(double now);

  /// What others send; before anything starts. The usage knows their plans, which outlive this
  /// object, as those from `first_plan` on.
  void use_background(const std::vector<BackgroundFlow>& flows, std::int32_t first_plan);
  /// An event of kind background has come up: that flow of others begins or ends.
  void change_background(std::int32_t id, double now);

  void start(std::int32_t plan, Bytes amount, BytesPerSecond rate_cap, std::int32_t token,
             double now) override;
  /// The same at a time to come, if nobody uses the flow's links by now; false if it has to be
  /// started then. Where somebody comes before it begins, it has never been there, and an event of
  /// kind latency_over comes up when it begins.
  bool start_ahead(std::int32_t plan, Bytes amount, BytesPerSecond rate_cap, std::int32_t token,
                   double begin);
  void tell_under_way(const UnderWay& tell, double now) const override;
  void settle(double now) override;

  /// A flow of the plan starts soon: asks for what the plan uses and then, when that is there, for
  /// its links.
  [[gnu::always_inline]] void fetch_plan(std::int32_t plan) const { fetch(&plan_use(plan)); }
  [[gnu::always_inline]] void fetch_links_of_plan(std::int32_t plan) const {
    shares_.fetch_links(plan_use(plan).uses);
  }
  /// An event of kind flow_done comes up soon: asks for what is known of the flow and then, when
  /// that is there, for its links.
  [[gnu::always_inline]] void fetch_flow(const Event& event) const {
    fetch(&flows_[static_cast<std::size_t>(event.id)]);
    shares_.fetch_flow(event.id);
  }
  [[gnu::always_inline]] void fetch_links_of(const Event& event) const {
    shares_.fetch_links_of(event.id);
  }
  /// What the flow of such an event was started with.
  [[nodiscard]] std::int32_t token_of(const Event& event) const {
    return flows_[static_cast<std::size_t>(event.id)].token;
  }

  /// An event of kind flow_done has come up.
  void handle(const Event& event, double now);

  [[nodiscard]] const MaxMinShares::Counts& counts() const { return shares_.counts(); }

 private:
  static constexpr std::int32_t kNone = -1;

  struct Flow {
    std::int32_t token = -1;
    std::int32_t plan = kNone;  ///< while the one who started the flow waits for it
    double left = 0.0;          ///< bytes of one of its streams, at time `at`
    double rate = 0.0;
    double at = 0.0;  ///< to come, where it was started ahead
    std::uint32_t version = 0;
  };

  /// What a plan uses, close together: that of a transfer, unlike that of a ring, lies in it.
  struct PlanUse {
    std::span<const MaxMinShares::Use> uses;
    double unit = 0.0;
    std::array<MaxMinShares::Use, 4> few;
  };

  [[nodiscard]] const PlanUse& plan_use(std::int32_t plan) const {
    return plan_uses_[static_cast<std::size_t>(plan)];
  }
  std::int32_t add(std::int32_t plan, double rate_cap, double amount, double now);
  void set_out(std::int32_t handle, double left, double rate, double at);
  void await(std::int32_t handle, std::int32_t plan, std::int32_t token);
  void take_back_those_to_come(double now);
  void expect_end(std::int32_t handle);

  std::shared_ptr<const LinkUsage> usage_;
  std::vector<PlanUse> plan_uses_;  ///< by plan; they point into themselves
  EventQueue& events_;
  Finished finished_;
  MaxMinShares shares_;
  std::vector<Flow> flows_;  ///< by the solver's handle
  std::vector<LinkEpisode> episodes_;
  std::vector<double> nominal_;  ///< capacities by kept link
  struct Background {
    std::int32_t plan = -1;
    double rate_cap = 0.0;
    std::int32_t handle = -1;  ///< while it flows
  };
  std::vector<Background> background_;
  bool unsettled_ = false;
};

}  // namespace headway

#pragma once

#include <optional>
#include <span>
#include <vector>

#include "sim/programs/flows/flow_plans.h"

namespace headway {

/// Gathers the links of one plan: flows of one plan that share a link add up on it.
class PlanBuilder {
 public:
  /// What is referred to outlives the builder.
  PlanBuilder(const Cluster& cluster, const NetworkCosts& costs, PlanDetail detail);

  /// Makes room for so many messages.
  void reserve(std::size_t messages);

  /// Names the accelerators whose scale-up fabrics and NICs the plan uses: the slowest of them sets
  /// its rates. Where none is named, those of the cluster's first type of node count.
  void take_part(std::span<const std::int32_t> accelerators);

  /// `weight` bytes go from one accelerator to another for each byte of the flow. Returns the
  /// latency of a step between them.
  Seconds add(std::int32_t from, std::int32_t to, double weight);

  /// `weight` bytes go from each of the accelerators to every other one. Returns the latency of the
  /// longest step.
  Seconds add_all_pairs(std::span<const std::int32_t> accelerators, double weight);

  /// Switches add up `weight` bytes for each byte of the flow on the way from all members to the
  /// first one, and send the sum back: whatever meets on a link is one. Returns the latency of the
  /// longest way up and down.
  Seconds add_reduction(const std::vector<std::int32_t>& members, double weight);

  /// The scale-up fabric carries `weight` of the flow at each of its members.
  void use_scale_up(double weight);

  /// The plan of what was added, with `latency` before the first byte arrives.
  [[nodiscard]] FlowPlan finished(Seconds latency) const;
  /// The same, where an adaptive routing has moved what is too much for links to longer ways. For
  /// plans that are few: such ways are many links, which each flow of the plan has to share.
  [[nodiscard]] FlowPlan relieved(Seconds latency) const;

 private:
  /// Bytes that pass each place, numbered from 0 on, for each byte of the flow, in the order in
  /// which they were added. Few are listed and added up at the end, many at once.
  class Loads {
   public:
    void reserve(std::size_t count) { listed_.reserve(count); }
    void add(std::int32_t place, double load);
    /// By place, each once.
    [[nodiscard]] std::vector<LinkLoad> sums() const;
    [[nodiscard]] double largest_sum() const;

   private:
    std::vector<LinkLoad> listed_;
    std::vector<double> sums_;  ///< empty while loads are listed
  };

  /// Adds the part of what `from` sends to `to` that goes by one of its NICs.
  Seconds add_part(std::int32_t from, std::int32_t to, int part, double weight);
  /// The latency of the way there, whose links it loads with `weight` where the plan knows links.
  Seconds route(VertexId source, VertexId destination, std::uint64_t flow, double weight);
  /// How all of them reach each other by each of their NICs; nothing if the routing cannot tell, or
  /// if some do without.
  [[nodiscard]] std::vector<AllRoutes> all_routes(std::span<const std::int32_t> accelerators) const;
  /// So many messages more are laid one by one. Throws InputError where that are too many.
  void follow(std::int64_t messages);
  Seconds add_reduction_of_part(const std::vector<std::int32_t>& members, int part, double weight);

  /// What part of a link flows can fill.
  [[nodiscard]] double filling(const Link& link) const;

  const Cluster& cluster_;
  const NetworkCosts& costs_;
  PlanDetail detail_;
  BytesPerSecond scale_up_;  ///< of the slowest that takes part
  BytesPerSecond nic_;       ///< likewise
  bool are_known_ = false;   ///< somebody takes part
  std::vector<LinkShare> route_;
  std::vector<std::optional<Seconds>> latency_of_class_;  ///< of routes that are alike
  Loads weights_;
  Loads sent_;  ///< by NIC
  Loads received_;
  Loads handed_on_;  ///< by the NIC that sends it for others of its node
  std::int64_t followed_ = 0;
  double scale_up_weight_ = 0.0;  ///< of what the members send each other
};

}  // namespace headway

#include "sim/programs/flows/collective_price.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/base/diagnostic.h"
#include "sim/costs/measured_collective.h"
#include "sim/programs/flows/algorithms/algorithm.h"
#include "sim/programs/flows/collective_shapes.h"
#include "sim/programs/flows/nccl_costs.h"

namespace headway {
namespace {

/// The largest domain and the most domains of any of the groups.
NcclPlace place_of(const PriceEvidence& evidence, std::span<const Domains> groups) {
  NcclPlace place{.is_rail_local = evidence.is_rail_local.value_or(true)};
  for (const Domains& domains : groups) {
    place.largest_domain = std::max(place.largest_domain, static_cast<int>(domains.largest()));
    place.domains = std::max(place.domains, static_cast<int>(domains.size()));
  }
  return place;
}

const NodeType& node_of(const Cluster& cluster, const PriceEvidence& evidence) {
  return evidence.node != nullptr ? *evidence.node : cluster.node_type;
}

/// A node, which may be of any accelerator, with the profile's.
NodeType with_accelerator(NodeType node, const PriceEvidence& evidence) {
  if (evidence.profile != nullptr) node.accelerator = evidence.profile->accelerator;
  return node;
}

}  // namespace

NetworkCosts scope_costs(const NodeType& node, const PriceEvidence& evidence, CollectiveKind kind) {
  NetworkCosts costs;
  switch (evidence.library) {
    case CollectiveLibrary::hardware:
      costs = ideal_network_costs(node);
      break;
    case CollectiveLibrary::profile:
      HEADWAY_CHECK(evidence.profile != nullptr, "a profile's prices without a profile");
      costs = network_costs(*evidence.profile, node, kind);
      break;
    case CollectiveLibrary::nccl:
      return nccl_choices(with_accelerator(node, evidence), CollectiveKind::send_receive, {})
          .front()
          .costs;
  }
  costs.is_rail_local = evidence.is_rail_local.value_or(false);
  return costs;
}

const std::vector<MeasuredCollective>* measured_curves(const Profile& profile, const NodeType& node,
                                                       bool crosses_fabric) {
  constexpr double kSameBandwidth = 0.01;  // part by which links of one kind may differ
  const ScopeCosts& scope = crosses_fabric ? profile.scale_out : profile.scale_up;
  const BytesPerSecond bandwidth = crosses_fabric ? node.nic_bandwidth : node.scale_up_bandwidth;
  const bool is_other = scope.measured_bandwidth &&
                        std::abs(bandwidth / *scope.measured_bandwidth - 1.0) > kSameBandwidth;
  return is_other ? nullptr : &scope.collectives;
}

void take_measured_time(FlowPlan& transfer, const Cluster& cluster, const PriceEvidence& evidence,
                        Bytes message) {
  if (evidence.library != CollectiveLibrary::profile) return;
  const std::vector<MeasuredCollective>* const curves =
      measured_curves(*evidence.profile, node_of(cluster, evidence), transfer.crosses_fabric);
  if (curves == nullptr) return;
  const auto measured = measured_collective_cost(*curves, CollectiveKind::send_receive, message, 2);
  if (!measured) return;
  transfer.latency = Seconds(0.0);
  // Nothing measured makes a link faster than it is.
  const double stretch =
      std::max(1.0, measured->time / idle_time(transfer, cluster.topology, message));
  for (LinkLoad& load : transfer.links) load.weight *= stretch;
  transfer.rate_cap = transfer.rate_cap * (1.0 / stretch);
}

PricedCollective::PricedCollective(const Cluster& cluster, const PriceEvidence& evidence,
                                   CollectiveKind kind, const CollectiveGroups& groups,
                                   std::optional<CollectiveAlgorithm> algorithm, PlanDetail detail)
    : kind_(kind), ranks_(static_cast<int>(groups.front().size())) {
  const auto laid = std::make_shared<Laid>();
  laid_ = laid;
  constexpr Bytes kSample(1e9);
  const std::vector<Domains> domains = by_domain(cluster, groups);
  const NcclPlace place = place_of(evidence, domains);
  in_domain_ = static_cast<double>(ranks_) / place.domains;
  const auto transfer_of = [&](const FlowPlan& plan) {
    return idle_time(plan, cluster.topology, kSample) - plan.latency;
  };
  const auto add = [&](const NetworkCosts& costs, Way way, const NcclChoice* choice) {
    way.plan = collective_plan(cluster, costs, kind, way.algorithm, groups, domains, detail);
    Idle idle{.bytes_factor = collective_volume(kind, way.algorithm, ranks_).bytes_factor,
              .seconds_per_byte = transfer_of(way.plan).count() / kSample.count()};
    if (choice != nullptr && way.algorithm == CollectiveAlgorithm::tree) {
      idle.filled_by = choice->protocol;
    }
    // What bounds large messages between nodes are their NICs, but for sums in the switches.
    const bool is_chain = kind == CollectiveKind::broadcast || kind == CollectiveKind::reduce;
    if (is_chain && way.plan.crosses_fabric && evidence.library != CollectiveLibrary::hardware) {
      const double spanned = ranks_ / in_domain_;
      const BytesPerSecond inside =
          costs.scale_up_efficiency * node_of(cluster, evidence).scale_up_bandwidth;
      idle.chain_seconds_per_byte =
          (spanned - 1.0) * idle.seconds_per_byte + (ranks_ - spanned) / inside.count();
    }
    const bool is_inside = !way.plan.crosses_fabric || way.algorithm == CollectiveAlgorithm::nvls;
    if (choice != nullptr && is_inside) idle.large_share = choice->large_share;
    if (choice != nullptr && way.plan.crosses_fabric) {
      // A library knows of one group, and of its NICs' rates.
      const FlowPlan plan =
          collective_plan(cluster, choice->believed, kind, way.algorithm, {groups.front()},
                          std::span(domains).first(1), PlanDetail::idle_nic);
      idle.believed = LinkCost{plan.latency, kSample / transfer_of(plan)};
    }
    laid->idle.push_back(idle);
    laid->ways.push_back(std::move(way));
  };
  if (evidence.library == CollectiveLibrary::nccl) {
    const NodeType node = with_accelerator(node_of(cluster, evidence), evidence);
    for (const NcclChoice& choice : nccl_choices(node, kind, place)) {
      if (algorithm && *algorithm != choice.algorithm) continue;
      add(choice.costs, {.algorithm = choice.algorithm, .protocol = word_of(choice.protocol)},
          &choice);
    }
    return;
  }
  // Only some switches can add, and few libraries go by hierarchies: nobody gets that unasked. Who
  // has a torus has software that knows it.
  std::vector<CollectiveAlgorithm> algorithms{CollectiveAlgorithm::ring, CollectiveAlgorithm::tree,
                                              CollectiveAlgorithm::torus};
  if (algorithm) algorithms = {*algorithm};
  const NetworkCosts costs = scope_costs(node_of(cluster, evidence), evidence, kind);
  for (const CollectiveAlgorithm each : algorithms) {
    if (!has_algorithm(kind, each) || !lack_of(each, cluster, groups).empty()) continue;
    add(costs, {.algorithm = each}, nullptr);
  }
  if (evidence.library == CollectiveLibrary::profile && !algorithm && !laid->ways.empty()) {
    measured_ = measured_curves(*evidence.profile, node_of(cluster, evidence),
                                laid->ways.front().plan.crosses_fabric);
    if (measured_ == nullptr || measured_->empty()) return;
    // What was measured holds all latency.
    Way way = laid->ways.front();
    way.plan.latency = Seconds(0.0);
    way.protocol = "measured";
    laid->idle.push_back(laid->idle.front());
    laid->idle.back().chain_seconds_per_byte = 0.0;
    laid->ways.push_back(std::move(way));
    measured_way_ = laid->ways.size() - 1;
  }
}

PricedCollective::PricedCollective(CollectiveKind kind, CollectiveAlgorithm algorithm, int ranks,
                                   FlowPlan plan, double seconds_per_byte)
    : kind_(kind),
      ranks_(ranks),
      laid_(std::make_shared<const Laid>(
          Laid{.ways = {{.algorithm = algorithm, .protocol = "", .plan = std::move(plan)}},
               .idle = {{.bytes_factor = collective_volume(kind, algorithm, ranks).bytes_factor,
                         .seconds_per_byte = seconds_per_byte}}})) {}

PricedCollective PricedCollective::mirrored() const {
  const bool is_gather = kind_ == CollectiveKind::all_gather;
  HEADWAY_CHECK(is_gather || kind_ == CollectiveKind::reduce_scatter, "nothing mirrors it");
  PricedCollective mirrored = *this;
  mirrored.kind_ = is_gather ? CollectiveKind::reduce_scatter : CollectiveKind::all_gather;
  return mirrored;
}

CollectivePrice PricedCollective::price(Bytes message) const {
  HEADWAY_CHECK(!ways().empty(), "a collective without a way to run");
  if (measured_way_) {
    if (const auto cost = measured_collective_cost(*measured_, kind_, message, ranks_)) {
      const double seconds_per_byte = laid_->idle[*measured_way_].seconds_per_byte;
      return {*measured_way_, Bytes(cost->time.count() / seconds_per_byte), cost->time};
    }
  }
  CollectivePrice best;
  Seconds least;  // as it seems to whoever chooses
  for (std::size_t way = 0; way < ways().size(); ++way) {
    if (way == measured_way_) continue;
    const Idle& idle = laid_->idle[way];
    const double filling = idle.filled_by ? nccl_tree_filling(*idle.filled_by, message) : 1.0;
    const Bytes beyond = max(Bytes(0.0), message - kNcclFilledFrom);
    const Bytes filled = message - (1.0 - idle.large_share) * beyond;
    const Bytes amount = idle.bytes_factor / filling * filled;
    const Seconds handed_on = handing_on_time(idle, message);
    const Seconds time =
        ways()[way].plan.latency + handed_on + Seconds(amount.count() * idle.seconds_per_byte);
    const Seconds seems =
        idle.believed ? idle.believed->latency + amount / idle.believed->bandwidth : time;
    if (way == 0 || seems < least) {
      best = {way, amount, time};
      if (handed_on > Seconds(0.0)) best.at_least = time - ways()[way].plan.latency;
      least = seems;
    }
  }
  return best;
}

CollectivePrice PricedCollective::price(Bytes message, double parts) const {
  if (parts <= 1.0) return price(message);
  CollectivePrice sum = price(1.0 / parts * message);
  const Seconds latency = ways()[sum.way].plan.latency;
  const Seconds waiting = latency + handing_on_time(laid_->idle[sum.way], 1.0 / parts * message);
  const bool hands_round = kind_ == CollectiveKind::broadcast;
  const double from_the_end = hands_round ? 1.0 + (parts - 1.0) * (1.0 - 1.0 / in_domain_) : parts;
  sum.time = parts * (sum.time - waiting) + from_the_end * waiting;
  sum.amount = parts * sum.amount;
  sum.at_least = sum.time - latency;
  return sum;
}

Seconds PricedCollective::handing_on_time(const Idle& idle, Bytes message) const {
  return Seconds(idle.chain_seconds_per_byte * min(in_domain_ * kNcclChainChunk, message).count());
}

}  // namespace headway

#include "sim/programs/kind_network.h"

#include <algorithm>
#include <set>
#include <utility>

namespace headway {
namespace {

/// By which kinds are compared where the message is not known: long enough that the bandwidth
/// tells.
constexpr Bytes kComparedMessage(64.0 * 1024 * 1024);

void add_kinds(const Cluster& cluster, std::span<const std::int32_t> accelerators,
               std::set<int>& kinds) {
  if (cluster.kinds() == 1) {
    kinds = {0};
    return;
  }
  for (const std::int32_t accelerator : accelerators) kinds.insert(cluster.kind_of(accelerator));
}

}  // namespace

KindNetwork::KindNetwork(const Cluster& cluster, const KindProfiles& profiles,
                         CollectiveLibrary library, PlanDetail detail, KnownCollectives* known)
    : cluster_(cluster), library_(library), detail_(detail), known_(known) {
  for (int kind = 0; kind < cluster.kinds(); ++kind) {
    evidence_.push_back(
        {.library = library, .profile = &profiles.of(kind), .node = &cluster.type_of_kind(kind)});
    costs_.push_back(scope_costs(cluster.type_of_kind(kind), evidence_.back()));
  }
}

double KindNetwork::nic_efficiency() const {
  // Not what a connection carries: flows that meet on a NIC have one each.
  double least = 1.0;
  for (int kind = 0; kind < cluster_.kinds(); ++kind) {
    const NetworkCosts costs =
        scope_costs(cluster_.type_of_kind(kind), evidence(kind), CollectiveKind::all_to_all);
    least = std::min(least, costs.scale_out_efficiency);
  }
  return least;
}

bool KindNetwork::measures_transfers() const {
  return library_ == CollectiveLibrary::profile &&
         std::ranges::any_of(evidence_, [](const PriceEvidence& evidence) {
           return !evidence.profile->scale_up.collectives.empty() ||
                  !evidence.profile->scale_out.collectives.empty();
         });
}

FlowPlan KindNetwork::transfer(std::span<const std::int32_t> senders,
                               std::span<const std::int32_t> receivers, Bytes message) const {
  std::set<int> kinds;
  add_kinds(cluster_, senders, kinds);
  add_kinds(cluster_, receivers, kinds);
  std::optional<FlowPlan> slowest;
  for (const int kind : kinds) {
    FlowPlan plan = transfer_plan(cluster_, costs(kind), senders, receivers, detail_);
    take_measured_time(plan, cluster_, evidence(kind), message);
    if (!slowest || idle_time(plan, cluster_.topology, message) >
                        idle_time(*slowest, cluster_.topology, message)) {
      slowest = std::move(plan);
    }
  }
  return std::move(*slowest);
}

KindNetwork::Collective KindNetwork::collective(
    CollectiveKind kind, const NamedGroups& groups,
    std::optional<CollectiveAlgorithm> algorithm) const {
  if (known_ == nullptr) return slowest_of_kinds(kind, groups.members(), algorithm);
  const std::string_view asked = algorithm ? algorithm->name : std::string_view();
  return known_->get({library_, detail_, kind, asked, groups.name}, [&] {
    std::optional<Collective> found = mirrored(kind, asked, groups);
    return found ? *found : slowest_of_kinds(kind, groups.members(), algorithm);
  });
}

std::optional<KindNetwork::Collective> KindNetwork::mirrored(CollectiveKind kind,
                                                             std::string_view asked,
                                                             const NamedGroups& groups) const {
  // The slowest of several kinds of nodes may be another one there.
  if (cluster_.kinds() > 1 || library_ == CollectiveLibrary::nccl) return std::nullopt;
  const bool is_gather = kind == CollectiveKind::all_gather;
  if (!is_gather && kind != CollectiveKind::reduce_scatter) return std::nullopt;
  const CollectiveKind other =
      is_gather ? CollectiveKind::reduce_scatter : CollectiveKind::all_gather;
  const Collective* const known = known_->find({library_, detail_, other, asked, groups.name});
  if (known == nullptr) return std::nullopt;
  Collective found = *known;
  found.price = known->price.mirrored();
  return found;
}

KindNetwork::Collective KindNetwork::slowest_of_kinds(
    CollectiveKind kind, const CollectiveGroups& groups,
    std::optional<CollectiveAlgorithm> algorithm) const {
  std::set<int> kinds;
  for (const std::vector<std::int32_t>& members : groups) add_kinds(cluster_, members, kinds);
  std::optional<Collective> slowest;
  for (const int of_node : kinds) {
    Collective found = priced_by(of_node, kind, groups, algorithm);
    if (!slowest ||
        found.price.price(kComparedMessage).time > slowest->price.price(kComparedMessage).time) {
      slowest = std::move(found);
    }
  }
  return std::move(*slowest);
}

KindNetwork::Collective KindNetwork::priced_by(int kind, CollectiveKind collective,
                                               const CollectiveGroups& groups,
                                               std::optional<CollectiveAlgorithm> algorithm) const {
  PricedCollective price(cluster_, evidence(kind), collective, groups, algorithm, detail_);
  const bool overruled = price.ways().empty();  // there is no such algorithm here
  if (overruled) {
    price = PricedCollective(cluster_, evidence(kind), collective, groups, std::nullopt, detail_);
  }
  return {.price = std::move(price), .kind = kind, .overruled = overruled};
}

}  // namespace headway

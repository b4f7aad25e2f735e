#include "sim/programs/exchange_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "sim/jobs/strategy.h"
#include "sim/programs/stage_costs/exchange_plans.h"

namespace headway {
namespace {

/// Ranks of a group, and how far one stands behind the other as ranks of a stage are counted.
struct GroupShape {
  int ranks = 1;
  int stride = 1;
};

GroupShape shape_of(ExchangeKind kind, const Model& model, const Strategy& strategy) {
  switch (kind) {
    case ExchangeKind::tensor:
      return {strategy.tensor_parallel, 1};
    case ExchangeKind::context:
      return {strategy.context_parallel, strategy.tensor_parallel};
    case ExchangeKind::experts:
      return {strategy.expert_parallel, strategy.expert_tensor_parallel};
    case ExchangeKind::expert_slices:
      return {strategy.expert_tensor_parallel, 1};
    case ExchangeKind::tables:
      if (!model.has_tables() || strategy.tables.placement == TablePlacement::replicated) return {};
      return {strategy.data_parallel, strategy.tensor_parallel * strategy.context_parallel};
  }
  return {};
}

}  // namespace

ExchangeLayout::ExchangeLayout(const Model& model, const Strategy& strategy, const Cluster& cluster,
                               const Placement& placement, KnownStandings* known)
    : model_(model),
      strategy_(strategy),
      cluster_(cluster),
      placement_(placement),
      stages_(strategy.pipeline_parallel) {
  if (known == nullptr) {
    standings_ = std::make_shared<const GroupStandings>(standings());
    return;
  }
  std::shared_ptr<const GroupStandings>& found = (*known)[shape()];
  if (found == nullptr) found = std::make_shared<const GroupStandings>(standings());
  standings_ = found;
}

std::vector<int> ExchangeLayout::shape() const {
  std::vector<int> shape{strategy_.tensor_parallel, strategy_.context_parallel,
                         strategy_.data_parallel, strategy_.pipeline_parallel};
  for (const ExchangeKind kind : kAllExchanges) {
    const GroupShape of_kind = shape_of(kind, model_, strategy_);
    shape.push_back(of_kind.ranks);
    shape.push_back(of_kind.stride);
  }
  for (const ParallelDimension dimension : placement_.order)
    shape.push_back(static_cast<int>(dimension));
  return shape;
}

GroupStandings ExchangeLayout::standings() const {
  GroupStandings standings;
  ByExchange<Places> places;
  for (const ExchangeKind kind : kAllExchanges) {
    places[kind] = places_of(kind);
    if (places[kind].any_crosses()) {
      standings.together = std::max(standings.together, replicas_of(kind));
    }
  }
  using Key = std::pair<ByExchange<std::size_t>, std::vector<int>>;  // numbers of places, and kinds
  std::map<Key, std::size_t> known;
  for (int replica = 0; replica < strategy_.data_parallel; ++replica) {
    for (int stage = 0; stage < stages_; ++stage) {
      Key key{{}, kinds_of(replica, stage)};
      for (const ExchangeKind kind : kAllExchanges) {
        key.first[kind] = places[kind].number_of[index(replica, stage)];
      }
      const auto [entry, is_new] = known.try_emplace(std::move(key), standings.classes.size());
      standings.class_of.push_back(entry->second);
      if (!is_new) continue;
      GroupClass& added = standings.classes.emplace_back();
      added.kinds = entry->first.second;
      for (const ExchangeKind kind : kAllExchanges) {
        added.places[kind] = places[kind].different[entry->first.first[kind]];
      }
    }
  }
  return standings;
}

std::vector<int> ExchangeLayout::kinds_of(int replica, int stage) const {
  if (cluster_.kinds() == 1) return {0};
  std::set<int> kinds;
  for (const std::int32_t accelerator : ranks_of(stage, replica, 1)) {
    kinds.insert(cluster_.kind_of(accelerator));
  }
  return {kinds.begin(), kinds.end()};
}

ExchangeLayout::Members ExchangeLayout::ranks_of(int stage, int first_replica, int replicas) const {
  Members ranks;
  for (int d = first_replica; d < first_replica + replicas; ++d) {
    for (int c = 0; c < strategy_.context_parallel; ++c) {
      for (int t = 0; t < strategy_.tensor_parallel; ++t) {
        ranks.push_back(placement_.accelerator(t, c, d, stage));
      }
    }
  }
  return ranks;
}

std::vector<ExchangeLayout::Members> ExchangeLayout::groups_of(ExchangeKind kind,
                                                               const Members& ranks) const {
  const GroupShape shape = shape_of(kind, model_, strategy_);
  const auto stride = static_cast<std::size_t>(shape.stride);
  const std::size_t block = static_cast<std::size_t>(shape.ranks) * stride;
  std::vector<Members> groups;
  for (std::size_t first = 0; first + block <= ranks.size(); first += block) {
    for (std::size_t offset = 0; offset < stride; ++offset) {
      Members& members = groups.emplace_back();
      for (std::size_t i = offset; i < block; i += stride) members.push_back(ranks[first + i]);
    }
  }
  return groups;
}

int ExchangeLayout::replicas_of(ExchangeKind kind) const {
  const GroupShape shape = shape_of(kind, model_, strategy_);
  const int of_replica = strategy_.tensor_parallel * strategy_.context_parallel;
  return std::lcm(shape.ranks * shape.stride, of_replica) / of_replica;
}

bool ExchangeLayout::Places::any_crosses() const {
  return std::ranges::any_of(different, &GroupPlace::crosses);
}

ExchangeLayout::Places ExchangeLayout::places_of(ExchangeKind kind) const {
  Places places;
  places.number_of.resize(static_cast<std::size_t>(strategy_.data_parallel) *
                          static_cast<std::size_t>(stages_));
  if (shape_of(kind, model_, strategy_).ranks == 1) {
    places.different.emplace_back();
    return places;
  }
  const int replicas = replicas_of(kind);
  // From a first rank on, others stand the same steps apart whatever stage and replica it is of: of
  // domains that are equal parts of a row, its place in its domain tells how all of them stand.
  std::map<int, std::size_t> known;
  for (int stage = 0; stage < stages_; ++stage) {
    for (int first = 0; first < strategy_.data_parallel; first += replicas) {
      const int start = placement_.accelerator(0, 0, first, stage);
      const int place_of_start =
          cluster_.domain_of_node.empty() ? start % cluster_.scale_up_domain : start;
      const auto [entry, is_new] = known.try_emplace(place_of_start);
      if (is_new) {
        const GroupPlace slowest = slowest_place(kind, ranks_of(stage, first, replicas));
        const auto found = std::ranges::find(places.different, slowest);
        entry->second = static_cast<std::size_t>(found - places.different.begin());
        if (found == places.different.end()) places.different.push_back(slowest);
      }
      for (int replica = first; replica < first + replicas; ++replica) {
        places.number_of[index(replica, stage)] = entry->second;
      }
    }
  }
  return places;
}

GroupPlace ExchangeLayout::slowest_place(ExchangeKind kind, const Members& ranks) const {
  GroupPlace slowest;
  for (const Members& members : groups_of(kind, ranks)) {
    GroupPlace place = place_of_group(cluster_, members);
    if (slowest.ranks() == 1 || is_slower_place(place, slowest)) slowest = std::move(place);
  }
  return slowest;
}

std::vector<int> ExchangeLayout::distinct_replicas() const {
  using Sort = std::vector<std::size_t>;  // classes of a replica's stages
  const int together = standings_->together;
  std::vector<int> distinct;
  std::set<std::set<Sort>> known;
  for (int first = 0; first < strategy_.data_parallel; first += together) {
    std::set<Sort> sorts;
    std::vector<int> one_of_each;
    for (int replica = first; replica < first + together; ++replica) {
      const auto begin =
          standings_->class_of.begin() + static_cast<std::ptrdiff_t>(index(replica, 0));
      if (sorts.emplace(begin, begin + stages_).second) one_of_each.push_back(replica);
    }
    if (!known.insert(std::move(sorts)).second) continue;
    distinct.insert(distinct.end(), one_of_each.begin(), one_of_each.end());
  }
  return distinct;
}

void ExchangeLayout::add_communicators(Workload& workload, const NamesOf& names_of,
                                       PlanDetail detail) const {
  for (const ExchangeKind kind : kAllExchanges) {
    const int replicas = replicas_of(kind);
    for (int stage = 0; stage < stages_; ++stage) {
      for (int first = 0; first < strategy_.data_parallel; first += replicas) {
        if (!classes()[class_of(first, stage)].places[kind].crosses()) continue;
        add_communicator(kind, stage, first, workload, names_of, detail);
      }
    }
  }
}

void ExchangeLayout::add_communicator(ExchangeKind kind, int stage, int first_replica,
                                      Workload& workload, const NamesOf& names_of,
                                      PlanDetail detail) const {
  const int replicas = replicas_of(kind);
  const auto id = static_cast<std::int32_t>(workload.communicators.size());
  bool is_used = false;
  for (int replica = first_replica; replica < first_replica + replicas; ++replica) {
    Names* const names = names_of(replica, stage);
    if (names == nullptr) continue;
    names->insert_or_assign(communicator_of(kind), id);
    is_used = true;
  }
  if (!is_used) return;
  FlowPlan plan{.links = {}, .latency = Seconds(0.0), .crosses_fabric = true};
  if (detail == PlanDetail::fabric) {
    const std::vector<Members> exchanging =
        groups_of(kind, ranks_of(stage, first_replica, replicas));
    plan = exchange_plan(kind, model_, strategy_, cluster_, exchanging);
  }
  workload.communicators.push_back(
      {.name = fmt::format("{}, stage {}", communicator_of(kind), stage),
       .kind = CollectiveKind::all_to_all,
       .members = replicas,
       .plan = static_cast<std::int32_t>(workload.plans.size()),
       .cause = cause_of(kind)});
  workload.plans.push_back(std::move(plan));
}

}  // namespace headway

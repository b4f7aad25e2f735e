#include "sim/programs/stage_costs/group_place.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "sim/jobs/strategy.h"

namespace headway {
namespace {

/// Equal parts in as few domains as can be, of which none holds more than `most` of the group.
GroupPlace even_place(int ranks, int most) {
  const int domains = (ranks + most - 1) / most;
  GroupPlace place{.members = std::vector<int>(static_cast<std::size_t>(domains), ranks / domains)};
  for (int i = 0; i < ranks % domains; ++i) ++place.members[static_cast<std::size_t>(i)];
  return place;
}

/// The most of the ranks that stand `stride` apart which are in one domain.
int most_in_domain(const Cluster& cluster, int stride) {
  return (cluster.scale_up_domain + stride - 1) / stride;
}

int degree_of(const Strategy& strategy, ParallelDimension dimension) {
  switch (dimension) {
    case ParallelDimension::tensor:
      return strategy.tensor_parallel;
    case ParallelDimension::context:
      return strategy.context_parallel;
    case ParallelDimension::data:
      return strategy.data_parallel;
    case ParallelDimension::pipeline:
      return strategy.pipeline_parallel;
  }
  return 1;
}

/// Ranks from one member of such a group to the next.
int stride_of(const Strategy& strategy, std::span<const ParallelDimension> order,
              ParallelDimension wanted) {
  int stride = 1;
  for (const ParallelDimension dimension : order) {
    if (dimension == wanted) break;
    stride *= degree_of(strategy, dimension);
  }
  return stride;
}

}  // namespace

int GroupPlace::ranks() const { return std::accumulate(members.begin(), members.end(), 0); }

GroupPlace place_of_group(const Cluster& cluster, std::span<const std::int32_t> accelerators) {
  thread_local std::vector<int> domains;
  domains.clear();
  for (const std::int32_t each : accelerators) domains.push_back(cluster.domain_of(each));
  std::ranges::sort(domains);
  GroupPlace place{.members = {}};
  for (std::size_t i = 0; i < domains.size(); ++i) {
    if (i == 0 || domains[i] != domains[i - 1]) place.members.push_back(0);
    ++place.members.back();
  }
  std::ranges::sort(place.members, std::greater());
  return place;
}

bool is_slower_place(const GroupPlace& a, const GroupPlace& b) {
  if (a.crosses() != b.crosses()) return a.crosses();
  if (a.fewest() != b.fewest()) return a.fewest() < b.fewest();
  return a.members.size() > b.members.size();
}

ExchangePlaces best_places(const Strategy& strategy, const Cluster& cluster,
                           std::span<const ParallelDimension> order) {
  const auto along = [&](ParallelDimension dimension) {
    const int stride = stride_of(strategy, order, dimension);
    return even_place(degree_of(strategy, dimension), most_in_domain(cluster, stride));
  };
  // Ranks of a stage are counted tensor-parallel ones first; where they do not stand like that,
  // nothing is known of expert groups but their size.
  const bool in_row = std::ranges::is_sorted(order);
  const int slices = strategy.expert_tensor_parallel;
  ExchangePlaces places;
  places[ExchangeKind::tensor] = along(ParallelDimension::tensor);
  places[ExchangeKind::context] = along(ParallelDimension::context);
  places[ExchangeKind::experts] =
      even_place(strategy.expert_parallel, most_in_domain(cluster, in_row ? slices : 1));
  places[ExchangeKind::tables] = along(ParallelDimension::data);
  places[ExchangeKind::expert_slices] = even_place(slices, cluster.scale_up_domain);
  return places;
}

}  // namespace headway

#include "sim/predict/collective/collective_choices.h"

#include <algorithm>
#include <map>

#include "sim/programs/flows/nccl_costs.h"

namespace headway {
namespace {

/// Of the group that spans most domains.
NcclPlace place_of(const Cluster& cluster, const CollectiveQuestion& question) {
  NcclPlace place{.is_rail_local = question.is_rail_local};
  for (const std::vector<std::int32_t>& group : groups_of(question)) {
    std::map<int, int> members;
    for (const std::int32_t rank : group) {
      place.largest_domain = std::max(place.largest_domain, ++members[cluster.domain_of(rank)]);
    }
    place.domains = std::max(place.domains, static_cast<int>(members.size()));
  }
  return place;
}

std::vector<CollectiveChoice> choices_of_nccl(const Cluster& cluster,
                                              const CollectiveQuestion& question) {
  std::vector<CollectiveChoice> choices;
  for (const NcclChoice& choice :
       nccl_choices(cluster.node_type, question.kind, place_of(cluster, question))) {
    if (question.algorithm && *question.algorithm != choice.algorithm) continue;
    choices.push_back({.algorithm = choice.algorithm,
                       .protocol = std::string(protocol_name(choice.protocol)),
                       .costs = choice.costs,
                       .stretch = [choice](Bytes size) { return choice.stretch(size); }});
  }
  return choices;
}

NetworkCosts plain_costs(const Cluster& cluster, const CollectiveQuestion& question) {
  NetworkCosts costs = question.costs == CollectiveCosts::profile
                           ? network_costs(*question.profile)
                           : ideal_network_costs(cluster.node_type);
  costs.is_rail_local = question.is_rail_local;
  return costs;
}

}  // namespace

CollectiveGroups groups_of(const CollectiveQuestion& question) {
  const int size = question.ranks / question.groups;
  CollectiveGroups groups(static_cast<std::size_t>(question.groups));
  for (std::int32_t rank = 0; rank < question.ranks; ++rank) {
    const int group = question.is_interleaved ? rank % question.groups : rank / size;
    groups[static_cast<std::size_t>(group)].push_back(rank);
  }
  return groups;
}

std::vector<CollectiveChoice> collective_choices(const Cluster& cluster,
                                                 const CollectiveQuestion& question) {
  if (question.costs == CollectiveCosts::nccl) return choices_of_nccl(cluster, question);
  std::vector<CollectiveAlgorithm> algorithms{CollectiveAlgorithm::ring, CollectiveAlgorithm::tree};
  // Only some switches can add, and few libraries go by hierarchies: nobody gets that unasked.
  if (question.algorithm) algorithms = {*question.algorithm};
  std::vector<CollectiveChoice> choices;
  for (const CollectiveAlgorithm algorithm : algorithms) {
    if (!has_algorithm(question.kind, algorithm)) continue;
    choices.push_back({.algorithm = algorithm, .costs = plain_costs(cluster, question)});
  }
  return choices;
}

}  // namespace headway

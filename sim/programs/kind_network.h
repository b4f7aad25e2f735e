#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "sim/costs/kind_profiles.h"
#include "sim/network/cluster.h"
#include "sim/programs/flows/collective_price.h"

namespace headway {

class KnownCollectives;

/// Groups that run a collective together, by a name that says who is in them: on one cluster equal
/// names are of equal groups. There may be thousands of members, who are listed when asked for.
struct NamedGroups {
  std::vector<int> name;
  std::function<CollectiveGroups()> members;
};

/// What transfers and collectives cost in a cluster of one or several kinds of nodes: among ranks
/// of one kind as its profile says, among ranks of several as the kind says that makes it slowest.
class KindNetwork {
 public:
  /// What is referred to outlives it. `known`, if there is one, is of this cluster and these
  /// profiles alone.
  KindNetwork(const Cluster& cluster, const KindProfiles& profiles, CollectiveLibrary library,
              PlanDetail detail, KnownCollectives* known = nullptr);

  [[nodiscard]] PlanDetail detail() const { return detail_; }
  [[nodiscard]] const PriceEvidence& evidence(int kind) const {
    return evidence_[static_cast<std::size_t>(kind)];
  }
  /// What transfers between nodes of that kind cost.
  [[nodiscard]] const NetworkCosts& costs(int kind) const {
    return costs_[static_cast<std::size_t>(kind)];
  }
  /// The share of a NIC's rate that software leaves, on the kind of node where it is least.
  [[nodiscard]] double nic_efficiency() const;

  /// Whether what a transfer takes depends on the size of its message beyond its bytes.
  [[nodiscard]] bool measures_transfers() const;
  /// Member i of `senders` sends to member i of `receivers`, messages of that size.
  [[nodiscard]] FlowPlan transfer(std::span<const std::int32_t> senders,
                                  std::span<const std::int32_t> receivers, Bytes message) const;

  struct Collective {
    PricedCollective price;
    int kind = 0;            ///< whose price it is
    bool overruled = false;  ///< the library does not have the algorithm that was asked for
  };
  [[nodiscard]] Collective collective(CollectiveKind kind, const NamedGroups& groups,
                                      std::optional<CollectiveAlgorithm> algorithm) const;

 private:
  /// From what is known of the collective that mirrors it, if anything is.
  [[nodiscard]] std::optional<Collective> mirrored(CollectiveKind kind, std::string_view asked,
                                                   const NamedGroups& groups) const;
  [[nodiscard]] Collective slowest_of_kinds(CollectiveKind kind, const CollectiveGroups& groups,
                                            std::optional<CollectiveAlgorithm> algorithm) const;
  [[nodiscard]] Collective priced_by(int kind, CollectiveKind collective,
                                     const CollectiveGroups& groups,
                                     std::optional<CollectiveAlgorithm> algorithm) const;

  const Cluster& cluster_;
  CollectiveLibrary library_;
  PlanDetail detail_;
  KnownCollectives* known_;
  std::vector<PriceEvidence> evidence_;  ///< by kind
  std::vector<NetworkCosts> costs_;
};

/// Collectives that were laid over a network before: of the strategies that a search compares many
/// stand alike, and what their replicas exchange goes the same ways.
class KnownCollectives {
 public:
  /// `std::vector<int>` is the name of the groups.
  using Key =
      std::tuple<CollectiveLibrary, PlanDetail, CollectiveKind, std::string_view, std::vector<int>>;

  /// What `lay` returns, asked once.
  template <typename Lay>
  const KindNetwork::Collective& get(Key key, const Lay& lay) {
    const auto [found, is_new] = laid_.try_emplace(std::move(key));
    if (is_new) found->second = lay();
    return *found->second;
  }
  /// nullptr if nobody has asked yet.
  [[nodiscard]] const KindNetwork::Collective* find(const Key& key) const {
    const auto found = laid_.find(key);
    return found == laid_.end() ? nullptr : &*found->second;
  }

 private:
  std::map<Key, std::optional<KindNetwork::Collective>> laid_;
};

}  // namespace headway

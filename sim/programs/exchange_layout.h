#pragma once

#include <functional>
#include <map>
#include <string_view>
#include <vector>

#include "sim/jobs/strategy.h"
#include "sim/layers/model.h"
#include "sim/network/cluster.h"
#include "sim/network/placement.h"
#include "sim/programs/flows/flow_plans.h"
#include "sim/programs/stage_costs/group_place.h"
#include "sim/programs/workload.h"

namespace headway {

/// Rank groups that stand alike: the slowest of their groups does, of every kind of exchange, and
/// their nodes are of the same kinds.
struct GroupClass {
  ExchangePlaces places;
  std::vector<int> kinds;  ///< of nodes, ascending

  friend auto operator<=>(const GroupClass&, const GroupClass&) = default;
};

/// Where the ranks stand that exchange inside layers, by rank group (a stage of a replica), and the
/// communicators of those that leave a scale-up domain.
class ExchangeLayout {
 public:
  /// What is referred to outlives the layout.
  ExchangeLayout(const Model& model, const Strategy& strategy, const Cluster& cluster,
                 const Placement& placement);

  [[nodiscard]] const std::vector<GroupClass>& classes() const { return classes_; }
  [[nodiscard]] std::size_t class_of(int replica, int stage) const {
    return class_of_[index(replica, stage)];
  }
  /// One replica of each sort, together with those that wait for it in every pass: enough to know
  /// what the slowest takes.
  [[nodiscard]] std::vector<int> distinct_replicas() const;

  using Names = std::map<std::string_view, std::int32_t>;
  /// Of a replica's stage; nullptr where that is not laid out.
  using NamesOf = std::function<Names*(int replica, int stage)>;
  /// Adds a communicator for each exchange of a rank group that crosses the fabric, or of the rank
  /// groups that share out experts, and tells them which it is by its name.
  void add_communicators(Workload& workload, const NamesOf& names_of, PlanDetail detail) const;

 private:
  using Members = std::vector<std::int32_t>;

  [[nodiscard]] std::size_t index(int replica, int stage) const {
    return static_cast<std::size_t>(replica) * static_cast<std::size_t>(stages_) +
           static_cast<std::size_t>(stage);
  }
  /// The ranks of some replicas' stage, tensor-parallel ones first.
  [[nodiscard]] Members ranks_of(int stage, int first_replica, int replicas) const;
  /// Those of them that exchange with each other.
  [[nodiscard]] std::vector<Members> groups_of(ExchangeKind kind, const Members& ranks) const;
  /// Replicas, in a row, whose groups of this kind are whole.
  [[nodiscard]] int replicas_of(ExchangeKind kind) const;
  /// Of the nodes that a rank group stands in.
  [[nodiscard]] std::vector<int> kinds_of(int replica, int stage) const;
  void place(ExchangeKind kind, std::vector<ExchangePlaces>& places);
  void add_communicator(ExchangeKind kind, int stage, int first_replica, Workload& workload,
                        const NamesOf& names_of, PlanDetail detail) const;

  const Model& model_;
  const Strategy& strategy_;
  const Cluster& cluster_;
  const Placement& placement_;
  int stages_;
  int together_ = 1;  ///< replicas, in a row, that wait for each other in every pass
  std::vector<GroupClass> classes_;
  std::vector<std::size_t> class_of_;  ///< by replica, then stage
};

}  // namespace headway

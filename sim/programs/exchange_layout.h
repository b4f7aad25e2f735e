#pragma once

#include <compare>
#include <functional>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "sim/layers/model.h"
#include "sim/network/cluster.h"
#include "sim/network/placement.h"
#include "sim/programs/flows/flow_plans.h"
#include "sim/programs/stage_costs/group_place.h"
#include "sim/programs/workload.h"

namespace headway {

struct Strategy;

/// Rank groups that stand alike: the slowest of their groups does, of every kind of exchange, and
/// their nodes are of the same kinds.
struct GroupClass {
  ExchangePlaces places;
  std::vector<int> kinds;  ///< of nodes, ascending

  friend auto operator<=>(const GroupClass&, const GroupClass&) = default;
};

/// How the rank groups of a job stand.
struct GroupStandings {
  std::vector<GroupClass> classes;
  std::vector<std::size_t> class_of;  ///< by replica, then stage
  int together = 1;  ///< replicas, in a row, that wait for each other in every pass
};

/// How groups stand, for the jobs of one model on one cluster, by all that these differ in:
/// degrees, the ranks and strides of their exchanges, the order of their ranks. Micro-batches,
/// chunks and what is kept or sharded move nobody.
using KnownStandings = std::map<std::vector<int>, std::shared_ptr<const GroupStandings>>;

/// Where the ranks stand that exchange inside layers, by rank group (a stage of a replica), and the
/// communicators of those that leave a scale-up domain.
class ExchangeLayout {
 public:
  /// What is referred to outlives the layout, but for `known`, where how groups stand is looked up
  /// or left for the next.
  ExchangeLayout(const Model& model, const Strategy& strategy, const Cluster& cluster,
                 const Placement& placement, KnownStandings* known = nullptr);

  [[nodiscard]] const std::vector<GroupClass>& classes() const { return standings_->classes; }
  [[nodiscard]] std::size_t class_of(int replica, int stage) const {
    return standings_->class_of[index(replica, stage)];
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
  /// How the groups of one kind stand.
  struct Places {
    std::vector<GroupPlace> different;   ///< each once
    std::vector<std::size_t> number_of;  ///< by rank group, among these: that of its slowest group

    [[nodiscard]] bool any_crosses() const;
  };

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
  /// The kinds of the nodes that a rank group stands in.
  [[nodiscard]] std::vector<int> kinds_of(int replica, int stage) const;
  [[nodiscard]] GroupStandings standings() const;
  [[nodiscard]] std::vector<int> shape() const;
  [[nodiscard]] Places places_of(ExchangeKind kind) const;
  /// Where the slowest of the groups of these ranks stands.
  [[nodiscard]] GroupPlace slowest_place(ExchangeKind kind, const Members& ranks) const;
  void add_communicator(ExchangeKind kind, int stage, int first_replica, Workload& workload,
                        const NamesOf& names_of, PlanDetail detail) const;

  const Model& model_;
  const Strategy& strategy_;
  const Cluster& cluster_;
  const Placement& placement_;
  int stages_;
  std::shared_ptr<const GroupStandings> standings_;
};

}  // namespace headway

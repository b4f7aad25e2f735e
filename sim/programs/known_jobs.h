#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "sim/jobs/strategy.h"
#include "sim/programs/exchange_layout.h"
#include "sim/programs/group_costs.h"
#include "sim/programs/kind_network.h"
#include "sim/programs/layout/job_layout.h"
#include "sim/programs/pipeline/pass_order.h"

namespace headway {

/// Costs of rank groups, by all that they depend on: how the groups stand, and of a strategy
/// everything but how a model is cut into stages and chunks and how states are shared out.
class KnownCosts {
 public:
  using Costs = std::shared_ptr<const std::vector<GroupCosts>>;

  [[nodiscard]] Costs of(const Model& model, const Strategy& strategy,
                         const std::vector<GroupClass>& classes,
                         const std::function<std::vector<GroupCosts>()>& work_out);

 private:
  struct Known {
    Strategy strategy;
    std::vector<GroupClass> classes;
    Costs costs;
  };
  std::map<std::tuple<int, int, int, std::int64_t, Recompute>, std::vector<Known>> known_;
};

/// Layouts of jobs, by all that they depend on: a strategy but for its micro-batches and what
/// passes do, and the size of what stages hand on, where that tells how fast it travels.
class KnownLayouts {
 public:
  using Layout = std::shared_ptr<const JobLayout>;

  [[nodiscard]] Layout of(const JobShape& job, const Placement& placement,
                          const KindNetwork& network, std::optional<CollectiveAlgorithm> algorithm,
                          const std::function<JobLayout()>& lay_out);

 private:
  struct Known {
    Strategy strategy;
    Placement placement;
    PlanDetail detail = PlanDetail::fabric;
    std::optional<CollectiveAlgorithm> algorithm;
    Bytes message;
    Layout layout;
  };
  std::map<std::tuple<int, int, int, int, Sharding>, std::vector<Known>> known_;
};

/// What jobs of one model on one cluster, with the same profiles, have in common, worked out once:
/// of the strategies that a search compares many stand alike, cost alike or take their passes in
/// the same order.
struct KnownJobs {
  KnownCollectives collectives;
  KnownStandings standings;
  KnownOrders orders;
  KnownCosts costs;
  KnownLayouts layouts;
};

}  // namespace headway

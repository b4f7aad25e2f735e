#pragma once

#include <map>
#include <memory>
#include <tuple>
#include <utility>
#include <vector>

#include "sim/jobs/strategy.h"
#include "sim/plan/strategy_space.h"
#include "sim/programs/stage_costs/stage_cost.h"

namespace headway {

/// A time that no iteration of a strategy can be below in the closed form (closed_form.h), in a
/// microsecond or so each: what layers cost is worked out once for all strategies that split them
/// alike, and kept as sums over the model's layers.
///
/// With m micro-batches, f and b the times of forward and backward passes (b without the gradients
/// of weights where the schedule puts them off), a stage s cannot be through before
///
///     fill(s) + m (sum of f and b of its chunks) + drain(s) + step(0)
///
/// fill(s) being the first micro-batch's forward passes on the way to the stage, drain(s) the last
/// one's backward passes from there to stage 0, and step(0) the optimizer's update there. The
/// bound is the largest of all stages. For equal stages it is the (p - 1 + m)(f + b) of 1F1B and
/// the m (f + b) + (p - 1)(f + b) / v of interleaving (Narayanan et al. 2021, section 2.2); what it
/// leaves out is all communication, the bubbles that schedules cannot help beyond these, and ranks
/// that wait for each other. Perturbations stretch it as they do the closed form; a listed slow
/// accelerator stretches what its stage computes itself.
class TimeBound {
 public:
  explicit TimeBound(const StrategySpace& space);
  ~TimeBound();
  TimeBound(const TimeBound&) = delete;
  TimeBound& operator=(const TimeBound&) = delete;

  [[nodiscard]] Seconds of(const StrategyChoice& choice);

  /// What the bound of no strategy is below that has these degrees, this micro-batch and this
  /// recomputation, whatever its schedule, its virtual stages and its sharding. The busiest of p
  /// stages has no less to do than the average one:
  ///
  ///     m (sum of f and b of the whole model) / p + step(0)
  [[nodiscard]] Seconds of_any_pipeline(const StrategyChoice& choice);

 private:
  struct LayerCosts;
  struct LayerSums;
  struct Cut;
  /// Over the chunks before each position, in the order of the model.
  struct ChunkSums {
    std::vector<double> forward;  ///< passes
    std::vector<double> awaited;  ///< backward passes that the next chunk waits for
    std::vector<double> weight;   ///< no sum: gradients of weights of each, where they are put off
  };
  /// Of the chunks of `choice`, into `chunk_sums_`.
  void sum_up_chunks(const StrategyChoice& choice, const LayerSums& sums, const Cut& cut);
  [[nodiscard]] Seconds bound_of(const StrategyChoice& choice);
  /// What layers cost, by kind of node.
  [[nodiscard]] const std::vector<LayerCosts>& costs(const StrategyChoice& choice);
  [[nodiscard]] const LayerSums& sums(const StrategyChoice& choice);
  [[nodiscard]] LayerCosts costs_on(const StrategyChoice& choice, int kind_of_node) const;
  [[nodiscard]] const Cut& cut(const StrategyChoice& choice);
  [[nodiscard]] double micro_batches(const StrategyChoice& choice) const;

  const StrategySpace& space_;
  Strategy recomputing_;  ///< the scenario's, with the recomputation that was asked for last
  std::pair<StrategyChoice, Seconds> last_{{.micro_batch = 0}, Seconds(0.0)};  ///< of nobody yet
  std::vector<std::size_t> kind_of_layer_;
  /// By tensor-, context- and expert-parallel degree, micro-batch, recomputation and whether
  /// collectives of backward passes overlap, and in an order of ranks of its own by data- and
  /// pipeline-parallel degree: with the degrees all that `stage_cost` looks at.
  using Costed = std::tuple<int, int, int, std::int64_t, Recompute, bool, int, int>;
  std::map<Costed, std::vector<LayerCosts>> costs_;
  /// Sums over the layers of the costs that were asked for last: there may be thousands of layers
  /// of a few kinds.
  std::unique_ptr<LayerSums> sums_;
  const std::vector<LayerCosts>* sums_are_of_ = nullptr;
  ChunkSums chunk_sums_;  ///< of the strategy at hand
  /// By stages, virtual stages and schedule.
  std::map<std::tuple<int, int, const Schedule*>, std::unique_ptr<Cut>> cuts_;
};

}  // namespace headway

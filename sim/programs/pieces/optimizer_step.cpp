#include "sim/programs/pieces/optimizer_step.h"

#include <algorithm>
#include <cmath>

#include "sim/jobs/rank_shape_of.h"
#include "sim/jobs/shard_groups.h"
#include "sim/layers/parameters.h"

namespace headway {
namespace {

/// The share of `matrices` that the fullest of the ranks which share them out has to do with.
double touched(const Strategy& strategy, double matrices, int ranks) {
  if (strategy.sharding == Sharding::none || matrices == 0.0) return 1.0;
  const double each = matrices / ranks;
  const double most = shards_optimizer_by_tensors(strategy) ? std::ceil(each) : each + 1.0;
  return std::min(1.0, most / matrices);
}

}  // namespace

StepWork& StepWork::operator+=(const StepWork& other) {
  trained += other.trained;
  ends += other.ends;
  experts += other.experts;
  matrices += other.matrices;
  expert_matrices += other.expert_matrices;
  orthogonal += other.orthogonal;
  return *this;
}

StepWork step_work(const JobShape& job, const Piece& piece) {
  StepWork work{.trained = piece.trained,
                .experts = piece.expert_parameters,
                .matrices = piece.matrices,
                .expert_matrices = piece.expert_matrices};
  if (!trains_adapters(*job.strategy)) work.ends = parameters_of_ends(job, piece);
  work.orthogonal = orthogonal_time(job, piece);
  if (piece.embedding) work.matrices -= parameter_matrices(job.model->first).shared;
  if (piece.head) work.matrices -= parameter_matrices(job.model->last).shared;
  return work;
}

TimeByCause step_time(const JobShape& job, const StepWork& work) {
  const Strategy& strategy = *job.strategy;
  // A state is shared out from this sharding on.
  const auto part_from = [&](Sharding least, double parameters, double expert_parameters) {
    if (strategy.sharding < least) return parameters + expert_parameters;
    return parameters / strategy.shard_ranks() + expert_parameters / strategy.expert_replicas();
  };
  const double at_ends = job.end_seconds_per_parameter - job.optimizer_seconds_per_parameter;
  TimeByCause time;
  time[Cause::optimizer] = Seconds(part_from(Sharding::optimizer, work.trained, work.experts) *
                                       job.optimizer_seconds_per_parameter +
                                   part_from(Sharding::gradients, work.trained, work.experts) *
                                       job.norm_seconds_per_parameter +
                                   part_from(Sharding::optimizer, work.ends, 0.0) * at_ends);
  time[Cause::optimizer] +=
      touched(strategy, work.matrices, strategy.shard_ranks()) * work.orthogonal.shared +
      touched(strategy, work.expert_matrices, strategy.expert_replicas()) * work.orthogonal.experts;
  time[Cause::other] = job.cost.step_overhead;
  return time;
}

bool gathers_momenta(const Strategy& strategy) {
  return strategy.optimizer->orthogonalises && strategy.sharding != Sharding::none &&
         !shards_optimizer_by_tensors(strategy);
}

}  // namespace headway

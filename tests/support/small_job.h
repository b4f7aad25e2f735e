#pragma once

#include <map>
#include <string_view>

#include "sim/jobs/schedules/layer_placement.h"
#include "sim/models/transformer/transformer_layers.h"
#include "sim/programs/pieces/replica_messages.h"
#include "sim/programs/stage_program.h"
#include "sim/programs/workload.h"

namespace headway {

/// A model whose layers have 1,000 parameters each:
/// qkv 10 x 30, projection 10 x 10, MLP 2 x 10 x 29, two norms of 10.
inline TransformerModel thousand_parameter_fields(int layers, int vocabulary = 1) {
  return {.name = "small",
          .layers = layers,
          .hidden = 10,
          .attention_heads = 1,
          .kv_heads = 1,
          .head_size = 10,
          .ffn_hidden = 29,
          .vocabulary = vocabulary,
          .normalization = Normalization::rms_norm,
          .position_encoding = PositionEncoding::none,
          .qkv_bias = false,
          .projection_bias = false,
          .mlp_bias = false};
}
inline Model thousand_parameter_layers(int layers, int vocabulary = 1) {
  return layers_of(thousand_parameter_fields(layers, vocabulary));
}

/// A job of which every number is set by hand: a layer takes 1 s forward and 2 s backward, nothing
/// else takes time, transfers and collectives as little as their plans say.
struct SmallJob {
  Model model;
  Strategy strategy;
  StageCost cost;
  double never_hidden = 0.0;
  double interference = 0.0;
  FlowPlan transfer;  ///< of every pair of stages; without links nobody contends
  FlowPlan reduce;    ///< of every stage, each has its own
  FlowPlan gather;
  FlowPlan copies;  ///< between copies of sharded parameters
  FlowPlan embedding;

  explicit SmallJob(int layers, int vocabulary = 1)
      : model(thousand_parameter_layers(layers, vocabulary)) {
    cost.layers.resize(1);
    cost.layers[0].forward[Cause::compute] = 1_s;
    cost.layers[0].backward[Cause::compute] = 2_s;
  }

  /// Of a ring, whose flow goes along the plan.
  [[nodiscard]] static PricedCollective price(CollectiveKind kind, int ranks,
                                              const FlowPlan& plan) {
    return {kind, CollectiveAlgorithm::ring, ranks, plan, 1.0 / plan.rate_cap.count()};
  }

  void set_micro_batches(int count) { strategy.global_batch = count * strategy.data_parallel; }

  [[nodiscard]] JobShape shape() const {
    JobShape job{.model = &model,
                 .strategy = &strategy,
                 .cost = cost,
                 .layers_of_chunk = layers_of_chunks(strategy, model.layer_count()),
                 .never_hidden = never_hidden,
                 .interference = interference};
    const int sharing =
        strategy.sharding == Sharding::full ? strategy.shard_ranks() : strategy.replicas();
    job.prices.emplace(kGradientReduce, price(gradient_collective(strategy), sharing, reduce));
    job.prices.emplace(kParameterGather, price(parameter_collective(strategy), sharing, gather));
    job.prices.emplace(kReplicaReduce, price(CollectiveKind::all_reduce,
                                             strategy.replicas() / strategy.shard_ranks(), copies));
    job.prices.emplace(kTiedEmbedding, price(CollectiveKind::all_reduce, 2, embedding));
    job.prices.emplace(kExpertReduce,
                       price(gradient_collective(strategy), strategy.expert_replicas(), reduce));
    job.prices.emplace(kExpertGather,
                       price(parameter_collective(strategy), strategy.expert_replicas(), gather));
    return job;
  }

  [[nodiscard]] Workload workload() const {
    const int stages = strategy.pipeline_parallel;
    const int replicas = strategy.data_parallel;
    Workload made;
    made.plans = {transfer};
    const auto communicator = [&](std::string name, int members, const FlowPlan& plan) {
      made.plans.push_back(plan);
      made.communicators.push_back({.name = std::move(name),
                                    .members = members,
                                    .plan = static_cast<std::int32_t>(made.plans.size()) - 1});
      return static_cast<std::int32_t>(made.communicators.size()) - 1;
    };
    for (int replica = 0; replica < replicas; ++replica) {
      for (int stage = 0; stage < stages; ++stage) {
        made.groups.push_back({.program = stage,
                               .stage = stage,
                               .replica = replica,
                               .accelerators = {replica * stages + stage},
                               .paths = {0, 0}});
      }
    }
    std::vector<std::map<std::string_view, std::int32_t>> named(made.groups.size());
    const auto join = [&](int replica, int stage, std::string_view name, std::int32_t id) {
      named[static_cast<std::size_t>(replica * stages + stage)][name] = id;
    };
    for (int stage = 0; stage < stages; ++stage) {
      Program program = strategy.sharding == Sharding::full ? sharded_program(shape())
                                                            : pipeline_program(shape(), stage);
      program.message_slots =
          2 * strategy.chunks_of_stage() * static_cast<int>(strategy.micro_batches());
      made.programs.push_back(std::move(program));
      const bool doubled = strategy.schedule->is_doubled();
      const int sharing = doubled ? replicas : strategy.shard_ranks() / strategy.context_parallel;
      for (int first = 0; first < replicas; first += sharing) {
        const int joining = doubled ? 2 * sharing : sharing;
        const auto reduces = communicator("gradient reduce", joining, reduce);
        const auto gathers = communicator("parameter gather", joining, gather);
        for (const std::int32_t id : {reduces, gathers}) {
          made.communicators[static_cast<std::size_t>(id)].queue = reduces;
        }
        for (int replica = first; replica < first + sharing; ++replica) {
          join(replica, stage, kGradientReduce, reduces);
          join(replica, stage, kParameterGather, gathers);
          if (!doubled) continue;
          join(replica, stages - 1 - stage, of_other_copy(kGradientReduce), reduces);
          join(replica, stages - 1 - stage, of_other_copy(kParameterGather), gathers);
        }
      }
      for (int offset = 0; offset < sharing && sharing < replicas; ++offset) {
        const auto sums = communicator("copies", replicas / sharing, copies);
        for (int replica = offset; replica < replicas; replica += sharing) {
          join(replica, stage, kReplicaReduce, sums);
        }
      }
    }
    for (int replica = 0; replica < replicas; ++replica) {
      const auto ties = communicator("tied embedding", 2, embedding);
      join(replica, 0, kTiedEmbedding, ties);
      join(replica, stages - 1, kTiedEmbedding, ties);
    }
    for (std::size_t i = 0; i < made.groups.size(); ++i) {
      const Program& program = made.programs[static_cast<std::size_t>(made.groups[i].program)];
      for (const std::string& name : program.communicators) {
        made.groups[i].communicators.push_back(named[i].at(name));
      }
    }
    return made;
  }
};

/// Two layers whose MLP is four experts of 10 x 5 and 5 x 10 (400 parameters), one a token, on four
/// ranks.
inline SmallJob job_of_experts(int expert_parallel, Sharding sharding) {
  SmallJob job(2);
  TransformerModel fields = thousand_parameter_fields(2);
  fields.mixture_of_experts =
      MixtureOfExperts{.experts = 4, .experts_per_token = 1, .expert_hidden = 5};
  job.model = layers_of(fields);
  job.strategy.data_parallel = 4;
  job.strategy.expert_parallel = expert_parallel;
  job.strategy.sharding = sharding;
  job.set_micro_batches(1);
  return job;
}

/// Bytes of all that a program puts into a communicator.
inline double joined_bytes(const Program& program, std::string_view communicator) {
  double bytes = 0.0;
  const std::int32_t place = program.place_of(communicator);
  for (const Operation& operation : program.operations) {
    if (operation.kind == OperationKind::join && operation.path == place) {
      bytes += operation.amount.count();
    }
  }
  return bytes;
}

}  // namespace headway

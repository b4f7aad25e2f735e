#include <fmt/format.h>

#include <algorithm>

#include "sim/jobs/rules/strategy_problem.h"

namespace headway {
namespace {

std::int64_t whole(double count) { return static_cast<std::int64_t>(count); }

/// Fields that only say something about experts.
void check_use(const StrategyToCheck& input) {
  const Strategy& strategy = input.strategy;
  const struct {
    std::string_view field;
    bool is_set;
  } fields[] = {
      {"expert_parallel", strategy.expert_parallel > 1},
      {"expert_tensor_parallel", strategy.expert_tensor_parallel > 1},
      {"overlap_expert_exchange", strategy.overlap_expert_exchange},
      {"expert_capacity_factor", strategy.expert_capacity_factor > 0.0},
      {"expert_imbalance", strategy.expert_imbalance > 1.0},
  };
  for (const auto& [field, is_set] : fields) {
    if (!is_set || !input.sound({field})) continue;
    Diagnostic problem = strategy_problem(input, field, fmt::format("{} needs experts", field),
                                          "the model is dense", "leave it out");
    relate_model(problem, input, "layers", input.model.model.layer_count());
    input.diagnostics.add(std::move(problem));
  }
}

void check_division(const StrategyToCheck& input, std::string_view field, std::int64_t ranks,
                    std::int64_t whole, std::string_view what) {
  if (!input.sound({field}) || whole % ranks == 0) return;
  Diagnostic problem = strategy_problem(
      input, field, fmt::format("{} must divide {}", field, what),
      fmt::format("{} does not divide {}", ranks, whole),
      nearest_help(ranks, whole, [&](std::int64_t wanted) { return whole % wanted == 0; }));
  relate_model(problem, input, "mixture_of_experts", whole);
  input.diagnostics.add(std::move(problem));
}

/// Experts are split over the ranks that the other degrees give a stage.
void check_folding(const StrategyToCheck& input) {
  const Strategy& strategy = input.strategy;
  if (!input.data_parallel_known ||
      !input.sound({"expert_parallel", "expert_tensor_parallel", "tensor_parallel",
                    "context_parallel", "data_parallel"})) {
    return;
  }
  const std::int64_t ranks =
      std::int64_t{strategy.tensor_parallel} * strategy.context_parallel * strategy.data_parallel;
  const std::int64_t group =
      std::int64_t{strategy.expert_parallel} * strategy.expert_tensor_parallel;
  if (ranks % group == 0) return;
  const auto fits = [&](std::int64_t wanted) {
    return whole(input.model.model.routing()->experts) % wanted == 0 &&
           ranks % (wanted * strategy.expert_tensor_parallel) == 0;
  };
  Diagnostic problem = strategy_problem(
      input, "expert_parallel",
      "expert_parallel x expert_tensor_parallel must divide the ranks of a pipeline stage",
      fmt::format("{} x {} = {} does not divide tensor {} x context {} x data {} = {}",
                  strategy.expert_parallel, strategy.expert_tensor_parallel, group,
                  strategy.tensor_parallel, strategy.context_parallel, strategy.data_parallel,
                  ranks),
      nearest_help(strategy.expert_parallel, ranks, fits));
  relate_strategy(problem, input, "expert_tensor_parallel");
  input.diagnostics.add(std::move(problem));
}

/// Copies of the shards of everything else would cut the replicas of an expert in two ways.
void check_sharding_of_experts(const StrategyToCheck& input) {
  const Strategy& strategy = input.strategy;
  if (strategy.shard_ranks() == strategy.replicas() || !input.sound({"shard_group"})) return;
  input.diagnostics.add(
      strategy_problem(input, "shard_group", "experts are sharded over all their replicas only",
                       fmt::format("groups of {}", strategy.shard_ranks()), "leave it out"));
}

/// The two copies of DualPipe would reduce their experts apart.
void check_schedule(const StrategyToCheck& input) {
  if (input.strategy.schedule != PipelineSchedule::dual_pipe || !input.sound({"schedule"})) return;
  input.diagnostics.add(strategy_problem(input, "schedule",
                                         "schedule \"dualpipe\" is modelled without experts only",
                                         "the model has experts", "use \"1f1b\" or \"zb_v\""));
}

/// Adapters stand beside matrices that every layer has.
void check_adapted_layers(const StrategyToCheck& input) {
  const Model& model = input.model.model;
  const auto& targets = input.strategy.lora_targets;
  const bool is_plain =
      !model.routing() && model.ahead.layers == 0 &&
      std::ranges::all_of(targets, [&](AdapterTarget target) { return model.has_target(target); });
  if (is_plain || input.strategy.task != Task::lora || !input.sound({"task"})) return;
  input.diagnostics.add(strategy_problem(
      input, "task", "adapters are modelled on dense layers with grouped-query attention only",
      "the model has experts, latent attention or multi-token prediction",
      "set task to \"sft\" or \"pretrain\""));
}

/// Every rank routes tokens of its own (Megatron-LM asks for the same).
void check_sequence(const StrategyToCheck& input) {
  const Strategy& strategy = input.strategy;
  if (strategy.tensor_parallel == 1 || strategy.sequence_parallel) return;
  if (!input.sound({"tensor_parallel", "sequence_parallel"})) return;
  Diagnostic problem = strategy_problem(input, "tensor_parallel",
                                        "experts with tensor_parallel need sequence_parallel",
                                        "each rank routes the tokens of its part of the sequence",
                                        "set sequence_parallel to true, or tensor_parallel to 1");
  relate_strategy(problem, input, "sequence_parallel");
  input.diagnostics.add(std::move(problem));
}

void check_routing(const StrategyToCheck& input, const ExpertRouting& routing) {
  const Strategy& strategy = input.strategy;
  const double most = routing.experts / routing.experts_per_token;
  if (strategy.expert_imbalance > most && input.sound({"expert_imbalance"})) {
    Diagnostic problem = strategy_problem(
        input, "expert_imbalance", "the busiest expert cannot get more than every token",
        fmt::format("{:g} times the mean", strategy.expert_imbalance),
        fmt::format("use at most {:g}: {} experts, {} a token", most, routing.experts,
                    routing.experts_per_token));
    input.diagnostics.add(std::move(problem));
  }
  if (strategy.overlap_expert_exchange && strategy.expert_group() == 1 &&
      input.sound({"overlap_expert_exchange", "expert_parallel", "expert_tensor_parallel"})) {
    input.diagnostics.add(strategy_problem(
        input, "overlap_expert_exchange", "overlap_expert_exchange needs expert_parallel",
        "nothing is exchanged", "raise expert_parallel, or leave it out"));
  }
}

}  // namespace

void check_experts(const StrategyToCheck& input) {
  check_adapted_layers(input);
  const ExpertRouting* routing = input.model.model.routing();
  if (routing == nullptr) {
    check_use(input);
    return;
  }
  const Strategy& strategy = input.strategy;
  check_division(input, "expert_parallel", strategy.expert_parallel, whole(routing->experts),
                 "the experts");
  check_division(input, "expert_tensor_parallel", strategy.expert_tensor_parallel,
                 whole(routing->inner), "the hidden size of an expert");
  check_folding(input);
  check_sharding_of_experts(input);
  check_schedule(input);
  check_sequence(input);
  check_routing(input, *routing);
}

}  // namespace headway

#include <fmt/format.h>

#include <algorithm>

#include "sim/jobs/rank_shape_of.h"
#include "sim/jobs/rules/strategy_problem.h"
#include "sim/jobs/schedules/schedule.h"

namespace headway {
namespace {

/// DeepSpeed refuses both too: its pipeline takes ZeRO-1 only.
/// Under a pipeline each micro-batch would gather or reduce every layer of its stage anew, but
/// where parameters stay gathered for the step: gradients then leave with the last micro-batch, as
/// FSDP2 under a pipeline has it (torchtitan, parallelize_llama.py).
void check_sharding(const StrategyToCheck& input) {
  const Strategy& strategy = input.strategy;
  if (!input.sound({"zero_stage", "pipeline_parallel", "reshard_after_forward"})) return;
  if (strategy.sharding < Sharding::gradients || strategy.pipeline_parallel == 1) return;
  const bool is_full = strategy.sharding == Sharding::full;
  if (is_full && !strategy.reshard_after_forward) return;
  Diagnostic problem = strategy_problem(
      input, "zero_stage",
      fmt::format("zero_stage {} does not go with a pipeline{}", is_full ? 3 : 2,
                  is_full ? " where layers give their parameters up" : ""),
      fmt::format("a pipeline of {} stages", strategy.pipeline_parallel),
      is_full ? "set reshard_after_forward to false: each micro-batch would gather every layer of "
                "its stage anew; or use zero_stage 1"
              : "use zero_stage 1: each micro-batch would reduce every layer of its stage anew; or "
                "set pipeline_parallel to 1");
  relate_strategy(problem, input, "pipeline_parallel");
  input.diagnostics.add(std::move(problem));
}

/// What fully sharded stages of a pipeline do not have: copies of their parameters, and those of
/// the opposite stage.
void check_sharded_pipeline(const StrategyToCheck& input) {
  const Strategy& strategy = input.strategy;
  if (strategy.sharding != Sharding::full || strategy.pipeline_parallel == 1) return;
  if (strategy.schedule == PipelineSchedule::dual_pipe && input.sound({"zero_stage", "schedule"})) {
    Diagnostic problem = strategy_problem(
        input, "zero_stage", "zero_stage 3 does not go with the schedule \"dualpipe\"",
        "its stages share parameters with the opposite ones", "use zero_stage 1");
    relate_strategy(problem, input, "schedule");
    input.diagnostics.add(std::move(problem));
  }
  if (!input.data_parallel_known || strategy.shard_group == strategy.replicas() ||
      !input.sound({"shard_group", "data_parallel", "context_parallel", "pipeline_parallel"})) {
    return;
  }
  Diagnostic problem = strategy_problem(
      input, "shard_group", "copies of sharded parameters do not go with a pipeline",
      fmt::format("{} of {} ranks", strategy.shard_group, strategy.replicas()),
      "leave shard_group out");
  relate_strategy(problem, input, "pipeline_parallel");
  input.diagnostics.add(std::move(problem));
}

/// Fields that only fully sharded training has, and what a shard group has to divide.
void check_full_sharding(const StrategyToCheck& input) {
  const Strategy& strategy = input.strategy;
  if (!input.sound({"zero_stage"})) return;
  for (const std::string_view field : {"reshard_after_forward", "shard_group"}) {
    if (strategy.sharding == Sharding::full || !input.object.member(field)) continue;
    Diagnostic problem = strategy_problem(
        input, field, fmt::format("{} needs zero_stage 3", field), "parameters are not sharded",
        fmt::format("set zero_stage to 3, or leave {} out", field));
    relate_strategy(problem, input, "zero_stage");
    input.diagnostics.add(std::move(problem));
  }
  if (strategy.sharding != Sharding::full || !input.data_parallel_known ||
      !input.sound({"shard_group", "data_parallel", "context_parallel"})) {
    return;
  }
  const auto fits = [&](std::int64_t group) {
    return strategy.replicas() % group == 0 && group % strategy.context_parallel == 0;
  };
  if (fits(strategy.shard_group)) return;
  Diagnostic problem = strategy_problem(
      input, "shard_group",
      "shard_group must divide data_parallel x context_parallel and be a multiple of the latter",
      fmt::format("{} of {} x {} = {} ranks", strategy.shard_group, strategy.data_parallel,
                  strategy.context_parallel, strategy.replicas()),
      nearest_help(strategy.shard_group, strategy.replicas(), fits));
  relate_strategy(problem, input, "data_parallel");
  relate_strategy(problem, input, "context_parallel");
  input.diagnostics.add(std::move(problem));
}

void check_sequence_parallel_use(const StrategyToCheck& input) {
  const Strategy& strategy = input.strategy;
  if (!strategy.sequence_parallel || strategy.tensor_parallel > 1) return;
  if (!input.sound({"sequence_parallel", "tensor_parallel"})) return;
  Diagnostic problem = strategy_problem(
      input, "sequence_parallel", "sequence_parallel does nothing without tensor_parallel",
      "tensor_parallel is 1", "leave it out, or raise tensor_parallel");
  problem.severity = Severity::warning;
  input.diagnostics.add(std::move(problem));
}

void check_backward_overlap(const StrategyToCheck& input) {
  constexpr std::string_view kField = "overlap_tensor_parallel_backward";
  const Strategy& strategy = input.strategy;
  if (!strategy.overlap_tensor_parallel_backward || !input.sound({kField})) return;
  const auto report = [&](std::string_view other, std::string_view title, std::string_view label,
                          std::string_view help) {
    if (!input.sound({other})) return;
    Diagnostic problem =
        strategy_problem(input, kField, std::string(title), std::string(label), std::string(help));
    relate_strategy(problem, input, other);
    input.diagnostics.add(std::move(problem));
  };
  if (strategy.tensor_parallel == 1) {
    report("tensor_parallel", "overlap_tensor_parallel_backward needs tensor_parallel above 1",
           "nothing is exchanged", "raise tensor_parallel, or leave it out");
  }
  if (strategy.tensor_parallel_overlap) {
    report("tensor_parallel_overlap",
           "overlap_tensor_parallel_backward and tensor_parallel_overlap exclude each other",
           "tensor_parallel_overlap covers the backward pass too", "leave one of them out");
  }
  if (splits_backward(strategy.schedule)) {
    report("schedule",
           "overlap_tensor_parallel_backward needs a schedule with whole backward passes",
           "here gradients of weights wait for later, and hide nothing",
           "set schedule to \"1f1b\", or leave it out");
  }
}

void check_overlaps(const StrategyToCheck& input) {
  const Strategy& strategy = input.strategy;
  check_backward_overlap(input);
  if (strategy.tensor_parallel_overlap && !strategy.sequence_parallel &&
      input.sound({"tensor_parallel_overlap", "sequence_parallel", "tensor_parallel"})) {
    Diagnostic problem = strategy_problem(
        input, "tensor_parallel_overlap", "tensor_parallel_overlap needs sequence_parallel",
        "an all-reduce does not overlap",
        "set sequence_parallel to true, whose all-gathers and reduce-scatters do overlap, or "
        "tensor_parallel_overlap to false");
    relate_strategy(problem, input, "sequence_parallel");
    input.diagnostics.add(std::move(problem));
  }
  if (strategy.overlap_parameter_gather && strategy.sharding == Sharding::none &&
      input.sound({"overlap_parameter_gather", "zero_stage"})) {
    Diagnostic problem = strategy_problem(
        input, "overlap_parameter_gather", "overlap_parameter_gather needs zero_stage 1, 2 or 3",
        "no parameters are gathered", "set zero_stage to 1, or leave overlap_parameter_gather out");
    relate_strategy(problem, input, "zero_stage");
    input.diagnostics.add(std::move(problem));
  }
}

void check_adapters(const StrategyToCheck& input) {
  if (trains_adapters(input.strategy) || !input.sound({"task"})) return;
  for (const std::string_view field : {"lora_rank", "lora_targets"}) {
    if (!input.object.member(field) || !input.sound({field})) continue;
    Diagnostic problem = strategy_problem(
        input, field, fmt::format("{} needs task \"lora\"", field), "no adapters are trained",
        fmt::format("set task to \"lora\", or leave {} out", field));
    relate_strategy(problem, input, "task");
    input.diagnostics.add(std::move(problem));
  }
}

void check_recompute(const StrategyToCheck& input) {
  const Strategy& strategy = input.strategy;
  if (!input.sound({"recompute"})) return;
  const auto report = [&](std::string_view field, std::string_view mode, std::string_view label) {
    if (!input.object.member(field)) return;
    Diagnostic problem = strategy_problem(
        input, field, fmt::format("{} needs recompute \"{}\"", field, mode), std::string(label),
        fmt::format("set recompute to \"{}\", or leave {} out", mode, field));
    relate_strategy(problem, input, "recompute");
    input.diagnostics.add(std::move(problem));
  };
  if (strategy.recompute != Recompute::full) {
    report("recompute_layers", "full", "no whole layers are recomputed");
  }
  if (strategy.recompute != Recompute::modules) {
    report("recompute_modules", "modules", "no modules are recomputed");
  }
}

/// A module that the model has nothing of.
void check_recompute_modules(const StrategyToCheck& input) {
  if (!input.sound({"recompute_modules"})) return;
  const auto report = [&](RecomputePart part, std::string_view name, std::string_view lack) {
    const auto& named = input.strategy.recompute_modules;
    if (std::ranges::find(named, part) == named.end() || input.model.model.recomputes(part)) return;
    input.diagnostics.add(strategy_problem(
        input, "recompute_modules",
        fmt::format("recompute_modules names {}, but the model has no {}", name, lack), "",
        fmt::format("leave {} out", name)));
  };
  report(RecomputePart::core_attn, "core_attn", "attention");
  report(RecomputePart::layernorm, "layernorm", "layer norms");
  if (!input.model.model.routing()) report(RecomputePart::mlp, "mlp", "MLP");
  report(RecomputePart::mla_up_proj, "mla_up_proj", "latent attention");
  report(RecomputePart::moe, "moe", "mixture of experts");
  report(RecomputePart::moe_act, "moe_act", "mixture of experts");
  report(RecomputePart::shared_experts, "shared_experts", "shared experts");
}

void check_offload(const StrategyToCheck& input) {
  const Strategy& strategy = input.strategy;
  const std::int64_t layers = input.model.model.layer_count();
  if (input.sound({"offload_layers"}) && strategy.offload_layers > layers) {
    input.diagnostics.add(strategy_problem(input, "offload_layers",
                                           "offload_layers are more than the layers of the model",
                                           fmt::format("{} of {}", strategy.offload_layers, layers),
                                           fmt::format("use at most {}", layers)));
  }
  // Megatron-Core refuses it too: what is recomputed is not there to be moved.
  if (strategy.offload_layers == 0 || strategy.recompute == Recompute::none ||
      !input.sound({"offload_layers", "recompute"})) {
    return;
  }
  Diagnostic problem =
      strategy_problem(input, "offload_layers", "offload_layers needs recompute \"none\"",
                       "what is recomputed is not kept anywhere", "leave one of them out");
  relate_strategy(problem, input, "recompute");
  input.diagnostics.add(std::move(problem));
}

void check_optimizer_offload(const StrategyToCheck& input) {
  constexpr std::string_view kField = "overlap_optimizer_offload";
  if (input.strategy.optimizer_offload > 0.0 || !input.object.member(kField) ||
      !input.sound({"optimizer_offload", kField})) {
    return;
  }
  Diagnostic problem =
      strategy_problem(input, kField, "overlap_optimizer_offload needs optimizer_offload above 0",
                       "the accelerators update all parameters",
                       "set optimizer_offload to 1, or leave overlap_optimizer_offload out");
  relate_strategy(problem, input, "optimizer_offload");
  input.diagnostics.add(std::move(problem));
}

/// Packed documents attend to themselves only; unfused attention masks what it has computed.
void check_packing(const StrategyToCheck& input) {
  const Strategy& strategy = input.strategy;
  if (!input.sound({"packed_length", "sequence_length"})) return;
  if (strategy.packed_length > strategy.sequence_length) {
    Diagnostic problem = strategy_problem(
        input, "packed_length", "packed_length is longer than the sequence",
        fmt::format("{} of {} tokens", strategy.packed_length, strategy.sequence_length),
        fmt::format("use at most {}", strategy.sequence_length));
    relate_strategy(problem, input, "sequence_length");
    input.diagnostics.add(std::move(problem));
  } else if (strategy.packed_length < strategy.sequence_length && !strategy.fused_attention &&
             input.sound({"attention"})) {
    Diagnostic problem =
        strategy_problem(input, "packed_length", "packed_length needs attention \"flash\"",
                         "unfused attention works over the whole square and masks the rest",
                         "set attention to \"flash\", or leave packed_length out");
    relate_strategy(problem, input, "attention");
    input.diagnostics.add(std::move(problem));
  }
}

}  // namespace

void check_options(const StrategyToCheck& input) {
  check_sharding(input);
  check_full_sharding(input);
  check_sharded_pipeline(input);
  check_sequence_parallel_use(input);
  check_overlaps(input);
  check_adapters(input);
  check_recompute(input);
  check_recompute_modules(input);
  check_offload(input);
  check_optimizer_offload(input);
  check_packing(input);
}

}  // namespace headway

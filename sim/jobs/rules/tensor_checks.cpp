#include <fmt/format.h>

#include "sim/jobs/rules/strategy_problem.h"

namespace headway {
namespace {

bool divides(std::int64_t part, std::int64_t whole) { return whole % part == 0; }

bool shares_kv_heads(std::int64_t ranks, std::int64_t kv_heads) {
  return divides(ranks, kv_heads) || divides(kv_heads, ranks);
}

/// The first dimension that tensor_parallel does not fit; mending it as the help says mends all.
void check_tensor_parallel(const StrategyToCheck& input) {
  if (!input.sound({"tensor_parallel"})) return;
  const TransformerModel& model = input.model.model;
  const std::int64_t ranks = input.strategy.tensor_parallel;
  const std::int64_t shared =
      model.mixture_of_experts ? model.mixture_of_experts->shared_expert_hidden : 0;
  const auto report = [&](std::string message, std::string label, std::string_view field,
                          std::int64_t value) {
    const auto fits = [&](std::int64_t wanted) {
      return divides(wanted, model.attention_heads) && shares_kv_heads(wanted, model.kv_heads) &&
             divides(wanted, model.hidden) && divides(wanted, model.ffn_hidden) &&
             divides(wanted, shared);
    };
    Diagnostic problem =
        strategy_problem(input, "tensor_parallel", std::move(message), std::move(label),
                         nearest_help(ranks, model.attention_heads, fits));
    relate_model(problem, input, field, value);
    input.diagnostics.add(std::move(problem));
  };
  const auto indivisible = [&](std::int64_t value) {
    return fmt::format("{} does not divide {}", ranks, value);
  };
  if (!divides(ranks, model.attention_heads)) {
    report("tensor_parallel must divide the attention heads", indivisible(model.attention_heads),
           "attention_heads", model.attention_heads);
  } else if (!shares_kv_heads(ranks, model.kv_heads)) {
    report("tensor_parallel must divide the key-value heads or be a multiple of them",
           fmt::format("{} and {} do neither", ranks, model.kv_heads), "kv_heads", model.kv_heads);
  } else if (!divides(ranks, model.hidden)) {
    report("tensor_parallel must divide the hidden size", indivisible(model.hidden), "hidden",
           model.hidden);
  } else if (!divides(ranks, model.ffn_hidden)) {
    report("tensor_parallel must divide the hidden size of the MLP", indivisible(model.ffn_hidden),
           "ffn_hidden", model.ffn_hidden);
  } else if (!divides(ranks, shared)) {
    report("tensor_parallel must divide the hidden size of the shared expert", indivisible(shared),
           "mixture_of_experts", shared);
  }
}

void relate_sequence(Diagnostic& problem, const StrategyToCheck& input) {
  if (input.object.member("sequence_length")) {
    relate_strategy(problem, input, "sequence_length");
  } else {
    relate_model(problem, input, "sequence_length", input.strategy.sequence_length);
  }
}

/// The causal half is balanced by giving each rank one block from either end of the sequence
/// (Llama 3, Grattafiori et al. 2024, section 3.3.2).
void check_ring(const StrategyToCheck& input) {
  const std::int64_t ranks = input.strategy.context_parallel;
  const std::int64_t sequence = input.strategy.sequence_length;
  const auto fits = [&](std::int64_t value) { return value == 1 || divides(2 * value, sequence); };
  if (fits(ranks)) return;
  Diagnostic problem = strategy_problem(
      input, "context_parallel", "twice context_parallel must divide the sequence length",
      fmt::format("2 x {} = {} does not divide {}", ranks, 2 * ranks, sequence),
      nearest_help(ranks, sequence, fits));
  relate_sequence(problem, input);
  input.diagnostics.add(std::move(problem));
}

/// Ranks that swap tokens for heads need whole numbers of both.
void check_swapped_heads(const StrategyToCheck& input) {
  if (!input.sound({"tensor_parallel"})) return;
  const TransformerModel& model = input.model.model;
  const std::int64_t tensor = input.strategy.tensor_parallel;
  const std::int64_t ranks = input.strategy.context_parallel;
  const std::int64_t sequence = input.strategy.sequence_length;
  const auto fits = [&](std::int64_t value) {
    return divides(tensor * value, model.attention_heads) &&
           divides(tensor * value, model.kv_heads) && divides(value, sequence);
  };
  if (fits(ranks)) return;
  Diagnostic problem = strategy_problem(
      input, "context_parallel",
      "context_parallel by all_to_all must divide the heads of a tensor-parallel rank and the "
      "sequence length",
      fmt::format("{} x {} ranks for {} and {} heads, {} tokens", tensor, ranks,
                  model.attention_heads, model.kv_heads, sequence),
      nearest_help(ranks, sequence, fits));
  relate_strategy(problem, input, "context_parallel_method");
  relate_model(problem, input, "kv_heads", model.kv_heads);
  input.diagnostics.add(std::move(problem));
}

void check_context_parallel(const StrategyToCheck& input) {
  if (!input.sound({"context_parallel", "sequence_length", "context_parallel_method"}) ||
      input.strategy.context_parallel == 1) {
    return;
  }
  if (input.strategy.context_parallel_method == ContextParallelMethod::ring) {
    check_ring(input);
  } else {
    check_swapped_heads(input);
  }
}

void check_sequence_parallel(const StrategyToCheck& input) {
  if (!input.strategy.sequence_parallel ||
      !input.sound({"tensor_parallel", "context_parallel", "sequence_length"})) {
    return;
  }
  const std::int64_t tensor = input.strategy.tensor_parallel;
  const std::int64_t context = input.strategy.context_parallel;
  if (divides(tensor * context, input.strategy.sequence_length)) return;
  const std::string_view field =
      input.object.member("sequence_parallel") ? "sequence_parallel" : "tensor_parallel";
  Diagnostic problem = strategy_problem(
      input, field, "sequence_parallel must split the sequence evenly",
      fmt::format("{} tokens over tensor_parallel {} x context_parallel {}",
                  input.strategy.sequence_length, tensor, context),
      "use a sequence length that is a multiple, or set sequence_parallel to false");
  relate_sequence(problem, input);
  input.diagnostics.add(std::move(problem));
}

void check_positions(const StrategyToCheck& input) {
  const TransformerModel& model = input.model.model;
  if (!input.sound({"sequence_length"}) || model.position_encoding != PositionEncoding::learned ||
      input.strategy.sequence_length <= model.sequence_length) {
    return;
  }
  Diagnostic problem = strategy_problem(
      input, "sequence_length", "the sequence is longer than the model's learned positions",
      fmt::format("{} tokens, {} positions", input.strategy.sequence_length, model.sequence_length),
      fmt::format("use at most {}, or raise the model's sequence_length with it",
                  model.sequence_length));
  relate_model(problem, input, "sequence_length", model.sequence_length);
  input.diagnostics.add(std::move(problem));
}

}  // namespace

void check_tensors(const StrategyToCheck& input) {
  check_tensor_parallel(input);
  check_context_parallel(input);
  check_sequence_parallel(input);
  check_positions(input);
}

}  // namespace headway

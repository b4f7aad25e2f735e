#include <fmt/format.h>

#include "sim/jobs/rules/strategy_problem.h"

namespace headway {
namespace {

bool divides(std::int64_t part, std::int64_t whole) { return whole % part == 0; }

/// The first dimension that tensor_parallel does not fit; mending it as the help says mends all.
void check_tensor_parallel(const StrategyToCheck& input) {
  if (!input.sound({"tensor_parallel"})) return;
  const Model& model = input.model.model;
  const std::int64_t ranks = input.strategy.tensor_parallel;
  const TensorLimit* limit = first_indivisible(model, ranks);
  if (limit == nullptr) return;
  const std::string rule = limit->may_share
                               ? fmt::format("divide {} or be a multiple of them", limit->what)
                               : fmt::format("divide {}", limit->what);
  const std::string why = limit->may_share
                              ? fmt::format("{} and {} do neither", ranks, limit->size)
                              : fmt::format("{} does not divide {}", ranks, limit->size);
  Diagnostic problem = strategy_problem(
      input, "tensor_parallel", fmt::format("tensor_parallel must {}", rule), why,
      nearest_help(ranks, model.tensor_limits.front().size, [&](std::int64_t wanted) {
        return first_indivisible(model, wanted) == nullptr;
      }));
  relate_model(problem, input, limit->field, limit->size);
  input.diagnostics.add(std::move(problem));
}

struct Heads {
  std::int64_t all = 1;
  std::int64_t of_keys = 1;
};
Heads heads_of(const Model& model) {
  for (const Layer& layer : model.kinds) {
    if (layer.attention) {
      return {static_cast<std::int64_t>(layer.attention->heads),
              static_cast<std::int64_t>(layer.attention->key_heads)};
    }
  }
  return {};
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
  const std::int64_t tensor = input.strategy.tensor_parallel;
  const std::int64_t ranks = input.strategy.context_parallel;
  const std::int64_t sequence = input.strategy.sequence_length;
  const Heads heads = heads_of(input.model.model);
  const auto fits = [&](std::int64_t value) {
    return divides(tensor * value, heads.all) && divides(tensor * value, heads.of_keys) &&
           divides(value, sequence);
  };
  if (fits(ranks)) return;
  Diagnostic problem = strategy_problem(
      input, "context_parallel",
      "context_parallel by all_to_all must divide the heads of a tensor-parallel rank and the "
      "sequence length",
      fmt::format("{} x {} ranks for {} and {} heads, {} tokens", tensor, ranks, heads.all,
                  heads.of_keys, sequence),
      nearest_help(ranks, sequence, fits));
  relate_strategy(problem, input, "context_parallel_method");
  relate_model(problem, input, "kv_heads", heads.of_keys);
  input.diagnostics.add(std::move(problem));
}

/// Samples that are no sequences cannot be split by position.
void check_sequences(const StrategyToCheck& input) {
  input.diagnostics.add(strategy_problem(
      input, "context_parallel", "context_parallel splits sequences",
      fmt::format("samples of {} have none", input.model.model.name), "leave it out"));
}

void check_context_parallel(const StrategyToCheck& input) {
  if (!input.sound({"context_parallel", "sequence_length", "context_parallel_method"}) ||
      input.strategy.context_parallel == 1) {
    return;
  }
  if (!input.model.model.has_tokens) {
    check_sequences(input);
  } else if (input.strategy.context_parallel_method == ContextParallelMethod::ring) {
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
  const std::optional<std::int64_t> most = input.model.model.most_positions;
  const std::int64_t asked = input.strategy.sequence_length;
  if (!most || asked <= *most || !input.sound({"sequence_length"})) return;
  Diagnostic problem = strategy_problem(
      input, "sequence_length", "the sequence is longer than the model's learned positions",
      fmt::format("{} tokens, {} positions", asked, *most),
      fmt::format("use at most {}, or raise the model's sequence_length with it", *most));
  relate_model(problem, input, "sequence_length", *most);
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

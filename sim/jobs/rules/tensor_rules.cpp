#include <fmt/format.h>

#include "sim/jobs/rules/strategy_rules.h"
#include "sim/jobs/strategy.h"

namespace headway {
namespace {

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

bool is_ring(const Strategy& job) {
  return job.context_parallel_method == ContextParallelMethod::ring;
}

/// The causal half is balanced by giving each rank one block from either end of the sequence
/// (Llama 3, Grattafiori et al. 2024, section 3.3.2).
bool halves_sequence(std::int64_t ranks, std::int64_t sequence) {
  return ranks == 1 || divides(2 * ranks, sequence);
}

/// Ranks that swap tokens for heads need whole numbers of both.
bool swaps_heads(std::int64_t ranks, const Strategy& job, const Model& model) {
  const Heads heads = heads_of(model);
  const std::int64_t splitting = job.tensor_parallel * ranks;
  return divides(splitting, heads.all) && divides(splitting, heads.of_keys) &&
         divides(ranks, job.sequence_length);
}

/// The first dimension that tensor_parallel does not fit; mending it as the help says mends all.
BrokenRule indivisible(Layout job) {
  const Model& model = job.model;
  const std::int64_t ranks = job->tensor_parallel;
  const TensorLimit& limit = *first_indivisible(model, ranks);
  return {.why = limit.may_share ? fmt::format("{} and {} do neither", ranks, limit.size)
                                 : fmt::format("{} does not divide {}", ranks, limit.size),
          .help = nearest_help(
              ranks, model.tensor_limits.front().size,
              [&](std::int64_t wanted) { return first_indivisible(model, wanted) == nullptr; }),
          .title = fmt::format("tensor_parallel must divide {}{}", limit.what,
                               limit.may_share ? " or be a multiple of them" : ""),
          .of_model = {{limit.field, limit.size}}};
}

}  // namespace

std::vector<StrategyRule> tensor_rules() {
  return {
      {.fields = {"tensor_parallel"},
       .words =
           "tensor_parallel must divide the model's attention heads, hidden and ffn_hidden, and "
           "divide kv_heads or be a multiple of them",
       .holds =
           [](Layout job) { return first_indivisible(job.model, job->tensor_parallel) == nullptr; },
       .broken = indivisible},
      // Samples that are no sequences cannot be split by position.
      {.fields = {"context_parallel"},
       .words = "context_parallel splits sequences",
       .holds = [](Layout job) { return job->context_parallel == 1 || job.model.has_positions(); },
       .broken = [](Layout job) -> BrokenRule {
         return {fmt::format("samples of {} have none", job.model.name), "leave it out"};
       }},
      {.fields = {"context_parallel", "sequence_length"},
       .besides = {"context_parallel_method"},
       .words = "twice context_parallel must divide the sequence length",
       .holds =
           [](Layout job) {
             return !job.model.has_positions() || !is_ring(job) ||
                    halves_sequence(job->context_parallel, job->sequence_length);
           },
       .broken = [](Layout job) -> BrokenRule {
         const std::int64_t ranks = job->context_parallel;
         return {
             fmt::format("2 x {} = {} does not divide {}", ranks, 2 * ranks, job->sequence_length),
             nearest_help(ranks, job->sequence_length, [&](std::int64_t wanted) {
               return halves_sequence(wanted, job->sequence_length);
             })};
       }},
      {.fields = {"context_parallel", "context_parallel_method"},
       .besides = {"tensor_parallel", "sequence_length"},
       .words =
           "context_parallel by all_to_all must divide the heads of a tensor-parallel rank and "
           "the sequence length",
       .holds =
           [](Layout job) {
             return job->context_parallel == 1 || !job.model.has_positions() || is_ring(job) ||
                    swaps_heads(job->context_parallel, job, job.model);
           },
       .broken = [](Layout job) -> BrokenRule {
         const Heads heads = heads_of(job.model);
         return {.why = fmt::format("{} x {} ranks for {} and {} heads, {} tokens",
                                    job->tensor_parallel, job->context_parallel, heads.all,
                                    heads.of_keys, job->sequence_length),
                 .help = nearest_help(
                     job->context_parallel, job->sequence_length,
                     [&](std::int64_t wanted) { return swaps_heads(wanted, job, job.model); }),
                 .of_model = {{"kv_heads", heads.of_keys}}};
       }},
      {.fields = {"sequence_parallel", "sequence_length"},
       .besides = {"tensor_parallel", "context_parallel"},
       .words = "sequence_parallel must split the sequence evenly",
       .holds =
           [](Layout job) {
             return !job->sequence_parallel ||
                    divides(std::int64_t{job->tensor_parallel} * job->context_parallel,
                            job->sequence_length);
           },
       .broken = [](Layout job) -> BrokenRule {
         return {fmt::format("{} tokens over tensor_parallel {} x context_parallel {}",
                             job->sequence_length, job->tensor_parallel, job->context_parallel),
                 job.model.has_tokens
                     ? "use a sequence length that is a multiple, or set sequence_parallel to false"
                     : "set sequence_parallel to false"};
       }},
      {.fields = {"sequence_length"},
       .words = "no longer than the model's learned positions",
       .title = "the sequence is longer than the model's learned positions",
       .holds =
           [](Layout job) {
             return job->sequence_length <= job.model.most_positions.value_or(job->sequence_length);
           },
       .broken = [](Layout job) -> BrokenRule {
         const std::int64_t most = *job.model.most_positions;
         return {.why = fmt::format("{} tokens, {} positions", job->sequence_length, most),
                 .help = fmt::format("use at most {}, or raise the model's sequence_length with it",
                                     most),
                 .of_model = {{"sequence_length", most}}};
       }},
  };
}

}  // namespace headway

#include <fmt/format.h>

#include <algorithm>

#include "sim/jobs/rules/strategy_rules.h"
#include "sim/jobs/schedules/schedule.h"
#include "sim/jobs/strategy.h"

namespace headway {
namespace {

std::vector<StrategyRule> overlap_rules() {
  return {
      {.fields = {"sequence_parallel"},
       .besides = {"tensor_parallel"},
       .words = "sequence_parallel does nothing without tensor_parallel",
       .why = "tensor_parallel is 1",
       .help = "leave it out, or raise tensor_parallel",
       .holds = [](Layout job) { return !job->sequence_parallel || job->tensor_parallel > 1; },
       .severity = Severity::warning},
      {.fields = {"overlap_tensor_parallel_backward", "tensor_parallel"},
       .words = "overlap_tensor_parallel_backward needs tensor_parallel above 1",
       .why = "nothing is exchanged",
       .help = "raise tensor_parallel, or leave it out",
       .holds =
           [](Layout job) {
             return !job->overlap_tensor_parallel_backward || job->tensor_parallel > 1;
           }},
      {.fields = {"overlap_tensor_parallel_backward", "tensor_parallel_overlap"},
       .words = "overlap_tensor_parallel_backward and tensor_parallel_overlap exclude each other",
       .why = "tensor_parallel_overlap covers the backward pass too",
       .help = "leave one of them out",
       .holds =
           [](Layout job) {
             return !job->overlap_tensor_parallel_backward || !job->tensor_parallel_overlap;
           }},
      {.fields = {"overlap_tensor_parallel_backward", "schedule"},
       .words = "overlap_tensor_parallel_backward needs a schedule with whole backward passes",
       .why = "here gradients of weights wait for later, and hide nothing",
       .help = "set schedule to \"1f1b\", or leave it out",
       .holds =
           [](Layout job) {
             return !job->overlap_tensor_parallel_backward || !job->schedule->splits_backward;
           }},
      {.fields = {"tensor_parallel_overlap", "sequence_parallel"},
       .besides = {"tensor_parallel"},
       .words = "tensor_parallel_overlap needs sequence_parallel",
       .why = "an all-reduce does not overlap",
       .help = "set sequence_parallel to true, whose all-gathers and reduce-scatters do overlap, "
               "or tensor_parallel_overlap to false",
       .holds = [](Layout job) { return !job->tensor_parallel_overlap || job->sequence_parallel; }},
  };
}

/// What a model without a module lacks.
constexpr Word<RecomputePart> kLacks[] = {{"attention", RecomputePart::core_attn},
                                          {"layer norms", RecomputePart::layernorm},
                                          {"MLP", RecomputePart::mlp},
                                          {"latent attention", RecomputePart::mla_up_proj},
                                          {"mixture of experts", RecomputePart::moe},
                                          {"mixture of experts", RecomputePart::moe_act},
                                          {"shared experts", RecomputePart::shared_experts}};

/// Modules are named where the model has something of them.
template <RecomputePart kPart>
StrategyRule needs_part() {
  return {.fields = {"recompute_modules"},
          .words = "recompute_modules names what the model has",
          .holds =
              [](Layout layout) {
                // A mixture of experts may have layers with an MLP beside those with experts.
                const bool may_have =
                    kPart == RecomputePart::mlp && layout.model.routing() != nullptr;
                return may_have || layout.model.recomputes(kPart) ||
                       std::ranges::find(layout->recompute_modules, kPart) ==
                           layout->recompute_modules.end();
              },
          .broken = [](Layout) -> BrokenRule {
            const std::string_view name = word_of(kPart);
            const auto* const lack = std::ranges::find(kLacks, kPart, &Word<RecomputePart>::second);
            return {.why = "",
                    .help = fmt::format("leave {} out", name),
                    .title = fmt::format("recompute_modules names {}, but the model has no {}",
                                         name, lack->first)};
          }};
}

std::vector<StrategyRule> recompute_rules() {
  return {
      {.fields = {"recompute"},
       .besides = {"recompute_modules"},
       .words = "recompute \"modules\" needs recompute_modules",
       .help = R"(for example "recompute_modules": ["mlp"])",
       .holds =
           [](Layout job) {
             return job->recompute != Recompute::modules || !job->recompute_modules.empty();
           }},
      needs_part<RecomputePart::core_attn>(),
      needs_part<RecomputePart::layernorm>(),
      needs_part<RecomputePart::mlp>(),
      needs_part<RecomputePart::mla_up_proj>(),
      needs_part<RecomputePart::moe>(),
      needs_part<RecomputePart::moe_act>(),
      needs_part<RecomputePart::shared_experts>(),
      {.fields = {"offload_layers"},
       .words = "no more offload_layers than the model has layers",
       .title = "offload_layers are more than the layers of the model",
       .holds = [](Layout job) { return job->offload_layers <= job.model.layer_count(); },
       .broken = [](Layout job) -> BrokenRule {
         return {fmt::format("{} of {}", job->offload_layers, job.model.layer_count()),
                 fmt::format("use at most {}", job.model.layer_count())};
       }},
      // Megatron-Core refuses it too: what is recomputed is not there to be moved.
      {.fields = {"offload_layers", "recompute"},
       .words = "offload_layers needs recompute \"none\"",
       .why = "what is recomputed is not kept anywhere",
       .help = "leave one of them out",
       .holds =
           [](Layout job) {
             return job->offload_layers == 0 || job->recompute == Recompute::none;
           }},
  };
}

/// What is merged, gathered by layers or pushed to servers is not reduced by tensors.
std::vector<StrategyRule> reduction_rules() {
  return {
      {.fields = {"reduce_each_tensor", "gradient_bucket"},
       .words = "reduce_each_tensor needs gradient_bucket 0",
       .why = "what fills a bucket is reduced with it",
       .help = "set gradient_bucket to \"0 B\", or leave it out",
       .holds =
           [](Layout job) {
             return !job->reduce_each_tensor || job->gradient_bucket == Bytes(0.0);
           }},
      {.fields = {"reduce_each_tensor", "zero_stage"},
       .words = "reduce_each_tensor needs zero_stage below 3",
       .why = "fully sharded, a layer is scattered as one",
       .help = "leave one of them out",
       .holds =
           [](Layout job) { return !job->reduce_each_tensor || job->sharding != Sharding::full; }},
      {.fields = {"reduce_each_tensor", "synchronisation"},
       .words = "reduce_each_tensor needs a synchronisation without servers",
       .why = "what is pushed is cut by keys",
       .help = "leave one of them out",
       .holds =
           [](Layout job) {
             return !job->reduce_each_tensor || job->synchronisation->servers() == nullptr;
           }},
  };
}

/// Packed documents attend to themselves only; unfused attention masks what it has computed.
std::vector<StrategyRule> packing_rules() {
  return {
      {.fields = {"packed_length", "sequence_length"},
       .words = "packed_length is at most sequence_length",
       .title = "packed_length is longer than the sequence",
       .holds = [](Layout job) { return job->packed_length <= job->sequence_length; },
       .broken = [](Layout job) -> BrokenRule {
         return {fmt::format("{} of {} tokens", job->packed_length, job->sequence_length),
                 fmt::format("use at most {}", job->sequence_length)};
       }},
      {.fields = {"packed_length", "attention"},
       .besides = {"sequence_length"},
       .words = "packed_length needs attention \"flash\"",
       .why = "unfused attention works over the whole square and masks the rest",
       .help = "set attention to \"flash\", or leave packed_length out",
       .holds =
           [](Layout job) {
             return job->packed_length >= job->sequence_length || job->fused_attention;
           }},
  };
}

}  // namespace

std::vector<StrategyRule> option_rules() {
  std::vector<StrategyRule> rules;
  for (const auto& more :
       {overlap_rules(), recompute_rules(), packing_rules(), reduction_rules()}) {
    rules.insert(rules.end(), more.begin(), more.end());
  }
  return rules;
}

}  // namespace headway

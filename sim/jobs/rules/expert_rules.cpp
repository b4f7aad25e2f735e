#include <fmt/format.h>

#include <algorithm>

#include "sim/jobs/rules/strategy_rules.h"
#include "sim/jobs/strategy.h"

namespace headway {
namespace {

std::int64_t experts_of(const Model& model) {
  return static_cast<std::int64_t>(model.routing()->experts);
}
std::int64_t expert_size_of(const Model& model) {
  return static_cast<std::int64_t>(model.routing()->inner);
}

/// A field that only says something about experts.
StrategyRule needs_experts(std::string_view field, std::string_view words, bool (*holds)(Layout)) {
  return {
      .fields = {field}, .words = words, .holds = holds, .broken = [](Layout job) -> BrokenRule {
        return {.why = "the model is dense",
                .help = "leave it out",
                .of_model = {{"layers", job.model.layer_count()}}};
      }};
}

BrokenRule indivisible(std::int64_t ranks, std::int64_t whole) {
  return {.why = fmt::format("{} does not divide {}", ranks, whole),
          .help = nearest_help(ranks, whole,
                               [&](std::int64_t wanted) { return divides(wanted, whole); }),
          .of_model = {{"mixture_of_experts", whole}}};
}

}  // namespace

std::vector<StrategyRule> expert_rules() {
  return {
      // Adapters stand beside matrices that every layer has.
      {.fields = {"task"},
       .words = "adapters are modelled on dense layers with grouped-query attention only",
       .why = "the model has experts, latent attention, multi-token prediction or other layers",
       .help = "set task to \"sft\" or \"pretrain\"",
       .holds =
           [](Layout job) {
             return job->task != Task::lora ||
                    (!job.model.routing() && job.model.ahead.layers == 0 &&
                     std::ranges::all_of(job->lora_targets, [&](AdapterTarget target) {
                       return job.model.has_target(target);
                     }));
           }},
      needs_experts("expert_parallel", "expert_parallel needs experts",
                    [](Layout job) { return job.model.routing() || job->expert_parallel == 1; }),
      needs_experts(
          "expert_tensor_parallel", "expert_tensor_parallel needs experts",
          [](Layout job) { return job.model.routing() || job->expert_tensor_parallel == 1; }),
      needs_experts(
          "overlap_expert_exchange", "overlap_expert_exchange needs experts",
          [](Layout job) { return job.model.routing() || !job->overlap_expert_exchange; }),
      needs_experts(
          "expert_capacity_factor", "expert_capacity_factor needs experts",
          [](Layout job) { return job.model.routing() || job->expert_capacity_factor == 0.0; }),
      {.fields = {"expert_masks"},
       .besides = {"expert_capacity_factor"},
       .words = "expert_masks needs expert_capacity_factor",
       .why = "without a limit experts have no places that masks could tell",
       .help = "set expert_capacity_factor, to 1.25 for instance, or leave expert_masks out",
       .holds =
           [](Layout job) {
             return job->expert_masks == ExpertMasks::none || job->expert_capacity_factor > 0.0;
           }},
      needs_experts("expert_imbalance", "expert_imbalance needs experts",
                    [](Layout job) { return job.model.routing() || job->expert_imbalance <= 1.0; }),
      needs_experts("expert_precision", "expert_precision needs experts",
                    [](Layout job) { return job.model.routing() || !job->expert_precision; }),
      {.fields = {"expert_parallel"},
       .words = "expert_parallel must divide the experts",
       .holds =
           [](Layout job) {
             return !job.model.routing() || divides(job->expert_parallel, experts_of(job.model));
           },
       .broken =
           [](Layout job) { return indivisible(job->expert_parallel, experts_of(job.model)); }},
      {.fields = {"expert_tensor_parallel"},
       .words = "expert_tensor_parallel must divide the hidden size of an expert",
       .holds =
           [](Layout job) {
             return !job.model.routing() ||
                    divides(job->expert_tensor_parallel, expert_size_of(job.model));
           },
       .broken =
           [](Layout job) {
             return indivisible(job->expert_tensor_parallel, expert_size_of(job.model));
           }},
      // Experts are split over the ranks that the other degrees give a stage.
      {.fields = {"expert_parallel", "expert_tensor_parallel"},
       .besides = {"tensor_parallel", "context_parallel", "data_parallel"},
       .words =
           "expert_parallel x expert_tensor_parallel must divide the ranks of a pipeline stage",
       .holds =
           [](Layout job) {
             return !job.model.routing() || divides(job->expert_group(), job->ranks_of_stage());
           },
       .broken = [](Layout job) -> BrokenRule {
         const std::int64_t ranks = job->ranks_of_stage();
         return {
             fmt::format("{} x {} = {} does not divide tensor {} x context {} x data {} = {}",
                         job->expert_parallel, job->expert_tensor_parallel, job->expert_group(),
                         job->tensor_parallel, job->context_parallel, job->data_parallel, ranks),
             nearest_help(job->expert_parallel, ranks, [&](std::int64_t wanted) {
               return divides(wanted, experts_of(job.model)) &&
                      divides(wanted * job->expert_tensor_parallel, ranks);
             })};
       }},
      // Copies of the shards of everything else would cut the replicas of an expert in two ways.
      {.fields = {"shard_group"},
       .besides = {"data_parallel"},
       .words = "experts are sharded over all their replicas only",
       .holds =
           [](Layout job) { return !job.model.routing() || job->shard_ranks() == job->replicas(); },
       .broken = [](Layout job) -> BrokenRule {
         return {fmt::format("groups of {}", job->shard_ranks()), "leave it out"};
       }},
      // Every rank routes tokens of its own (Megatron-LM asks for the same).
      {.fields = {"tensor_parallel", "sequence_parallel"},
       .words = "experts with tensor_parallel need sequence_parallel",
       .why = "each rank routes the tokens of its part of the sequence",
       .help = "set sequence_parallel to true, or tensor_parallel to 1",
       .holds =
           [](Layout job) {
             return !job.model.routing() || job->tensor_parallel == 1 || job->sequence_parallel;
           }},
      {.fields = {"expert_imbalance"},
       .words = "the busiest expert cannot get more than every token",
       .holds =
           [](Layout job) {
             const ExpertRouting* routing = job.model.routing();
             return !routing ||
                    job->expert_imbalance <= routing->experts / routing->experts_per_token;
           },
       .broken = [](Layout job) -> BrokenRule {
         const ExpertRouting& routing = *job.model.routing();
         return {fmt::format("{:g} times the mean", job->expert_imbalance),
                 fmt::format("use at most {:g}: {} experts, {} a token",
                             routing.experts / routing.experts_per_token, routing.experts,
                             routing.experts_per_token)};
       }},
      {.fields = {"overlap_expert_exchange"},
       .besides = {"expert_parallel", "expert_tensor_parallel"},
       .words = "overlap_expert_exchange needs expert_parallel",
       .why = "nothing is exchanged",
       .help = "raise expert_parallel, or leave it out",
       .holds =
           [](Layout job) {
             return !job.model.routing() || !job->overlap_expert_exchange ||
                    job->expert_group() > 1;
           }},
  };
}

}  // namespace headway

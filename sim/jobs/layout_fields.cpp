// How a job is laid out: degrees, stages, experts, batches.
#include "sim/jobs/schedules/schedule.h"
#include "sim/jobs/strategy_fields.h"
#include "sim/jobs/strategy_members.h"

namespace headway {
namespace {

constexpr Range kSequences = between(1, 10'000'000);

/// What a preset overlaps is nothing where every rank has all experts.
void settle_expert_exchange(Strategy& strategy) {
  strategy.overlap_expert_exchange &= strategy.expert_group() > 1;
}

void settle_expert_masks(Strategy& strategy) {
  if (strategy.expert_capacity_factor == 0.0) strategy.expert_masks = ExpertMasks::none;
}

}  // namespace

std::vector<Field<Strategy>> layout_fields() {
  return {
      {"schema", elsewhere<Strategy>(constant_type(kStrategySchema)),
       R"(Says that a file is a strategy, and of which version.
default: required in a file, optional inside a scenario)"},
      {"preset", elsewhere<Strategy>({"the name of a preset", text_type().schema}),
       R"(What the framework does where no field says otherwise. A preset only sets fields below; `headway
check --resolve` writes them out.
see: headway list presets
default: "none")"},
      {"tensor_parallel", whole(&Strategy::tensor_parallel, kDegree),
       R"(Accelerators that split the matrices of each layer. They exchange activations twice a layer each
way, so they belong inside a scale-up domain.
see: strategy.sequence_parallel; Shoeybi et al. 2019 (arXiv:1909.08053))"},
      {"context_parallel", whole(&Strategy::context_parallel, kDegree),
       R"(Accelerators that split each sequence.
see: strategy.context_parallel_method; Grattafiori et al. 2024 (arXiv:2407.21783), 3.3.2)"},
      {"context_parallel_method", word(&Strategy::context_parallel_method),
       R"(How attention sees the whole sequence. Keys and values go round (ring attention); or ranks swap
their parts of the sequence for whole sequences of some heads, and back (Ulysses).
see: Liu et al. 2023 (arXiv:2310.01889); Jacobs et al. 2023 (arXiv:2309.14509), 3.1)"},
      {"pipeline_parallel", whole(&Strategy::pipeline_parallel, kDegree),
       R"(Pipeline stages: each holds some of the layers.
see: strategy.virtual_stages, strategy.schedule; breakdown_s.pipeline_bubble)"},
      {"data_parallel", whole(&Strategy::data_parallel, kDegree),
       R"(Replicas of the model, each with its part of the batch.
limits: the four degrees multiply to the accelerators of the cluster
see: strategy.zero_stage
default: what the other degrees leave of the cluster)"},
      {"schedule", pipeline_schedule().presettable(),
       R"(The order in which a stage works off micro-batches. One forward, one backward holds fewer
activations; GPipe runs all forward passes first. ZB-H1 and ZB-V split backward passes, so that
gradients of weights fill the bubble; ZB-V's two chunks a stage go there and back. DualPipe has the
model twice and is fed from both ends.
see: Narayanan et al. 2019 (PipeDream); Huang et al. 2019 (arXiv:1811.06965); Qi et al. 2023
(arXiv:2401.10241) and 2024 (arXiv:2405.15362); DeepSeek-V3, 2024 (arXiv:2412.19437), 3.2.1)"},
      {"virtual_stages",
       whole(&Strategy::virtual_stages, between(1, 10'000)).settled([](Strategy& strategy) {
         const Schedule& schedule = *strategy.schedule;
         if (!schedule.interleaves()) strategy.virtual_stages = schedule.chunks;
       }),
       R"(Model chunks of a stage (virtual pipeline). More than 1 is the interleaved schedule: smaller bubbles,
more transfers.
see: Narayanan et al. 2021 (arXiv:2104.04473), 2.2)"},
      {"layers_per_stage",
       wholes(&Strategy::layers_per_stage, between(0, kMostLayers))
           .where([](const Strategy& strategy) { return !strategy.layers_per_stage.empty(); }),
       R"(Layers of every chunk, in the order of the model: of every stage or, with virtual_stages, of every
stage's first chunk, then of its second.
default: as layer_placement says)"},
      {"layer_placement", word(&Strategy::layer_placement).where([](const Strategy& strategy) {
         return strategy.layers_per_stage.empty();
       }),
       R"(Where layers stand when they do not divide by the stages. Evenly, the first stages taking the rest;
or as Megatron does it, embedding, loss and multi-token prediction layers counting as a layer each;
or ceil((layers + 2) / chunks) everywhere but on the last, as it lays out DeepSeek-V3.)"},
      {"expert_parallel", whole(&Strategy::expert_parallel, kDegree),
       R"(Accelerators that share out the experts of a layer. They send tokens to each other, to the experts
and back. They are the tensor-, context- and data-parallel ranks of a stage, in that order.
see: model.mixture_of_experts; breakdown_s.expert_parallel; Liu et al. 2025 (arXiv:2504.14960))"},
      {"expert_tensor_parallel", whole(&Strategy::expert_tensor_parallel, kDegree),
       "Accelerators that split the matrices of each expert."},
      {"expert_dispatch", word(&Strategy::expert_dispatch).presettable(),
       R"(How tokens cross the fabric: a copy for every expert they go to, or one for every scale-up domain
(DeepEP, HybridEP).
see: DeepSeek-AI 2024 (arXiv:2412.19437), 3.2.2)"},
      {"overlap_expert_exchange",
       flag(&Strategy::overlap_expert_exchange).presettable().settled(settle_expert_exchange),
       R"(The exchange of tokens overlaps the compute of other micro-batches.
see: profile.experts.exchange_seen_overlapped)"},
      {"expert_capacity_factor",
       number(&Strategy::expert_capacity_factor, {.least = 0.0, .most = 1e6, .open = true})
           .where([](const Strategy& strategy) { return strategy.expert_capacity_factor > 0.0; }),
       R"(Tokens that an expert accepts, as a multiple of an even routing; the others are dropped. Without a
limit training is dropless.
see: Fedus et al. 2021 (arXiv:2101.03961), 2.2
default: no limit)"},
      {"expert_masks",
       word(&Strategy::expert_masks)
           .presettable()
           .settled(settle_expert_masks)
           .where([](const Strategy& strategy) {
             return strategy.expert_masks != ExpertMasks::none ||
                    strategy.expert_capacity_factor > 0.0;
           }),
       R"(How tokens get to their places on experts that take so many and no more: by their indices; or by
products with one-hot masks, made for each sequence (GShard, MaxText with sparse_matmul=False) or
for the tokens of a micro-batch on a rank (DeepSpeed without Tutel). Products with masks cost 2 x
tokens x places x hidden size each, two forward and three backward, and every place is computed and
sent, taken or not.
see: Lepikhin et al. 2020 (arXiv:2006.16668), 3.2)"},
      {"expert_imbalance", number(&Strategy::expert_imbalance, at_least(1.0)),
       "Tokens of the busiest expert, as a multiple of an even routing. Its rank sets the pace."},
      {"micro_batch", whole(&Strategy::micro_batch, kSequences),
       "Sequences that go through a stage at once."},
      {"global_batch", whole(&Strategy::global_batch, kSequences).required(),
       "Sequences of a training step, over all replicas."},
      {"micro_batches_by_speed", flag(&Strategy::micro_batches_by_speed),
       R"(Replicas that stand on faster accelerators get more micro-batches, so that all end together; else
all get equally many. What perturbations list as slow for the whole run (slow_accelerators, slow_nodes) is
known then; what is drawn or passes is not.
see: cluster.topology.other_nodes; perturbations.slow_accelerators; accelerator_kinds)"},
      {"sequence_length", whole(&Strategy::sequence_length, kTokens), R"(Tokens of a sequence.
see: model.sequence_length
default: the model's)"}};
}

}  // namespace headway

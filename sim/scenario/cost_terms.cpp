#include "sim/scenario/cost_terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <vector>

#include "sim/base/refuse.h"
#include "sim/base/suggestion.h"
#include "sim/base/utf8.h"
#include "sim/programs/stage_costs/exchange_kind.h"

namespace headway {
namespace {

template <Cause cause>
void without_cause(Workload& workload) {
  for (Program& program : workload.programs) {
    for (Block& block : program.blocks) block.time[cause] = Seconds(0.0);
    for (const ExchangeKind kind : kAllExchanges) {
      const std::int32_t place = program.place_of(communicator_of(kind));
      if (cause_of(kind) != cause || place < 0) continue;
      for (Operation& operation : program.operations) {
        if (operation.kind != OperationKind::join || operation.path != place) continue;
        operation.amount = Bytes(0.0);
        operation.at_least = Seconds(0.0);
      }
    }
  }
}

/// Transfers along these plans take no time.
void make_free(Workload& workload, const std::vector<std::int32_t>& plans) {
  for (const std::int32_t plan : plans) {
    workload.plans[static_cast<std::size_t>(plan)] = {
        .links = {},
        .latency = Seconds(0.0),
        .rate_cap = BytesPerSecond(std::numeric_limits<double>::max())};
  }
}

void without_transfers(Workload& workload) {
  for (const RankGroup& group : workload.groups) make_free(workload, group.paths);
}

void without_data_parallel(Workload& workload) {
  // Every plan that is neither a path of a group nor an exchange's is a way of a communicator.
  std::vector<bool> is_other(workload.plans.size(), false);
  for (const RankGroup& group : workload.groups) {
    for (const std::int32_t path : group.paths) is_other[static_cast<std::size_t>(path)] = true;
  }
  for (const Communicator& communicator : workload.communicators) {
    const auto plan = static_cast<std::size_t>(communicator.plan);
    if (is_exchange(communicator)) is_other[plan] = true;
  }
  std::vector<std::int32_t> plans;
  for (std::size_t plan = 0; plan < is_other.size(); ++plan) {
    if (!is_other[plan]) plans.push_back(static_cast<std::int32_t>(plan));
  }
  make_free(workload, plans);
}

/// No stage waits for another: what they send each other is not received.
void without_bubble(Workload& workload) {
  for (Program& program : workload.programs) {
    std::erase_if(program.operations, [](const Operation& operation) {
      return operation.kind == OperationKind::receive;
    });
  }
}

void without_casts(Profile& profile) {
  profile.device.cast_bytes.value = 0.0;
  for (auto& [unused, bytes] : profile.device.recipe_cast_bytes) bytes.value = 0.0;
}

template <Estimate KernelFamily::*member>
void set_families(Profile& profile, double value) {
  for (auto& [unused, family] : profile.kernel_families) (family.*member).value = value;
}

/// Operators that nothing merges are counted in the layers, whatever the family's traffic.
void without_passes(Model& model) {
  for (Layer* end : {&model.first, &model.last}) end->passes.clear();
  for (Layer& kind : model.kinds) kind.passes.clear();
}

void without_ends(Model& model) {
  for (Layer* end : {&model.first, &model.last}) {
    end->products.clear();
    end->passes.clear();
    std::erase_if(end->weights, [](const Weights& weights) {
      return weights.part == Part::embedding || weights.part == Part::positions;
    });
  }
  model.tied = false;
}

constexpr std::array kTerms{
    CostTerm{.name = "product_shapes",
             .about = "Matrix products of all shapes are as fast as large ones.",
             .change_profile =
                 [](Profile& p) {
                   p.device.products.clear();
                   p.device.gemm_quantisation.value = 0.0;
                   p.device.gemm_inner_half.value = 0.0;
                   p.device.gemm_overhead.value = 0.0;
                 }},
    CostTerm{.name = "cold_operands",
             .about = "Matrix products find their operands in the cache.",
             .change_profile = [](Profile& p) { p.device.gemm_cold_operands.value = 0.0; }},
    CostTerm{
        .name = "gradient_accumulation",
        .about = "Adding the gradients of micro-batches up takes no time.",
        .change_profile = [](Profile& p) { p.device.gradient_accumulation_bytes.value = 0.0; }},
    CostTerm{.name = "attention_shape",
             .about =
                 "Fused attention is as fast on short sequences and small heads, and backward, "
                 "as at its best.",
             .change_profile =
                 [](Profile& p) {
                   p.device.attention_sequence_half.value = 0.0;
                   p.device.attention_head_exponent.value = 0.0;
                   p.device.attention_backward.value = 1.0;
                   p.device.attention_context_factor.value = 1.0;
                   for (auto& [unused, kernel] : p.device.attention_kernels) {
                     kernel.sequence_half.value = 0.0;
                     kernel.head_exponent.value = 0.0;
                     kernel.backward.value = 1.0;
                   }
                 }},
    CostTerm{.name = "memory_passes",
             .about = "Norms, activations, residuals and the loss take no time.",
             .change_profile =
                 [](Profile& p) {
                   set_families<&KernelFamily::memory_traffic>(p, 0.0);
                   set_families<&KernelFamily::loss_traffic>(p, 0.0);
                 },
             .change_model = without_passes},
    CostTerm{.name = "kernel_family",
             .about = "All software fuses, attends and reduces gradients equally well.",
             .change_profile =
                 [](Profile& p) {
                   set_families<&KernelFamily::memory_traffic>(p, 1.0);
                   set_families<&KernelFamily::attention_rate>(p, 1.0);
                   p.device.attention_kernels.clear();
                   set_families<&KernelFamily::loss_traffic>(p, 1.0);
                   set_families<&KernelFamily::gradient_traffic>(p, 1.0);
                 }},
    CostTerm{.name = "release",
             .about = "All releases of a software are alike.",
             .change_profile =
                 [](Profile& p) {
                   for (auto& [unused, family] : p.kernel_families) {
                     for (auto& [name, factor] : family.releases) factor.value = 1.0;
                   }
                 }},
    CostTerm{.name = "casts",
             .about = "Quantising the inputs of 8- and 4-bit products is free.",
             .change_profile = without_casts},
    CostTerm{.name = "launch",
             .about = "There is no gap between two kernels.",
             .change_profile = [](Profile& p) { set_families<&KernelFamily::launch_gap>(p, 0.0); }},
    CostTerm{
        .name = "host",
        .about = "The host issues kernels at no cost of time.",
        .change_profile = [](Profile& p) { set_families<&KernelFamily::host_per_layer>(p, 0.0); }},
    CostTerm{.name = "step_overhead",
             .about = "Neither a step nor a micro-batch has a fixed overhead.",
             .change_profile =
                 [](Profile& p) {
                   set_families<&KernelFamily::step_overhead>(p, 0.0);
                   set_families<&KernelFamily::micro_batch_overhead>(p, 0.0);
                 }},
    CostTerm{.name = "head",
             .about = "Embedding, output head and loss take no time.",
             .change_model = without_ends},
    CostTerm{.name = "recompute",
             .about = "Recomputing activations is free.",
             .change_workload = without_cause<Cause::recompute>},
    CostTerm{.name = "tensor_parallel",
             .about = "Tensor-parallel collectives are free.",
             .change_workload = without_cause<Cause::tensor_parallel>},
    CostTerm{.name = "context_parallel",
             .about = "Context-parallel transfers are free.",
             .change_workload = without_cause<Cause::context_parallel>},
    CostTerm{.name = "expert_parallel",
             .about = "Exchanging tokens between experts is free.",
             .change_workload = without_cause<Cause::expert_parallel>},
    CostTerm{.name = "embedding_exchange",
             .about = "Sending pooled rows of tables and their gradients is free.",
             .change_workload = without_cause<Cause::embedding_exchange>},
    CostTerm{.name = "data_parallel",
             .about = "Reducing gradients and gathering parameters is free.",
             .change_profile = [](Profile& p) { p.overlap.sharded_interference.value = 0.0; },
             .change_workload = without_data_parallel},
    CostTerm{.name = "pipeline_transfer",
             .about = "What stages send each other arrives at once.",
             .change_workload = without_transfers},
    CostTerm{.name = "bubble",
             .about = "No pipeline stage waits for another.",
             .change_workload = without_bubble},
    CostTerm{.name = "optimizer",
             .about = "The optimizer step is free.",
             .change_workload = without_cause<Cause::optimizer>},
    CostTerm{.name = "variation",
             .about = "All devices are equal, and so are all runs of an operation.",
             .change_profile =
                 [](Profile& p) {
                   p.variation.device_speed.value = 0.0;
                   p.variation.operation_time.value = 0.0;
                 }},
};

}  // namespace

std::span<const CostTerm> cost_terms() { return kTerms; }

const CostTerm& cost_term_named(std::string_view name) {
  const auto* const found = std::ranges::find(kTerms, name, &CostTerm::name);
  if (found != kTerms.end()) return *found;
  std::vector<std::string_view> names;
  for (const CostTerm& term : kTerms) names.push_back(term.name);
  const auto meant = closest(name, names);
  refuse(fmt::format("the cost model has no term {}", in_quotes(name)),
         meant ? fmt::format("did you mean \"{}\"?", *meant)
               : "`headway explain terms` lists them; \"all\" takes each in turn");
}

Scenario without_term(Scenario scenario, const CostTerm& term) {
  if (term.change_profile != nullptr) {
    // Spreads that the scenario took from the profile follow it.
    Perturbation& drawn = scenario.perturbation;
    const Variation before = scenario.profile->variation;
    scenario.change_profiles(term.change_profile);
    const Variation& after = scenario.profile->variation;
    if (drawn.device_spread == before.device_speed.value) {
      drawn.device_spread = after.device_speed.value;
    }
    if (drawn.jitter.kind == Jitter::Kind::lognormal &&
        drawn.jitter.spread == before.operation_time.value) {
      drawn.jitter.spread = after.operation_time.value;
    }
  }
  if (term.change_model != nullptr) term.change_model(scenario.model);
  if (term.change_workload != nullptr) scenario.workload_changes.emplace_back(term.change_workload);
  return scenario;
}

}  // namespace headway

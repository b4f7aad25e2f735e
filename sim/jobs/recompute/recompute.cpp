#include "sim/jobs/recompute/recompute.h"

#include <algorithm>
#include <array>

#include "sim/models/operators.h"

namespace headway {
namespace {

/// Of the pass over norms and residuals, which moves 20 bytes a channel, two norms read and write 4
/// each.
constexpr double kNormShare = 0.4;
constexpr double kOneOfTwoExchanges = 0.5;
constexpr double kHalf = 0.5;

double share_of(const std::vector<NamedShare>& shares, std::string_view name) {
  const auto found = std::ranges::find(shares, name, &NamedShare::name);
  return found == shares.end() ? 0.0 : found->share;
}

/// Both, what stands in both once.
void unite(std::vector<NamedShare>& shares, const std::vector<NamedShare>& more) {
  for (const NamedShare& added : more) {
    const auto found = std::ranges::find(shares, added.name, &NamedShare::name);
    if (found == shares.end()) {
      shares.push_back(added);
    } else {
      found->share = std::max(found->share, added.share);
    }
  }
}

const RecomputePlan& activation_plan() {
  static const RecomputePlan kPlan{
      .operators = {{kActivationPass}, {kExpertActivationPass}, {kSharedActivationPass}},
      .tensors = {{"FC2 input"},
                  {"activated gate"},
                  {"expert FC2 input"},
                  {"activated expert gate"},
                  {"shared FC2 input"},
                  {"activated shared gate"}}};
  return kPlan;
}

/// Unfused attention from queries, keys and values; a fused kernel makes its scores again anyway.
const RecomputePlan& unfused_attention_plan() {
  static const RecomputePlan kPlan{
      .operators = {{kAttentionCore}},
      .tensors = {{"softmax output"}, {"softmax dropout mask"}, {"softmax dropout output"}}};
  return kPlan;
}

/// PyTorch's selective checkpointing by operator, as torchtitan sets it: attention and every second
/// product are kept, everything else is made again. Of Llama's products those are queries, values,
/// one of the two halves of FC1, and FC2, whose output stands in here for the input of FC1, which
/// is as large and not kept.
const RecomputePlan& alternate_plan() {
  static const RecomputePlan kPlan{.operators = {{"qkv", kHalf},
                                                 {"projection", kHalf},
                                                 {"fc1", kHalf},
                                                 {"fc2", kHalf},
                                                 {"norm_residual_dropout"},
                                                 {kActivationPass},
                                                 {"rotary"}},
                                   .tensors = {{"QKV input"},
                                               {"keys"},
                                               {"MLP norm input"},
                                               {"activation input", kHalf},
                                               {"FC2 input"},
                                               {"activated gate"}}};
  return kPlan;
}

}  // namespace

double RecomputePlan::operator_share(std::string_view name) const {
  return share_of(operators, name);
}

double RecomputePlan::tensor_share(std::string_view name) const { return share_of(tensors, name); }

std::span<const RecomputeModuleParts> recompute_modules() {
  static const std::array kModules = {
      RecomputeModuleParts{RecomputeModule::core_attn,
                           "core_attn",
                           {.operators = {{kAttentionCore}},
                            .tensors = {{"attention log-sum-exp"},
                                        {"softmax output"},
                                        {"softmax dropout mask"},
                                        {"softmax dropout output"}}}},
      RecomputeModuleParts{RecomputeModule::layernorm,
                           "layernorm",
                           {.operators = {{"norm_residual_dropout", kNormShare}},
                            .tensors = {{"QKV input"}, {"FC1 input"}}}},
      RecomputeModuleParts{RecomputeModule::mlp,
                           "mlp",
                           {.operators = {{"fc1"}, {kActivationPass}, {"fc2"}},
                            .tensors = {{"activation input"}, {"FC2 input"}, {"activated gate"}},
                            .exchanges = kOneOfTwoExchanges}},
      RecomputeModuleParts{RecomputeModule::mla_up_proj,
                           "mla_up_proj",
                           {.operators = {{kUpProjections[0]}, {kUpProjections[1]}, {"rotary"}},
                            .tensors = {{"queries"}, {"keys"}, {"values"}}}},
      RecomputeModuleParts{RecomputeModule::moe,
                           "moe",
                           {.operators = {{"router"},
                                          {kPermutation},
                                          {"expert_fc1"},
                                          {kExpertActivationPass},
                                          {"expert_fc2"},
                                          {"shared_fc1"},
                                          {kSharedActivationPass},
                                          {"shared_fc2"}},
                            .tensors = {{"expert FC1 input"},
                                        {"expert activation input"},
                                        {"expert FC2 input"},
                                        {"activated expert gate"},
                                        {"shared activation input"},
                                        {"shared FC2 input"},
                                        {"activated shared gate"}},
                            .shared_exchanges = kOneOfTwoExchanges,
                            .expert_exchanges = 1.0}},
      RecomputeModuleParts{RecomputeModule::moe_act,
                           "moe_act",
                           {.operators = {{kExpertActivationPass}},
                            .tensors = {{"expert FC2 input"}, {"activated expert gate"}}}},
      RecomputeModuleParts{RecomputeModule::shared_experts,
                           "shared_experts",
                           {.operators = {{"shared_fc1"}, {kSharedActivationPass}, {"shared_fc2"}},
                            .tensors = {{"shared activation input"},
                                        {"shared FC2 input"},
                                        {"activated shared gate"}},
                            .shared_exchanges = kOneOfTwoExchanges}},
  };
  return kModules;
}

double RecomputePlan::tensor_exchanges(const TransformerModel& model, LayerKind kind) const {
  if (!kind.experts) return exchanges;
  return model.mixture_of_experts->shared_expert_hidden > 0 ? shared_exchanges : 0.0;
}

RecomputePlan recompute_plan(const Strategy& strategy) {
  switch (strategy.recompute) {
    case Recompute::none:
    case Recompute::full:
      return {};
    case Recompute::activation:
      return activation_plan();
    case Recompute::selective:
      return strategy.fused_attention ? RecomputePlan{} : unfused_attention_plan();
    case Recompute::alternate:
      return alternate_plan();
    case Recompute::modules:
      break;
  }
  RecomputePlan plan;
  for (const RecomputeModuleParts& module : recompute_modules()) {
    if (std::ranges::find(strategy.recompute_modules, module.module) ==
        strategy.recompute_modules.end()) {
      continue;
    }
    unite(plan.operators, module.parts.operators);
    unite(plan.tensors, module.parts.tensors);
    plan.exchanges = std::max(plan.exchanges, module.parts.exchanges);
    plan.shared_exchanges = std::max(plan.shared_exchanges, module.parts.shared_exchanges);
    plan.expert_exchanges = std::max(plan.expert_exchanges, module.parts.expert_exchanges);
  }
  return plan;
}

int recomputed_layers(const Strategy& strategy, int layers) {
  if (strategy.recompute == Recompute::none) return 0;
  return strategy.recompute_layers > 0 ? std::min(strategy.recompute_layers, layers) : layers;
}

}  // namespace headway

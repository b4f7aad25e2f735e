#include "sim/jobs/adapters.h"

#include <algorithm>
#include <vector>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

constexpr double kElement = 2.0;    ///< bytes of an activation
constexpr double kSumPasses = 3.0;  ///< both terms are read, their sum written

/// Whether tensor parallelism cuts the rows of its result, not of its input.
bool cuts_output(AdapterTarget target) {
  return target == AdapterTarget::qkv || target == AdapterTarget::fc1;
}

}  // namespace

std::string_view adapter_target_name(AdapterTarget target) {
  switch (target) {
    case AdapterTarget::qkv:
      return "qkv";
    case AdapterTarget::projection:
      return "projection";
    case AdapterTarget::fc1:
      return "fc1";
    case AdapterTarget::fc2:
      return "fc2";
  }
  HEADWAY_CHECK(false, "unknown adapter target");
}

bool trains_adapters(const Strategy& strategy) { return strategy.task == Task::lora; }

bool has_adapter(const Strategy& strategy, AdapterTarget target) {
  return trains_adapters(strategy) &&
         std::ranges::find(strategy.lora_targets, target) != strategy.lora_targets.end();
}

double adapter_parameters_per_rank(const TransformerModel& model, const Strategy& strategy) {
  if (!trains_adapters(strategy)) return 0.0;
  const Operators layer = layer_operators(model, {});
  double sides = 0.0;
  for (const AdapterTarget target : strategy.lora_targets) {
    const auto linear =
        std::ranges::find(layer.linears, adapter_target_name(target), &LinearOperator::name);
    HEADWAY_CHECK(linear != layer.linears.end(), "a layer without the adapter's matrix");
    sides += linear->forward.k + linear->forward.n;
  }
  return strategy.lora_rank * sides / strategy.tensor_parallel;
}

Operators adapted(Operators layer, const Strategy& strategy) {
  const double rank = strategy.lora_rank;
  const double parts = strategy.tensor_parallel;
  std::vector<LinearOperator> adapters;
  for (const AdapterTarget target : strategy.lora_targets) {
    const auto linear =
        std::ranges::find(layer.linears, adapter_target_name(target), &LinearOperator::name);
    HEADWAY_CHECK(linear != layer.linears.end(), "a layer without the adapter's matrix");
    const auto [m, n, k] = linear->forward;
    const bool outward = cuts_output(target);
    adapters.push_back({.name = "adapter_a",
                        .forward = {.m = m, .n = outward ? rank / parts : rank, .k = k},
                        .wide = true});
    adapters.push_back({.name = "adapter_b",
                        .forward = {.m = m, .n = outward ? n : n / parts, .k = rank},
                        .wide = true});
    layer.memory_passes.push_back({.name = "adapter_sum",
                                   .forward = Bytes(kSumPasses * m * n * kElement),
                                   .backward = Bytes(kSumPasses * m * k * kElement)});
  }
  layer = frozen(std::move(layer));
  layer.linears.insert(layer.linears.end(), adapters.begin(), adapters.end());
  return layer;
}

Operators frozen(Operators operators) {
  for (LinearOperator& linear : operators.linears) linear.frozen = true;
  return operators;
}

}  // namespace headway

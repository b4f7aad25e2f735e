#include "sim/plan/strategy_space.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "sim/base/diagnostic.h"
#include "sim/jobs/frameworks.h"
#include "sim/jobs/read_strategy.h"
#include "sim/jobs/rules/strategy_rules.h"
#include "sim/jobs/schedules/schedule.h"
#include "sim/launch/launch_files.h"
#include "sim/launch/megatron_start.h"
#include "sim/launch/torchtitan_refusals.h"
#include "sim/plan/searched_layers.h"
#include "sim/scenario/read_reliability.h"

namespace headway {
namespace {

using nlohmann::json;

constexpr std::array kShardings = {Sharding::none, Sharding::optimizer, Sharding::full};

/// Chunks of a stage up to which any number is looked at; beyond, as models of hundreds of layers
/// allow, only those that split the layers evenly. The bubble is down to a 64th there.
constexpr int kMostUnevenChunks = 64;

/// Ascending.
std::vector<std::int64_t> divisors(std::int64_t whole) {
  std::vector<std::int64_t> found;
  std::vector<std::int64_t> large;
  for (std::int64_t i = 1; i * i <= whole; ++i) {
    if (whole % i != 0) continue;
    found.push_back(i);
    if (i * i != whole) large.push_back(whole / i);
  }
  found.insert(found.end(), large.rbegin(), large.rend());
  return found;
}

/// What a scenario's strategy says itself about a field; `fallback` where it leaves it out or
/// stands in a file of its own.
bool given_flag(const Scenario& scenario, const char* field, bool fallback) {
  const json& given = scenario.given->at("strategy");
  return given.is_object() && given.contains(field) ? given.at(field).get<bool>() : fallback;
}

/// What the scenario's preset does about it where the degrees give it a use.
bool preset_has(const Scenario& scenario, bool Strategy::*flag) {
  const std::string name = scenario.resolved->at("strategy").at("preset").get<std::string>();
  const Framework* const found = framework_named(name);
  if (found == nullptr) return Strategy{}.*flag;
  const bool has_experts = scenario.model.routing() != nullptr;
  return found->habits(scenario.strategy->precision, has_experts).*flag;
}

/// What is chosen, or follows from what is chosen, behind the degrees; and behind the schedule.
constexpr std::array<std::string_view, 5> kOfSchedules = {
    "micro_batch", "schedule", "virtual_stages", "overlap_pipeline_transfers",
    "overlap_tensor_parallel_backward"};
constexpr std::string_view kOfStates[] = {"zero_stage",
                                          "reshard_after_forward",
                                          "per_parameter_sharding",
                                          "shard_group",
                                          "overlap_parameter_gather",
                                          "recompute_modules",
                                          "offload_layers",
                                          "recompute"};

/// Rules that are settled by a choice of degrees, or of degrees and schedule. Those about states
/// hold in whatever is visited: `strategy` sets what goes with a choice of them.
std::vector<const StrategyRule*> rules_about(bool schedules) {
  std::vector<const StrategyRule*> rules;
  for (const StrategyRule& rule : strategy_rules()) {
    const auto depends_on = [&](std::string_view field) { return rule.depends_on(field); };
    const bool is_about_schedules = std::ranges::any_of(kOfSchedules, depends_on);
    if (rule.severity != Severity::error || rule.is_of_writing) continue;
    if (std::ranges::any_of(kOfStates, depends_on) || is_about_schedules != schedules) continue;
    rules.push_back(&rule);
  }
  return rules;
}

TorchtitanSettings torchtitan_settings(const StrategyChoice& choice, Sharding sharding,
                                       const Strategy& base) {
  const bool is_wide = base.precision == Precision::fp32 || base.precision == Precision::tf32;
  return {.tensor = choice.tensor_parallel,
          .context = choice.context_parallel,
          .pipeline = choice.pipeline_parallel,
          .data = choice.data_parallel,
          .expert = choice.expert_parallel,
          .expert_tensor = base.expert_tensor_parallel,
          .shards = choice.data_parallel,
          .is_sharded = sharding == Sharding::full,
          .is_in_few_bits = !is_wide};
}

/// Whether full sharding is for layers of stages and of experts, too: torchtitan has nothing else
/// for them, and a scenario may have it.
bool shards_split_layers(const Scenario& scenario, std::optional<LaunchFramework> framework) {
  if (!framework) framework = launch_framework_of(scenario.resolved);
  if (framework == LaunchFramework::torchtitan) return true;
  const Strategy& given = *scenario.strategy;
  return given.sharding == Sharding::full &&
         (given.pipeline_parallel > 1 || scenario.model.routing() != nullptr);
}

bool keeps_all(const std::vector<const StrategyRule*>& rules, Layout layout) {
  return std::ranges::all_of(rules, [&](const StrategyRule* rule) { return rule->holds(layout); });
}

}  // namespace

const std::vector<std::string_view>& searched_fields() {
  static const std::vector<std::string_view> kFields = {
      "tensor_parallel", "context_parallel", "pipeline_parallel",
      "expert_parallel", "virtual_stages",   "schedule",
      "micro_batch",     "zero_stage",       "recompute"};
  return kFields;
}

StrategySpace::StrategySpace(const Scenario& scenario, std::set<std::string> kept,
                             std::optional<std::int64_t> accelerators,
                             std::optional<LaunchFramework> framework)
    : scenario_(scenario),
      kept_(std::move(kept)),
      accelerators_(accelerators.value_or(scenario.accelerators())),
      framework_(framework),
      splits_sequence_(given_flag(scenario, "sequence_parallel", true) &&
                       says("sequence_parallel", "true")),
      overlaps_backward_(
          given_flag(scenario, "overlap_tensor_parallel_backward",
                     preset_has(scenario, &Strategy::overlap_tensor_parallel_backward)) &&
          says("overlap_tensor_parallel_backward", "true")),
      overlaps_experts_(scenario.model.routing() != nullptr &&
                        given_flag(scenario, "overlap_expert_exchange",
                                   scenario.strategy->overlap_expert_exchange ||
                                       preset_has(scenario, &Strategy::overlap_expert_exchange)) &&
                        says("overlap_expert_exchange", "true")),
      sets_transfer_overlap_(scenario.given->at("strategy").is_object() &&
                             scenario.given->at("strategy").contains("overlap_pipeline_transfers")),
      overlaps_gathers_(
          scenario.strategy->sharding != Sharding::none
              ? scenario.strategy->overlap_parameter_gather
              : given_flag(scenario, "overlap_parameter_gather",
                           preset_has(scenario, &Strategy::overlap_parameter_gather))),
      gathers_after_step_(says("overlap_parameter_gather", "true, after the step")),
      shards_split_layers_(shards_split_layers(scenario, framework)),
      schedule_rules_(rules_about(true)) {
  if (scenario.strategy->synchronisation->servers() == nullptr) return;
  Diagnostic problem;
  problem.message = "the search over strategies has no bound for what parameter servers take";
  problem.pointer = "/strategy/synchronisation";
  problem.help =
      "`headway sweep --axis /strategy/synchronisation/servers=1..16*2` tries numbers of "
      "servers; set scheme to \"all_reduce\" for a search";
  throw InputError(std::move(problem));
}

bool StrategySpace::keeps(std::string_view field) const {
  return kept_.contains(std::string(field));
}

bool StrategySpace::says(std::string_view field, std::string_view value) const {
  return !framework_ || can_be_told(*framework_, field, value);
}

/// Virtual stages in turn are a word of their own where frameworks have one for each schedule.
bool StrategySpace::says_schedule(const Schedule& schedule, bool is_interleaved) const {
  const bool is_usual = &schedule == schedules().data();
  return says("schedule", is_usual && is_interleaved ? "1f1b, interleaved" : schedule.name) &&
         says("virtual_stages", is_interleaved ? "2" : "1");
}

bool StrategySpace::recovers(const StrategyChoice& choice) const {
  if (!scenario_.reliability || scenario_.reliability->recovery->obstacle == nullptr) return true;
  ReliabilitySettings settings = *scenario_.reliability;
  const int node_accelerators = scenario_.cluster->node_type.accelerators;
  return recovery_obstacle(strategy(choice), node_accelerators, settings).empty();
}

void StrategySpace::for_each(const std::function<void(const StrategyChoice&)>& visit) const {
  visit_degrees([&](StrategyChoice& choice, Strategy& split) {
    visit_pipelines(choice, split, false, visit);
  });
}

void StrategySpace::for_each_thrifty(
    const std::function<void(const StrategyChoice&)>& visit) const {
  visit_degrees([&](StrategyChoice& choice, Strategy& split) {
    visit_pipelines(choice, split, true, visit);
  });
}

std::optional<StrategyChoice> StrategySpace::any() const {
  std::optional<StrategyChoice> first;
  for_each_thrifty([&](const StrategyChoice& choice) {
    if (!first) first = choice;
  });
  return first;
}

void StrategySpace::visit_degrees(
    const std::function<void(StrategyChoice&, Strategy&)>& visit) const {
  const Model& model = scenario_.model;
  const Strategy& base = *scenario_.strategy;
  const auto values = [&](std::string_view field, std::int64_t whole, int kept) {
    std::vector<std::int64_t> degrees =
        keeps(field) ? std::vector<std::int64_t>{kept} : divisors(whole);
    std::erase_if(degrees, [&](auto degree) { return !says(field, std::to_string(degree)); });
    return degrees;
  };
  const std::vector<const StrategyRule*> rules = rules_about(false);
  Strategy split = base;
  const std::int64_t experts =
      model.routing() != nullptr ? static_cast<std::int64_t>(model.routing()->experts) : 1;
  const auto contexts = values("context_parallel", accelerators_, base.context_parallel);
  const auto pipelines = values("pipeline_parallel", accelerators_, base.pipeline_parallel);
  const auto shared_experts = values("expert_parallel", experts, base.expert_parallel);
  for (const std::int64_t tensor :
       values("tensor_parallel", model.tensor_limits.front().size, base.tensor_parallel)) {
    for (const std::int64_t context : contexts) {
      for (const std::int64_t pipeline : pipelines) {
        const std::int64_t ranks = tensor * context * pipeline;
        if (!divides(ranks, accelerators_)) continue;
        for (const std::int64_t expert : shared_experts) {
          StrategyChoice choice;
          choice.tensor_parallel = static_cast<int>(tensor);
          choice.context_parallel = static_cast<int>(context);
          choice.pipeline_parallel = static_cast<int>(pipeline);
          choice.data_parallel = static_cast<int>(accelerators_ / ranks);
          choice.expert_parallel = static_cast<int>(expert);
          settle_split(choice, split);
          if (keeps_all(rules, {split, model})) visit(choice, split);
        }
      }
    }
  }
}

/// Those that stages and experts leave.
std::vector<Sharding> StrategySpace::shardings(const StrategyChoice& choice) const {
  const bool has_stages = choice.pipeline_parallel > 1;
  const bool splits_layers = has_stages || scenario_.model.routing() != nullptr;
  const bool keeps_parameters = says("reshard_after_forward", "false");
  std::vector<Sharding> left;
  for (const Sharding sharding : kShardings) {
    if (keeps("zero_stage") && sharding != scenario_.strategy->sharding) continue;
    if (!says("zero_stage", std::to_string(static_cast<int>(sharding)))) continue;
    if (sharding == Sharding::full && splits_layers && !shards_split_layers_) continue;
    if (sharding == Sharding::full && has_stages && !keeps_parameters) continue;
    if (sharding == Sharding::full && scenario_.strategy->micro_batches_by_speed) continue;
    if (framework_ == LaunchFramework::torchtitan &&
        !torchtitan_starts(torchtitan_settings(choice, sharding, *scenario_.strategy))) {
      continue;
    }
    left.push_back(sharding);
  }
  return left;
}

/// Copies of a part of the parameters stay as many ranks apart as in the scenario, where it has
/// several and they divide the replicas.
int StrategySpace::shard_group(const Strategy& strategy) const {
  const Strategy& base = *scenario_.strategy;
  const bool has_copies = base.sharding == Sharding::full && base.shard_ranks() < base.replicas();
  return has_copies && strategy.replicas() % base.shard_ranks() == 0 ? base.shard_ranks()
                                                                     : strategy.replicas();
}

/// Where there is a single replica all shardings are one: the scenario's, if that may be.
bool StrategySpace::tells_apart(const std::vector<Sharding>& shardings, Sharding sharding,
                                const Strategy& split) const {
  if (split.replicas() > 1) return true;
  const auto own = std::ranges::find(shardings, scenario_.strategy->sharding);
  return sharding == (own != shardings.end() ? *own : shardings.front());
}

void StrategySpace::visit_pipelines(StrategyChoice& choice, Strategy& split, bool only_thrifty,
                                    const std::function<void(const StrategyChoice&)>& visit) const {
  const Strategy& base = *scenario_.strategy;
  if (!divides(choice.data_parallel, base.global_batch)) return;
  std::vector<Recompute> recomputes = {Recompute::none, Recompute::activation};
  // A fused kernel keeps next to nothing that running it again would save.
  if (!base.fused_attention) recomputes.push_back(Recompute::selective);
  recomputes.push_back(Recompute::full);
  if (keeps("recompute")) recomputes = {base.recompute};
  if (std::ranges::find(recomputes, base.recompute) == recomputes.end()) {
    recomputes.push_back(base.recompute);
  }
  std::erase_if(recomputes, [&](Recompute one) { return !says("recompute", word_of(one)); });
  const std::vector<Sharding> shardings = this->shardings(choice);
  const auto stages = scenario_.model.shared_layers() / choice.pipeline_parallel + 2;
  const std::vector<std::int64_t> micro_batches =
      divisors(base.global_batch / choice.data_parallel);
  // A step of one micro-batch may hold no gradients beside its activations.
  const bool may_end_thriftily = base.memory.freed_gradients && choice.pipeline_parallel == 1;
  bool has_first = false;
  for (const std::int64_t micro_batch : micro_batches) {
    if (only_thrifty && has_first && !(may_end_thriftily && micro_batch == micro_batches.back())) {
      continue;
    }
    if (keeps("micro_batch") && micro_batch != base.micro_batch) continue;
    choice.micro_batch = micro_batch;
    for (const Schedule& schedule : schedules()) {
      if (keeps("schedule") && &schedule != base.schedule) continue;
      // Without a pipeline all of them are one.
      if (choice.pipeline_parallel == 1 && &schedule != schedules().data()) continue;
      choice.schedule = &schedule;
      // A job without a pipeline needs no word about the schedule.
      const bool is_plain_told = choice.pipeline_parallel == 1 || says_schedule(schedule, false);
      const bool is_interleaved_told = says_schedule(schedule, true);
      for (int chunks = 1; chunks <= stages; ++chunks) {
        if (keeps("virtual_stages") && chunks != base.virtual_stages) continue;
        if (!(chunks > 1 ? is_interleaved_told : is_plain_told)) continue;
        choice.virtual_stages = chunks;
        const bool is_fine_grained = chunks > kMostUnevenChunks;
        if (is_fine_grained && !divides(std::int64_t{chunks} * choice.pipeline_parallel,
                                        scenario_.model.shared_layers())) {
          continue;
        }
        settle_split(choice, split);
        if (!keeps_all(schedule_rules_, {split, scenario_.model})) continue;
        for (const Recompute recompute : recomputes) {
          choice.recompute = recompute;
          for (const Sharding sharding : shardings) {
            // Its stages share parameters with the opposite ones.
            if (sharding == Sharding::full && schedule.is_doubled()) continue;
            if (!tells_apart(shardings, sharding, split)) continue;
            choice.sharding = sharding;
            if (recovers(choice)) visit(choice);
          }
        }
        has_first = true;
        if (only_thrifty && !may_end_thriftily) return;
      }
    }
  }
}

/// All of a choice but what is done with states: parameters, gradients and activations.
void StrategySpace::settle_split(const StrategyChoice& choice, Strategy& strategy) const {
  strategy.tensor_parallel = choice.tensor_parallel;
  strategy.context_parallel = choice.context_parallel;
  strategy.pipeline_parallel = choice.pipeline_parallel;
  strategy.data_parallel = choice.data_parallel;
  strategy.expert_parallel = choice.expert_parallel;
  strategy.virtual_stages = choice.virtual_stages;
  strategy.schedule = choice.schedule;
  strategy.micro_batch = choice.micro_batch;
  strategy.layers_per_stage = searched_layers(scenario_, strategy, accelerators_);
  strategy.overlap_expert_exchange = overlaps_experts_ && strategy.expert_group() > 1;
  strategy.sequence_parallel = choice.tensor_parallel > 1 && splits_sequence_;
  if (!sets_transfer_overlap_) strategy.overlap_pipeline_transfers = choice.virtual_stages > 1;
  strategy.tensor_parallel_overlap =
      scenario_.strategy->tensor_parallel_overlap && strategy.sequence_parallel;
  strategy.overlap_tensor_parallel_backward = overlaps_backward(choice);
}

bool StrategySpace::overlaps_backward(const StrategyChoice& choice) const {
  const bool overlaps_otherwise = scenario_.strategy->tensor_parallel_overlap && splits_sequence_;
  return overlaps_backward_ && choice.tensor_parallel > 1 && !overlaps_otherwise &&
         !choice.schedule->splits_backward;
}

Strategy StrategySpace::strategy(const StrategyChoice& choice) const {
  const Strategy& base = *scenario_.strategy;
  Strategy strategy = base;
  settle_split(choice, strategy);
  strategy.sharding = choice.sharding;
  strategy.overlap_parameter_gather = choice.sharding != Sharding::none &&
                                      (choice.sharding == Sharding::full || gathers_after_step_) &&
                                      overlaps_gathers_;
  strategy.shard_group = choice.sharding == Sharding::full ? shard_group(strategy) : 0;
  strategy.reshard_after_forward = base.sharding != Sharding::full || base.reshard_after_forward;
  if (shards_split_layers_ && choice.sharding == Sharding::full && choice.pipeline_parallel > 1) {
    strategy.reshard_after_forward = false;
  }
  strategy.per_parameter_sharding =
      choice.sharding == Sharding::full && base.per_parameter_sharding;
  strategy.recompute = choice.recompute;
  if (choice.recompute != base.recompute) {
    strategy.recompute_layers = 0;
    strategy.recompute_modules.clear();
  }
  if (choice.recompute != Recompute::none) strategy.offload_layers = 0;
  if (framework_ == LaunchFramework::megatron) {
    leave_out_what_megatron_refuses(scenario_.model, strategy);
  }
  return strategy;
}

json StrategySpace::fields(const StrategyChoice& choice) const {
  json fields = scenario_.resolved->at("strategy");
  write_strategy(strategy(choice), scenario_.model, fields);
  return fields;
}

}  // namespace headway

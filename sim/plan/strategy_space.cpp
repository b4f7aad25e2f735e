#include "sim/plan/strategy_space.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "sim/jobs/frameworks.h"
#include "sim/jobs/schedules/schedule.h"

namespace headway {
namespace {

using nlohmann::json;

constexpr std::array kSchedules = {PipelineSchedule::one_f_one_b, PipelineSchedule::gpipe,
                                   PipelineSchedule::zb_h1, PipelineSchedule::zb_v,
                                   PipelineSchedule::dual_pipe};
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

bool divides(std::int64_t part, std::int64_t whole) { return whole % part == 0; }

/// What a scenario's strategy says itself about a field; `fallback` where it leaves it out or
/// stands in a file of its own.
bool says(const Scenario& scenario, const char* field, bool fallback) {
  const json& given = scenario.given->at("strategy");
  return given.is_object() && given.contains(field) ? given.at(field).get<bool>() : fallback;
}

/// What the scenario's preset does about it where tensor parallelism gives it a use.
bool preset_overlaps_backward(const Scenario& scenario) {
  const std::string name = scenario.resolved->at("strategy").at("preset").get<std::string>();
  const Framework* const found = framework_named(name);
  return found != nullptr && found->strategy.overlap_tensor_parallel_backward;
}

/// Whether context parallelism can split them: round a ring by halves, all-to-all by heads too.
bool splits_sequences(const Model& model, const Strategy& base, std::int64_t tensor,
                      std::int64_t context) {
  if (!model.has_tokens) return false;
  if (base.context_parallel_method == ContextParallelMethod::ring) {
    return divides(2 * context, base.sequence_length);
  }
  return divides(context, base.sequence_length) &&
         std::ranges::all_of(model.kinds, [&](const Layer& layer) {
           if (!layer.attention) return true;
           const auto divides_heads = [&](double heads) {
             return divides(tensor * context, static_cast<std::int64_t>(heads));
           };
           return divides_heads(layer.attention->heads) &&
                  divides_heads(layer.attention->key_heads);
         });
}

}  // namespace

std::string_view schedule_word(PipelineSchedule schedule) {
  constexpr std::array<std::string_view, 5> kWords = {"gpipe", "1f1b", "zb_h1", "zb_v", "dualpipe"};
  return kWords[static_cast<std::size_t>(schedule)];
}

std::string_view recompute_word(Recompute recompute) {
  constexpr std::array<std::string_view, 6> kWords = {
      "none", "activation", "selective", "every_second_product", "modules", "full"};
  return kWords[static_cast<std::size_t>(recompute)];
}

const std::vector<std::string_view>& searched_fields() {
  static const std::vector<std::string_view> kFields = {
      "tensor_parallel", "context_parallel", "pipeline_parallel",
      "expert_parallel", "virtual_stages",   "schedule",
      "micro_batch",     "zero_stage",       "recompute"};
  return kFields;
}

StrategySpace::StrategySpace(const Scenario& scenario, std::set<std::string> kept,
                             std::optional<std::int64_t> accelerators)
    : scenario_(scenario),
      kept_(std::move(kept)),
      accelerators_(accelerators.value_or(scenario.strategy.ranks())),
      splits_sequence_(says(scenario, "sequence_parallel", true)),
      overlaps_backward_(
          says(scenario, "overlap_tensor_parallel_backward", preset_overlaps_backward(scenario))),
      sets_transfer_overlap_(
          scenario.given->at("strategy").is_object() &&
          scenario.given->at("strategy").contains("overlap_pipeline_transfers")) {}

bool StrategySpace::keeps(std::string_view field) const {
  return kept_.contains(std::string(field));
}

void StrategySpace::for_each(const std::function<void(const StrategyChoice&)>& visit) const {
  visit_degrees([&](StrategyChoice& choice) { visit_pipelines(choice, false, visit); });
}

void StrategySpace::for_each_thrifty(
    const std::function<void(const StrategyChoice&)>& visit) const {
  visit_degrees([&](StrategyChoice& choice) { visit_pipelines(choice, true, visit); });
}

std::optional<StrategyChoice> StrategySpace::any() const {
  std::optional<StrategyChoice> first;
  visit_degrees([&](StrategyChoice& choice) {
    if (first) return;
    visit_pipelines(choice, true, [&](const StrategyChoice& visited) {
      if (!first) first = visited;
    });
  });
  return first;
}

void StrategySpace::visit_degrees(const std::function<void(StrategyChoice&)>& visit) const {
  const Model& model = scenario_.model;
  const Strategy& base = scenario_.strategy;
  const auto values = [&](std::string_view field, std::int64_t whole, int kept) {
    return keeps(field) ? std::vector<std::int64_t>{kept} : divisors(whole);
  };
  const std::int64_t experts =
      model.routing() != nullptr ? static_cast<std::int64_t>(model.routing()->experts) : 1;
  for (const std::int64_t tensor :
       values("tensor_parallel", model.tensor_limits.front().size, base.tensor_parallel)) {
    for (const std::int64_t context :
         values("context_parallel", accelerators_, base.context_parallel)) {
      for (const std::int64_t pipeline :
           values("pipeline_parallel", accelerators_, base.pipeline_parallel)) {
        const std::int64_t ranks = tensor * context * pipeline;
        if (!divides(ranks, accelerators_)) continue;
        for (const std::int64_t expert : values("expert_parallel", experts, base.expert_parallel)) {
          StrategyChoice choice;
          choice.tensor_parallel = static_cast<int>(tensor);
          choice.context_parallel = static_cast<int>(context);
          choice.pipeline_parallel = static_cast<int>(pipeline);
          choice.data_parallel = static_cast<int>(accelerators_ / ranks);
          choice.expert_parallel = static_cast<int>(expert);
          if (fits_model(choice)) visit(choice);
        }
      }
    }
  }
}

/// The conditions of sim/jobs/rules/tensor_checks.cpp and expert_checks.cpp.
bool StrategySpace::fits_model(const StrategyChoice& choice) const {
  const Model& model = scenario_.model;
  const Strategy& base = scenario_.strategy;
  const std::int64_t tensor = choice.tensor_parallel;
  const std::int64_t context = choice.context_parallel;
  if (first_indivisible(model, tensor) != nullptr) return false;
  if (context > 1 && !splits_sequences(model, base, tensor, context)) return false;
  const bool splits_sequence = tensor > 1 && splits_sequence_;
  if (splits_sequence && !divides(tensor * context, base.sequence_length)) return false;
  if (model.routing() == nullptr) return true;
  const std::int64_t group = std::int64_t{choice.expert_parallel} * base.expert_tensor_parallel;
  return divides(group, tensor * context * choice.data_parallel) &&
         (tensor == 1 || splits_sequence) && (group > 1 || !base.overlap_expert_exchange);
}

/// Those that stages and experts leave.
std::vector<Sharding> StrategySpace::shardings(const StrategyChoice& choice) const {
  std::vector<Sharding> left;
  for (const Sharding sharding : kShardings) {
    if (keeps("zero_stage") && sharding != scenario_.strategy.sharding) continue;
    const bool splits_layers = choice.pipeline_parallel > 1 || scenario_.model.routing() != nullptr;
    if (sharding != Sharding::full || !splits_layers) left.push_back(sharding);
  }
  return left;
}

void StrategySpace::visit_pipelines(StrategyChoice& choice, bool only_thrifty,
                                    const std::function<void(const StrategyChoice&)>& visit) const {
  const Strategy& base = scenario_.strategy;
  if (!divides(choice.data_parallel, base.global_batch)) return;
  std::vector<Recompute> recomputes = {Recompute::none, Recompute::activation};
  // Fused attention makes its scores again anyway: selective is none there.
  if (!base.fused_attention) recomputes.push_back(Recompute::selective);
  recomputes.push_back(Recompute::full);
  if (keeps("recompute")) recomputes = {base.recompute};
  if (std::ranges::find(recomputes, base.recompute) == recomputes.end()) {
    recomputes.push_back(base.recompute);
  }
  const std::vector<Sharding> shardings = this->shardings(choice);
  const auto stages = scenario_.model.layer_count() / choice.pipeline_parallel + 2;
  for (const std::int64_t micro_batch : divisors(base.global_batch / choice.data_parallel)) {
    if (keeps("micro_batch") && micro_batch != base.micro_batch) continue;
    choice.micro_batch = micro_batch;
    for (const PipelineSchedule schedule : kSchedules) {
      if (keeps("schedule") && schedule != base.schedule) continue;
      choice.schedule = schedule;
      for (int chunks = 1; chunks <= stages; ++chunks) {
        if (keeps("virtual_stages") && chunks != base.virtual_stages) continue;
        choice.virtual_stages = chunks;
        const bool is_fine_grained = chunks > kMostUnevenChunks;
        if (is_fine_grained && !divides(std::int64_t{chunks} * choice.pipeline_parallel,
                                        scenario_.model.layer_count())) {
          continue;
        }
        if (!can_run(choice)) continue;
        for (const Sharding sharding : shardings) {
          choice.sharding = sharding;
          for (const Recompute recompute : recomputes) {
            choice.recompute = recompute;
            visit(choice);
          }
        }
        if (only_thrifty) return;
      }
    }
  }
}

/// The conditions of sim/jobs/rules/pipeline_checks.cpp and option_checks.cpp. Without a pipeline
/// all schedules are one.
bool StrategySpace::can_run(const StrategyChoice& choice) const {
  const Model& model = scenario_.model;
  const Strategy& base = scenario_.strategy;
  const std::int64_t stages = choice.pipeline_parallel;
  const std::int64_t micro_batches =
      base.global_batch / (choice.data_parallel * choice.micro_batch);
  const bool has_experts = model.routing() != nullptr;
  if (!can_place(base.layer_placement, model.layer_count(), stages * choice.virtual_stages,
                 model.ahead.layers)) {
    return false;
  }
  switch (choice.schedule) {
    case PipelineSchedule::one_f_one_b:
      return choice.virtual_stages == 1 || (stages > 1 && micro_batches % stages == 0);
    case PipelineSchedule::gpipe:
    case PipelineSchedule::zb_h1:
      return stages > 1 && choice.virtual_stages == 1;
    case PipelineSchedule::zb_v:
      return stages > 1 && choice.virtual_stages == 2 && micro_batches >= 2 * stages - 1;
    case PipelineSchedule::dual_pipe:
      return stages > 1 && stages % 2 == 0 && choice.virtual_stages == 1 && !has_experts &&
             micro_batches % 2 == 0 && micro_batches >= 2 * stages;
  }
  return false;
}

Strategy StrategySpace::strategy(const StrategyChoice& choice) const {
  const Strategy& base = scenario_.strategy;
  Strategy strategy = base;
  strategy.tensor_parallel = choice.tensor_parallel;
  strategy.context_parallel = choice.context_parallel;
  strategy.pipeline_parallel = choice.pipeline_parallel;
  strategy.data_parallel = choice.data_parallel;
  strategy.expert_parallel = choice.expert_parallel;
  strategy.virtual_stages = choice.virtual_stages;
  strategy.schedule = choice.schedule;
  strategy.micro_batch = choice.micro_batch;
  strategy.layers_per_stage.clear();
  strategy.sequence_parallel = choice.tensor_parallel > 1 && splits_sequence_;
  if (!sets_transfer_overlap_) strategy.overlap_pipeline_transfers = choice.virtual_stages > 1;
  strategy.tensor_parallel_overlap = base.tensor_parallel_overlap && strategy.sequence_parallel;
  strategy.overlap_tensor_parallel_backward = overlaps_backward_ && choice.tensor_parallel > 1 &&
                                              !strategy.tensor_parallel_overlap &&
                                              !splits_backward(choice.schedule);
  strategy.sharding = choice.sharding;
  strategy.overlap_parameter_gather =
      choice.sharding != Sharding::none &&
      (base.overlap_parameter_gather || base.sharding == Sharding::none);
  strategy.shard_group = choice.sharding == Sharding::full ? strategy.replicas() : 0;
  strategy.reshard_after_forward = base.sharding != Sharding::full || base.reshard_after_forward;
  strategy.recompute = choice.recompute;
  if (choice.recompute != base.recompute) {
    strategy.recompute_layers = 0;
    strategy.recompute_modules.clear();
  }
  if (choice.recompute != Recompute::none) strategy.offload_layers = 0;
  return strategy;
}

json StrategySpace::fields(const StrategyChoice& choice) const {
  const Strategy made = strategy(choice);
  json fields = scenario_.resolved->at("strategy");
  fields["tensor_parallel"] = made.tensor_parallel;
  fields["context_parallel"] = made.context_parallel;
  fields["pipeline_parallel"] = made.pipeline_parallel;
  fields["data_parallel"] = made.data_parallel;
  fields["expert_parallel"] = made.expert_parallel;
  fields["virtual_stages"] = made.virtual_stages;
  fields["schedule"] = schedule_word(made.schedule);
  fields["micro_batch"] = made.micro_batch;
  fields["sequence_parallel"] = made.sequence_parallel;
  fields["tensor_parallel_overlap"] = made.tensor_parallel_overlap;
  fields["overlap_tensor_parallel_backward"] = made.overlap_tensor_parallel_backward;
  fields["overlap_pipeline_transfers"] = made.overlap_pipeline_transfers;
  fields["overlap_parameter_gather"] = made.overlap_parameter_gather;
  fields["zero_stage"] = static_cast<int>(made.sharding);
  fields["recompute"] = recompute_word(made.recompute);
  fields["offload_layers"] = made.offload_layers;
  fields.erase("layers_per_stage");
  fields.erase("shard_group");
  fields.erase("reshard_after_forward");
  if (made.sharding == Sharding::full) {
    fields["shard_group"] = made.shard_group;
    fields["reshard_after_forward"] = made.reshard_after_forward;
  }
  if (made.recompute != scenario_.strategy.recompute) {
    fields.erase("recompute_layers");
    fields.erase("recompute_modules");
  }
  return fields;
}

}  // namespace headway

#include "sim/result/json/result_json.h"

#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/files/json_text.h"
#include "sim/result/json/result_parts_json.h"
#include "sim/result/advice.h"
#include "sim/result/run_cost.h"

namespace headway {
namespace {

using nlohmann::json;

/// JSON knows neither infinity nor not-a-number.
json number(double value) { return std::isfinite(value) ? json(value) : json(nullptr); }

template <class Tag>
json number(Quantity<Tag> value) {
  return number(value.count());
}

json question_json(const Question& question) {
  return json::object({{"model", question.model},
                       {"cluster", question.cluster},
                       {"node_type", question.node_type},
                       {"nodes", question.nodes},
                       {"strategy", question.strategy},
                       {"profile", question.profile}});
}

json reference_json(const std::optional<ScalingReference>& reference) {
  if (!reference) return nullptr;
  return json::object({{"gpus", reference->accelerators},
                       {"iteration_time_s", number(reference->iteration_time)},
                       {"description", reference->description}});
}

json anchor_json(const AnchorEffect& anchor) {
  return json::object(
      {{"of", anchor.of},
       {"measured_s", number(anchor.measured)},
       {"predicted_of_it_s", number(anchor.predicted_of_it)},
       {"software_factor", number(anchor.software_factor)},
       {"iteration_time_without_s", number(anchor.time_without)},
       {"interval_without_s",
        {number(anchor.interval_without.low), number(anchor.interval_without.high)}}});
}

json memory_json(const MemoryPrediction& memory) {
  json stages = json::array();
  for (const StageMemory& stage : memory.stages) {
    stages.push_back(json::object({{"parameters", number(stage.parameters)},
                                   {"gradients", number(stage.gradients)},
                                   {"optimizer", number(stage.optimizer)},
                                   {"activations", number(stage.activations)},
                                   {"buffers", number(stage.buffers)},
                                   {"total", number(stage.total())},
                                   {"host", number(stage.host)}}));
  }
  return json::object({{"stages", std::move(stages)},
                       {"largest", number(fullest_memory(memory).total())},
                       {"capacity", number(memory.capacity)},
                       {"fullest_stage", memory.fullest_stage},
                       {"fits", memory.fits}});
}

json breakdown_json(const Prediction& prediction) {
  json causes = json::object();
  for (std::size_t i = 0; i < kCauses; ++i) {
    const auto cause = static_cast<Cause>(i);
    causes[std::string(cause_name(cause))] =
        was_simulated(prediction) ? number(prediction.breakdown[cause]) : json(nullptr);
  }
  return causes;
}

void add_speed(json& result, const Prediction& prediction) {
  const auto known = [&](double value) {
    return was_simulated(prediction) ? number(value) : json(nullptr);
  };
  result["iteration_time_s"] = known(prediction.iteration_time.count());
  result["iteration_time_interval_s"] = json::array(
      {known(prediction.iteration_interval.low), known(prediction.iteration_interval.high)});
  result["samples_per_s"] = known(prediction.samples_per_second);
  result["tokens_per_s"] = known(prediction.tokens_per_second);
  result["tokens_per_s_per_gpu"] = known(prediction.tokens_per_second_per_accelerator);
  result["model_tflops_per_gpu"] = known(prediction.model_flops_per_second_per_accelerator / 1e12);
  result["mfu"] = known(prediction.mfu);
  result["mfu_noncausal"] = known(prediction.mfu_whole_square);
  result["hfu"] = known(prediction.hfu);
  result["scaling_efficiency"] =
      prediction.scaling ? known(prediction.scaling->efficiency) : json(nullptr);
  result["scaling_reference"] = reference_json(prediction.scaling);
}

json energy_json(const EnergyByActivity& energy) {
  return json::object({{"computing", number(energy.computing)},
                       {"exchanging", number(energy.exchanging)},
                       {"waiting", number(energy.waiting)}});
}

/// Each only where the scenario gives what it is made of.
void add_cost(json& result, const RunCost& cost) {
  const auto add = [](json& object, const char* name, const auto& value) {
    if (value) object[name] = number(*value);
  };
  add(result, "cost_usd", cost.usd);
  add(result, "energy_J", cost.energy);
  if (cost.energy_by_activity) {
    result["energy_by_activity_J"] = energy_json(*cost.energy_by_activity);
  }
  add(result, "carbon_kg", cost.carbon_kg);
  constexpr double kMillion = 1e6;
  if (cost.tokens > 0.0 && cost.usd) {
    result["cost_usd_per_million_tokens"] = number(*cost.usd / cost.tokens * kMillion);
  }
  if (cost.tokens > 0.0 && cost.energy) {
    result["energy_J_per_token"] = number(*cost.energy / cost.tokens);
  }
  if (!cost.run) return;
  const RunCost::Run& run = *cost.run;
  result["run_time_s"] = number(run.time);
  add(result, "run_cost_usd", run.usd());
  if (run.storage_usd || run.egress_usd) {
    json parts = json::object();
    add(parts, "gpus", run.gpus_usd);
    add(parts, "storage", run.storage_usd);
    add(parts, "egress", run.egress_usd);
    result["run_cost_parts_usd"] = std::move(parts);
  }
  add(result, "run_energy_J", run.energy);
  if (run.energy_by_activity) {
    result["run_energy_by_activity_J"] = energy_json(*run.energy_by_activity);
  }
  add(result, "run_carbon_kg", run.carbon_kg);
}

json critical_path_json(const std::vector<CriticalSegment>& path) {
  json segments = json::array();
  for (const CriticalSegment& segment : path) {
    segments.push_back(json::object({{"where", segment.where},
                                     {"what", segment.what},
                                     {"start_s", number(segment.start)},
                                     {"end_s", number(segment.end)},
                                     {"operations", segment.operations}}));
  }
  return segments;
}

json confidence_json(const Confidence& confidence) {
  return json::object({{"job_kind", confidence.job_kind},
                       {"model_error", number(confidence.model_error)},
                       {"kernel_spread", number(confidence.kernel_spread)},
                       {"beyond_calibration", confidence.beyond_calibration}});
}

json activity_json(const Activity& activity) {
  json rows = json::array();
  for (const Activity::Row& row : activity.rows) {
    json spans = json::array();
    for (const Activity::Span& span : row.spans) {
      spans.push_back({span.kind, number(span.start), number(span.end)});
    }
    rows.push_back(json::object({{"where", row.where}, {"spans_s", std::move(spans)}}));
  }
  return json::object({{"kinds", activity.kinds}, {"rows", std::move(rows)}});
}

json load_json(const FabricUse::Load& load) {
  return json::object({{"carried_bytes", number(load.carried)},
                       {"capacity_bytes_per_s", number(load.capacity)},
                       {"utilisation", number(load.utilisation)},
                       {"highest_utilisation", number(load.highest)}});
}

json fabric_json(const FabricUse& use) {
  json tiers = json::array();
  for (const FabricUse::Tier& tier : use.tiers) {
    tiers.push_back(json::object({{"name", tier.name}, {"count", tier.count}}));
  }
  json cables = json::array();
  for (const FabricUse::Cables& one : use.cables) {
    cables.push_back(json::object({{"lower", one.lower},
                                   {"upper", one.upper},
                                   {"cables", one.cables},
                                   {"up", load_json(one.up)},
                                   {"down", load_json(one.down)}}));
  }
  return json::object({{"tiers", std::move(tiers)}, {"cables", std::move(cables)}});
}

json links_json(const std::vector<LinkUse>& links) {
  json used = json::array();
  for (const LinkUse& link : links) {
    used.push_back(json::object({{"from", link.from},
                                 {"to", link.to},
                                 {"capacity_bytes_per_s", number(link.capacity)},
                                 {"carried_bytes", number(link.carried)},
                                 {"utilisation", number(link.utilisation)}}));
  }
  return used;
}

}  // namespace

json result_json(const Prediction& prediction) {
  json result;
  result["schema"] = "headway/result/1";
  result["scenario"] = prediction.question.scenario;
  result["provenance"] = prediction.question.provenance;
  result["question"] = question_json(prediction.question);
  result["gpus"] = prediction.question.accelerators;
  result["replicas"] = prediction.replicas;
  result["replica_time_s"] =
      was_simulated(prediction) ? percentiles_json(prediction.replica_time) : json(nullptr);
  result["micro_batches"] = prediction.micro_batches;

  add_speed(result, prediction);
  if (const auto cost = run_cost(prediction)) add_cost(result, *cost);
  if (prediction.anchor) result["anchored"] = anchor_json(*prediction.anchor);
  result["confidence"] =
      was_simulated(prediction) ? confidence_json(prediction.confidence) : json(nullptr);
  result["memory_bytes"] = memory_json(prediction.memory);
  result["breakdown_s"] = breakdown_json(prediction);
  result["critical_rank"] = prediction.critical_rank;
  result["critical_path"] = critical_path_json(prediction.critical_path);
  if (!prediction.activity.rows.empty()) {
    result["activity"] = activity_json(prediction.activity);
  }
  result["links"] = links_json(prediction.busiest_links);
  if (!prediction.fabric.cables.empty()) result["fabric"] = fabric_json(prediction.fabric);
  if (prediction.reliability) add_reliability_json(result, *prediction.reliability);
  if (prediction.shared_fabric)
    result["shared_fabric"] = shared_fabric_json(*prediction.shared_fabric);
  if (prediction.what_if) {
    result["what_if"] = what_if_json(*prediction.what_if);
    result["bottlenecks"] = helps_json(prediction.what_if->sensitivities);
    result["mitigations"] = helps_json(prediction.what_if->mitigations);
  }
  result["warnings"] = prediction.warnings;
  result["not_modelled"] = prediction.not_modelled;
  result["events"] = prediction.events;
  return result;
}

std::string result_json_text(const Prediction& prediction) {
  return json_text(result_json(prediction));
}

}  // namespace headway

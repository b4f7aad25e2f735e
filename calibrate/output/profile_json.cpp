#include "calibrate/output/profile_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "sim/base/quantity_text.h"
#include "sim/files/json_text.h"

namespace headway {
namespace {

using Json = nlohmann::ordered_json;

Json of(const Estimate& estimate) {
  return {{"value", estimate.value}, {"spread", estimate.spread}, {"source", estimate.source}};
}

Json of(const std::map<Precision, Estimate>& estimates) {
  Json json = Json::object();
  for (const auto& [precision, estimate] : estimates) {
    json[std::string(word_of(precision))] = of(estimate);
  }
  return json;
}

Json of(const std::map<std::string, Estimate>& estimates) {
  Json json = Json::object();
  for (const auto& [name, estimate] : estimates) json[name] = of(estimate);
  return json;
}

void add(Json& json, const char* key, const std::optional<Estimate>& estimate) {
  if (estimate) json[key] = of(*estimate);
}
/// One that has a value where nothing is known of it.
void add(Json& json, const char* key, const Estimate& estimate) {
  if (!estimate.source.empty()) json[key] = of(estimate);
}

Json of(const MeasuredCurve& curve, const char* size_key) {
  Json json = {{"source", curve.source}, {"spread", curve.spread}, {"points", Json::array()}};
  for (const MeasuredCurve::Point& point : curve.points) {
    json["points"].push_back({{size_key, point.size.count()}, {"time_s", point.time.count()}});
  }
  return json;
}

Json of(const std::vector<MeasuredGemm>& table) {
  Json points = Json::array();
  for (const MeasuredGemm& row : table) {
    points.push_back({{"precision", word_of(row.precision)},
                      {"m", static_cast<std::int64_t>(row.shape.m)},
                      {"n", static_cast<std::int64_t>(row.shape.n)},
                      {"k", static_cast<std::int64_t>(row.shape.k)},
                      {"time_s", row.time.count()},
                      {"spread", row.spread}});
  }
  return {{"source", "measured: median over passes, mean over the layouts nn, nt and tn"},
          {"points", points}};
}

Json of(const std::vector<MeasuredAttention>& table) {
  Json points = Json::array();
  for (const MeasuredAttention& row : table) {
    const AttentionShape& shape = row.shape;
    points.push_back({{"pass", word_of(row.pass)},
                      {"sequences", static_cast<std::int64_t>(shape.sequences)},
                      {"length", static_cast<std::int64_t>(shape.query_length)},
                      {"query_heads", static_cast<std::int64_t>(shape.query_heads)},
                      {"key_heads", static_cast<std::int64_t>(shape.key_heads)},
                      {"head_size", static_cast<std::int64_t>(shape.head_size)},
                      {"causal", shape.causal},
                      {"time_s", row.time.count()},
                      {"spread", row.spread}});
  }
  return {{"source", "measured: fused attention, median over passes"}, {"points", points}};
}

Json of(const DeviceCosts& device) {
  Json json = {{"peak_flops_per_s", of(device.peak_flops)},
               {"memory_bytes", of(device.memory_bytes)},
               {"memory_bandwidth_bytes_per_s", of(device.memory_bandwidth)},
               {"multiprocessors", of(Estimate{static_cast<double>(device.multiprocessors), 0.0,
                                               "what the system reports"})},
               {"gemm_efficiency", of(device.gemm_efficiency)},
               {"gemm_inner_half", of(device.gemm_inner_half)},
               {"gemm_quantisation", of(device.gemm_quantisation)},
               {"gemm_overhead_s", of(device.gemm_overhead)},
               {"cast_bytes_per_element", of(device.cast_bytes)},
               {"attention_efficiency", of(device.attention_efficiency)},
               {"attention_backward", of(device.attention_backward)},
               {"attention_sequence_half", of(device.attention_sequence_half)},
               {"attention_head_exponent", of(device.attention_head_exponent)},
               {"attention_context_factor", of(device.attention_context_factor)},
               {"batched_gemm_efficiency", of(device.batched_gemm_efficiency)},
               {"misaligned_head_factor", of(device.misaligned_head_factor)},
               {"unfused_forward_bytes_per_score", of(device.unfused_forward_bytes)},
               {"unfused_backward_bytes_per_score", of(device.unfused_backward_bytes)},
               {"memory_efficiency", of(device.memory_efficiency)},
               {"optimizer_bytes_per_parameter", of(device.optimizer_bytes)}};
  const auto add_recipes = [&json](const char* key, const std::map<Scaling, Estimate>& recipes) {
    for (const auto& [scaling, one] : recipes) json[key][std::string(word_of(scaling))] = of(one);
  };
  add_recipes("cast_bytes_by_recipe", device.recipe_cast_bytes);
  add_recipes("rate_by_recipe", device.recipe_rate);
  add(json, "gemm_cold_operands", device.gemm_cold_operands);
  add(json, "sustained_rate", device.sustained_rate);
  add(json, "gather_efficiency", device.gather_efficiency);
  add(json, "gradient_accumulation_bytes_per_weight", device.gradient_accumulation_bytes);
  add(json, "attention_window_saving", device.attention_window_saving);
  add(json, "attention_sink_factor", device.attention_sink_factor);
  add(json, "batched_gemm_head_exponent", device.batched_gemm_head_exponent);
  add(json, "host_bandwidth_bytes_per_s", device.host_bandwidth);
  add(json, "host_memory_bandwidth_bytes_per_s", device.host_memory_bandwidth);
  for (const auto& [name, kernel] : device.attention_kernels) {
    json["attention_kernels"][name] = {{"efficiency", of(kernel.efficiency)},
                                       {"backward", of(kernel.backward)},
                                       {"sequence_half", of(kernel.sequence_half)},
                                       {"head_exponent", of(kernel.head_exponent)}};
  }
  if (!device.gemm_table.empty()) json["gemm_table"] = of(device.gemm_table);
  if (!device.attention_table.empty()) json["attention_table"] = of(device.attention_table);
  if (!device.memory_curve.points.empty()) {
    json["memory_curve"] = of(device.memory_curve, "traffic_bytes");
  }
  if (!device.optimizer_curve.points.empty()) {
    json["optimizer_curve"] = of(device.optimizer_curve, "weight_bytes");
  }
  return json;
}

void add(Json& json, const PublishedSteps& steps) {
  if (steps.count == 0) return;
  json["published_steps"] = {{"count", steps.count}, {"sources", steps.sources}};
}

Json of(const KernelFamily& family) {
  Json json = {{"memory_traffic", of(family.memory_traffic)},
               {"attention_rate", of(family.attention_rate)},
               {"launch_gap_s", of(family.launch_gap)},
               {"host_per_layer_s", of(family.host_per_layer)},
               {"step_overhead_s", of(family.step_overhead)}};
  if (!family.attention_kernel.empty()) json["attention_kernel"] = family.attention_kernel;
  add(json, "loss_traffic", family.loss_traffic);
  add(json, "gradient_traffic", family.gradient_traffic);
  add(json, "micro_batch_overhead_s", family.micro_batch_overhead);
  add(json, "sharded_part_s", family.sharded_part);
  add(json, "unfused_forward_bytes_per_score", family.unfused_forward_bytes);
  add(json, "unfused_backward_bytes_per_score", family.unfused_backward_bytes);
  add(json, "misaligned_product_factor", family.misaligned_product_factor);
  if (!family.releases.empty()) json["releases"] = of(family.releases);
  add(json, family.published_steps);
  return json;
}

Json of(const ScopeCosts& scope) {
  Json json = {{"bandwidth_efficiency", of(scope.bandwidth_efficiency)},
               {"latency_s", of(scope.latency)},
               {"overhead_s", of(scope.overhead)}};
  for (const MeasuredCollective& collective : scope.collectives) {
    Json entry = {{"kind", collective_name(collective.kind)}, {"ranks", collective.ranks}};
    entry.update(of(collective.curve, "message_bytes"));
    json["collectives"].push_back(std::move(entry));
  }
  if (scope.measured_bandwidth) json["measured_bandwidth"] = exact_text(*scope.measured_bandwidth);
  if (scope.burst) json["burst_bytes"] = scope.burst->count();
  return json;
}

Json of(const ExpertCosts& costs) {
  return {{"grouped_efficiency", of(costs.grouped_efficiency)},
          {"grouped_half_rows", of(costs.grouped_half_rows)},
          {"permutation_bytes_per_element", of(costs.permutation_bytes)},
          {"exchange_scale_up_efficiency", of(costs.exchange_scale_up)},
          {"exchange_scale_out_efficiency", of(costs.exchange_scale_out)},
          {"exchange_overhead_s", of(costs.exchange_overhead)},
          {"exchange_seen", of(costs.exchange_seen)},
          {"exchange_seen_overlapped", of(costs.exchange_seen_overlapped)},
          {"layer_gap_s", of(costs.layer_gap)},
          {"host_per_layer_s", of(costs.host_per_layer)}};
}

Json of(const GraphCosts& costs) {
  return {{"launch_gap", of(costs.launch_gap)},
          {"host_layer", of(costs.host_layer)},
          {"expert_layer", of(costs.expert_layer)},
          {"expert_full", of(costs.expert_full)}};
}

Json of(const Profile& profile, const std::map<std::string, std::string>& provenance) {
  Json families = Json::object();
  for (const auto& [name, family] : profile.kernel_families) families[name] = of(family);
  Json json = {{"schema", "headway/profile/1"},
               {"name", profile.name},
               {"accelerator", profile.accelerator},
               {"kind", profile.kind},
               {"provenance", provenance},
               {"device", of(profile.device)},
               {"kernel_families", families},
               {"scale_up", of(profile.scale_up)},
               {"scale_out", of(profile.scale_out)},
               {"overlap",
                {{"tensor_parallel_overlapped", of(profile.overlap.tensor_parallel_overlapped)},
                 {"context_parallel_floor", of(profile.overlap.context_parallel_floor)},
                 {"gradient_reduce_floor", of(profile.overlap.gradient_reduce_floor)},
                 {"sharded_interference", of(profile.overlap.sharded_interference)}}},
               {"variation",
                {{"device_speed", of(profile.variation.device_speed)},
                 {"operation_time", of(profile.variation.operation_time)}}}};
  if (!profile.device.kernels.empty()) json["kernels"] = profile.device.kernels;
  if (profile.experts) json["experts"] = of(*profile.experts);
  if (profile.cuda_graphs) json["cuda_graphs"] = of(*profile.cuda_graphs);
  add(json, profile.published_steps);
  return json;
}

bool fits_on_a_line(const Json& json) {
  return std::none_of(json.begin(), json.end(),
                      [](const Json& member) { return member.is_structured(); });
}

void append(std::string& text, const Json& json, const std::string& indent, bool is_top) {
  if (!json.is_structured() || (fits_on_a_line(json) && !is_top)) {
    text += compact_json(json);
    return;
  }
  const std::string inner = indent + "  ";
  text += json.is_object() ? "{" : "[";
  const char* separator = "\n";
  for (const auto& [key, member] : json.items()) {
    text += separator + inner;
    if (json.is_object()) text += compact_json(Json(key)) + ": ";
    append(text, member, inner, key == "provenance");
    separator = ",\n";
  }
  text += "\n" + indent + (json.is_object() ? "}" : "]");
}

}  // namespace

std::string profile_json(const CalibratedProfile& calibrated) {
  std::string text;
  append(text, of(calibrated.profile, calibrated.provenance), "", true);
  return text + "\n";
}

}  // namespace headway

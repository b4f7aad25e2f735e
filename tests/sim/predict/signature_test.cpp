#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/base/fingerprint.h"
#include "sim/predict/simulate.h"
#include "tests/support/scenario_reading.h"
#include "tests/support/scenario_text.h"

namespace headway {
namespace {

/// One number over the predicted times of twelve fixed jobs, rounded to nine digits. A change of
/// code that alters it alters predictions: say so, and why, in the commit that changes the line
/// below.
constexpr const char* kSignature = "4c6d0bc0b6020968";

/// The same over jobs that reach what those twelve leave out: experts, latent attention, 8 bits,
/// split backward passes, adapters, context parallelism, windows, offloading, recomputed parts,
/// Muon.
constexpr const char* kWiderSignature = "1f07fad2be527b18";

Seconds predicted(const nlohmann::json& scenario) {
  return simulate(scenario_of(scenario), {.scaling = false, .even_if_it_does_not_fit = true})
      .prediction.iteration_time;
}

std::vector<nlohmann::json> jobs() {
  const auto job = [](int nodes, nlohmann::json strategy) {
    nlohmann::json scenario = small_scenario(nodes);
    scenario["strategy"] = std::move(strategy);
    scenario["strategy"]["global_batch"] = 16 * nodes;
    return scenario;
  };
  std::vector<nlohmann::json> list = {
      job(1, {{"micro_batch", 1}}),
      job(4, {{"micro_batch", 2}, {"tensor_parallel", 2}}),
      job(4, {{"micro_batch", 1}, {"tensor_parallel", 2}, {"sequence_parallel", true}}),
      job(4, {{"micro_batch", 1}, {"pipeline_parallel", 4}}),
      job(4, {{"micro_batch", 1}, {"pipeline_parallel", 4}, {"schedule", "gpipe"}}),
      job(4, {{"micro_batch", 1}, {"pipeline_parallel", 4}, {"virtual_stages", 2}}),
      job(4, {{"micro_batch", 1}, {"zero_stage", 1}}),
      job(4, {{"micro_batch", 1}, {"zero_stage", 3}}),
      job(4, {{"micro_batch", 1}, {"context_parallel", 2}}),
      job(4, {{"micro_batch", 1}, {"recompute", "full"}, {"attention", "unfused"}}),
      job(8, {{"micro_batch", 1}, {"overlap_gradient_reduce", false}, {"precision", "fp16"}}),
  };
  list.push_back(list[4]);
  list.back()["perturbations"] = {
      {"device_spread", 0.03},
      {"operation_spread", 0.01},
      {"slow_accelerators", {{{"accelerator", 2}, {"time_factor", 1.2}}}}};
  return list;
}

std::vector<nlohmann::json> wider_jobs() {
  using nlohmann::json;
  const json experts = {{"experts", 8},
                        {"experts_per_token", 2},
                        {"expert_hidden", 1024},
                        {"shared_expert_hidden", 512},
                        {"leading_dense_layers", 1}};
  const json latent = {{"query_rank", 384},
                       {"key_value_rank", 128},
                       {"head_size_without_rotary", 64},
                       {"rotary_head_size", 32},
                       {"value_head_size", 64}};
  const json llama = {
      {"normalization", "rms_norm"}, {"position_encoding", "rotary"}, {"mlp", "gated"}};
  const json grouped = {{"kv_heads", 4}};
  const json tied = {{"tied_embeddings", true}};
  const auto job = [&](json strategy, const std::vector<json>& models) {
    json scenario = small_scenario(4);
    scenario["strategy"] = std::move(strategy);
    scenario["strategy"]["micro_batch"] = 1;
    scenario["strategy"]["global_batch"] = 64;
    for (const json& fields : models) scenario["model"].update(fields);
    return scenario;
  };
  return {
      job({{"expert_parallel", 4}}, {llama, {{"mixture_of_experts", experts}}}),
      job({{"expert_parallel", 2},
           {"expert_tensor_parallel", 2},
           {"tensor_parallel", 2},
           {"sequence_parallel", true},
           {"expert_imbalance", 1.5},
           {"recompute", "modules"},
           {"recompute_modules", {"moe_act", "layernorm"}}},
          {llama,
           {{"mixture_of_experts", experts},
            {"latent_attention", latent},
            {"multi_token_prediction_layers", 1}}}),
      job({{"precision", "fp8"}, {"tensor_parallel", 2}, {"sequence_parallel", true}}, {llama}),
      job({{"pipeline_parallel", 4}, {"schedule", "zb_h1"}}, {}),
      job({{"pipeline_parallel", 4}, {"schedule", "zb_v"}, {"virtual_stages", 2}},
          {llama, grouped}),
      job({{"task", "lora"},
           {"lora_targets", {"qkv", "fc2"}},
           {"tensor_parallel", 2},
           {"zero_stage", 1}},
          {}),
      job({{"context_parallel", 4}, {"context_parallel_method", "all_to_all"}}, {llama, grouped}),
      job({{"context_parallel", 4},
           {"tensor_parallel", 2},
           {"sequence_parallel", true},
           {"overlap_tensor_parallel_backward", true}},
          {llama, grouped}),
      job({{"recompute", "every_second_product"}, {"zero_stage", 3}},
          {llama,
           grouped,
           {{"sliding_window", {{"size", 128}, {"full_attention_interval", 2}}},
            {"attention_sinks", true}}}),
      job({{"offload_layers", 3}}, {}),
      job({{"pipeline_parallel", 2},
           {"recompute", "modules"},
           {"recompute_modules", {"mlp", "core_attn"}},
           {"attention", "unfused"}},
          {tied}),
      job({{"recompute", "activation"},
           {"fused_normalization", false},
           {"fused_activation", false},
           {"fused_operators", false},
           {"precision", "fp8"}},
          {llama}),
      job({{"optimizer", "muon"},
           {"zero_stage", 1},
           {"expert_parallel", 2},
           {"expert_precision", "fp32"}},
          {llama, {{"mixture_of_experts", experts}}}),
  };
}

std::string times_of(const std::vector<nlohmann::json>& jobs) {
  std::string times;
  for (const nlohmann::json& job : jobs) times += fmt::format("{:.9g}\n", predicted(job).count());
  return times;
}

TEST(Signature, PredictionsAreUnchanged) {
  const std::string times = times_of(jobs());
  EXPECT_EQ(fingerprint_text(times), kSignature) << "the twelve times are now\n" << times;
}

TEST(Signature, PredictionsOfRarerKindsAreUnchanged) {
  const std::string times = times_of(wider_jobs());
  EXPECT_EQ(fingerprint_text(times), kWiderSignature) << "the thirteen times are now\n" << times;
}

}  // namespace
}  // namespace headway

#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "tests/support/random_numbers.h"
#include "tests/support/scenario_text.h"

namespace headway {

/// A scenario drawn at random, small enough to be simulated in milliseconds. Not every one is
/// valid: degrees may not divide.
inline nlohmann::json random_scenario(std::uint64_t seed) {
  using nlohmann::json;
  RandomNumbers random(seed);
  const int nodes = 1 << random.below(4);
  json scenario = small_scenario(nodes);
  json& node = scenario["cluster"]["topology"]["node"];
  const int accelerators = 2 << random.below(3);
  node["accelerators"] = accelerators;
  node["nics"]["count"] = std::max(1, accelerators >> random.below(2));
  node["nics"]["bandwidth"] = fmt::format("{:.3g} GB/s", random.between(2.0, 50.0));
  node["scale_up"]["bandwidth"] = fmt::format("{:.3g} GB/s", random.between(20.0, 450.0));
  if (nodes >= 4 && random.chance(0.5)) {
    scenario["cluster"]["topology"]["fabric"] = {
        {"kind", "clos"},
        {"attach", "rack"},
        {"nodes_per_unit", 2},
        {"units", nodes / 2},
        {"leaf", {{"oversubscription", 1 + random.below(4)}}},
        {"spine", json::object()}};
  }
  json& model = scenario["model"];
  model["layers"] = 4 + 4 * random.below(3);
  model["hidden"] = 512 << random.below(4);
  model["ffn_hidden"] = 4 * model["hidden"].get<int>();
  model["mlp"] = random.chance(0.5) ? "gated" : "plain";
  if (random.chance(0.25)) {
    model["mixture_of_experts"] = {
        {"experts", 8}, {"experts_per_token", 2}, {"expert_hidden", 1024}};
  }
  const int ranks = nodes * accelerators;
  const int tensor = 1 << random.below(3);
  const int pipeline = 1 << random.below(3);
  const int context = random.chance(0.2) ? 2 : 1;
  const int data = std::max(1, ranks / (tensor * pipeline * context));
  json strategy = {{"tensor_parallel", tensor},
                   {"pipeline_parallel", pipeline},
                   {"context_parallel", context},
                   {"micro_batch", 1 << random.below(3)},
                   {"sequence_parallel", tensor > 1 && random.chance(0.5)},
                   {"overlap_gradient_reduce", random.chance(0.7)}};
  const int micro_batches = pipeline * (1 + random.below(4));
  strategy["global_batch"] = strategy["micro_batch"].get<int>() * data * micro_batches;
  strategy["zero_stage"] = pipeline > 1 ? random.below(2) : random.below(4);
  strategy["recompute"] =
      std::array{"none", "selective", "full"}[static_cast<std::size_t>(random.below(3))];
  if (pipeline > 1 && random.chance(0.4)) {
    strategy["schedule"] = random.chance(0.5) ? "gpipe" : "zb_h1";
  } else if (pipeline > 1 && random.chance(0.4)) {
    strategy["virtual_stages"] = 2;
  }
  if (model.contains("mixture_of_experts") && random.chance(0.7)) strategy["expert_parallel"] = 2;
  scenario["strategy"] = strategy;
  return scenario;
}

}  // namespace headway

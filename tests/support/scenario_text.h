#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace headway {

/// A scenario small enough to simulate in milliseconds, all of it in one text: a made-up
/// transformer on `nodes` nodes of two accelerators with a NIC each, one switch. Tests change what
/// they need.
inline nlohmann::json small_scenario(int nodes) {
  return {
      {"schema", "headway/scenario/1"},
      {"name", "small"},
      {"model",
       {{"schema", "headway/model/1"},
        {"name", "small"},
        {"layers", 8},
        {"hidden", 1024},
        {"attention_heads", 16},
        {"ffn_hidden", 4096},
        {"mlp", "plain"},
        {"vocabulary", 32000},
        {"sequence_length", 1024}}},
      {"cluster",
       {{"topology",
         {{"schema", "headway/topology/1"},
          {"name", "small"},
          {"node",
           {{"schema", "headway/node/1"},
            {"name", "small"},
            {"accelerator", "h100-sxm"},
            {"accelerators", 2},
            {"scale_up", {{"bandwidth", "450 GB/s"}, {"latency", "500 ns"}}},
            {"nics", {{"count", 2}, {"bandwidth", "50 GB/s"}, {"latency", "800 ns"}}}}},
          {"nodes", nodes},
          {"fabric", {{"kind", "single_switch"}}}}}}},
      {"profile", "h100_sxm"},
      {"strategy",
       {{"tensor_parallel", 2},
        {"pipeline_parallel", 2},
        {"micro_batch", 1},
        {"global_batch", 8 * nodes}}},
      {"perturbations", {{"device_spread", 0.0}, {"operation_spread", 0.0}}},
  };
}

/// The same on four nodes, of which the last two have `accelerator` instead; `profile` is of that.
inline nlohmann::json mixed_scenario(const char* accelerator, const char* profile) {
  nlohmann::json scenario = small_scenario(4);
  nlohmann::json& topology = scenario["cluster"]["topology"];
  nlohmann::json other = topology["node"];
  other["name"] = "older";
  other["accelerator"] = accelerator;
  topology["other_nodes"] = {{{"first", 2}, {"count", 2}, {"node", other}}};
  scenario["profile"] = {"h100_sxm", profile};
  return scenario;
}

}  // namespace headway

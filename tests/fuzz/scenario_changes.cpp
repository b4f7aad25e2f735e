#include "tests/fuzz/scenario_changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include "sim/base/fingerprint.h"
#include "tests/fuzz/settings.h"
#include "tests/support/scenario_reading.h"
#include "tests/support/source_folder.h"

namespace headway {

using nlohmann::json;

void scale(json& quantity, double factor) {
  const auto text = quantity.get<std::string>();
  std::size_t end = 0;
  const double number = std::stod(text, &end);
  quantity = fmt::format("{}{}", number * factor, text.substr(end));
}

void draw_by_hand(json& job) {
  json& topology = job["cluster"]["topology"];
  if (topology["fabric"]["kind"] != "single_switch") return;
  json endpoints = json::array();
  std::vector<json> cables;
  for (int node = 0; node < topology["nodes"].get<int>(); ++node) {
    for (int nic = 0; nic < topology["node"]["nics"]["count"].get<int>(); ++nic) {
      const std::string name = fmt::format("port {} of {}", nic, node);
      endpoints.push_back({{"name", name}, {"node", fmt::format("n{}", node)}});
      const bool turns = (node + nic) % 2 == 1;
      cables.push_back({{"from", turns ? "middle" : name}, {"to", turns ? name : "middle"}});
    }
  }
  std::ranges::sort(cables, {}, [](const json& cable) {
    return fingerprint(cable.dump());  // as good as any other
  });
  topology["fabric"] = {{"kind", "graph"},
                        {"endpoints", endpoints},
                        {"switches", json::array({{{"name", "middle"}}})},
                        {"cables", cables}};
}

void write_in_other_units(json& value) {
  if (value.is_structured()) {
    for (json& member : value) write_in_other_units(member);
  }
  if (!value.is_string()) return;
  const auto text = value.get<std::string>();
  for (const auto& [unit, other, factor] :
       {std::tuple{" GB/s", "Gb/s", 8.0}, {" ns", "us", 1e-3}, {" us", "ns", 1e3}}) {
    if (!text.ends_with(unit)) continue;
    value = fmt::format("{} {}", std::stod(text) * factor, other);
  }
}

json& node_of(json& scenario) { return scenario["cluster"]["topology"]["node"]; }

void permute_nodes(json& job) {
  json& fabric = job["cluster"]["topology"]["fabric"];
  if (fabric["kind"] != "graph") return;
  auto endpoints = fabric["endpoints"].get<std::vector<json>>();
  std::ranges::stable_sort(endpoints, {}, [](const json& endpoint) {
    return fingerprint(endpoint["node"].get<std::string>());
  });
  fabric["endpoints"] = endpoints;
}

void take_made_up_accelerators(json& job) {
  const auto path = std::filesystem::path(source_folder()) / "tests/transcripts/files";
  json profile = json::parse(content_of(path / "tiny_profile.json"));
  const auto set = [&](const char* place, double value) {
    profile.at(json::json_pointer(place)).at("value") = value;
  };
  set("/device/gemm_overhead_s", 2e-6);
  for (const char* scope : {"/scale_up", "/scale_out"}) {
    set((std::string(scope) + "/latency_s").c_str(), 3e-6);
    set((std::string(scope) + "/overhead_s").c_str(), 7e-6);
  }
  for (const char* cost : {"launch_gap_s", "host_per_layer_s", "step_overhead_s"}) {
    set((std::string("/kernel_families/fused/") + cost).c_str(), 1e-6);
  }
  job["profile"] = profile;
  node_of(job)["accelerator"] = "toy";
  json& fabric = job["cluster"]["topology"]["fabric"];
  const auto write_out = [](json& part) {
    part["switch_latency"] = "200 ns";
    part["cable_latency"] = "150 ns";
  };
  for (const char* tier : {"leaf", "spine"}) {
    if (fabric.contains(tier)) write_out(fabric[tier]);
  }
  if (!fabric.contains("leaf")) write_out(fabric);
}

void slow_down_tenfold(json& value, double factor) {
  if (value.is_array()) {
    for (json& element : value) slow_down_tenfold(element, factor);
  } else if (value.is_object()) {
    for (const auto& [name, member] : value.items()) {
      const bool is_rate = name.ends_with("_per_s");
      const bool is_time = !is_rate && name.ends_with("_s");
      slow_down_tenfold(member, is_rate ? 0.1 : is_time ? 10.0 : name == "spread" ? 1.0 : factor);
    }
  } else if (value.is_number_float() && factor != 1.0) {
    value = value.get<double>() * factor;
  } else if (value.is_string()) {
    const auto text = value.get<std::string>();
    if (text.ends_with(" GB/s")) scale(value, 0.1);
    if (text.ends_with(" ns") || text.ends_with(" us")) scale(value, 10.0);
  }
}

}  // namespace headway

#pragma once

#include <fmt/format.h>

#include <string>

namespace headway {

/// Nodes around a fabric whose every number is round: a hop over a single switch takes 2 us.
struct ClusterText {
  int nodes = 2;
  int accelerators = 1;  ///< of a node
  int nics = 1;
  std::string nic_bandwidth = "50 GB/s";
  std::string scale_up_bandwidth = "400 GB/s";
  std::string fabric =
      R"({"kind": "single_switch", "cable_latency": "1 us", "switch_latency": "0 s"})";

  /// The scale-up fabric takes 500 ns a step, a NIC nothing.
  [[nodiscard]] std::string text() const {
    return fmt::format(
        R"({{"schema": "headway/topology/1", "name": "t", "nodes": {}, "node": {{
            "accelerator": "any", "accelerators": {},
            "scale_up": {{"bandwidth": "{}", "latency": "500 ns"}},
            "nics": {{"count": {}, "bandwidth": "{}", "latency": "0 s"}}}}, "fabric": {}}})",
        nodes, accelerators, scale_up_bandwidth, nics, nic_bandwidth, fabric);
  }
};

}  // namespace headway

#pragma once

#include "tests/support/scenario_text.h"

#include <nlohmann/json.hpp>

namespace headway {

/// The small scenario with plain data parallelism on the first three of six nodes, two to a leaf
/// switch with half the bandwidth above it: the leaf of nodes 2 and 3 is the own job's and a
/// neighbour's.
inline nlohmann::json shared_leaf_scenario() {
  nlohmann::json text = small_scenario(6);
  text["cluster"]["topology"]["fabric"] = {{"kind", "clos"},
                                           {"attach", "rack"},
                                           {"nodes_per_unit", 2},
                                           {"leaf", {{"oversubscription", 4}}},
                                           {"spine", nlohmann::json::object()}};
  text["cluster"]["job_nodes"] = 3;
  text["strategy"] = {{"preset", "pytorch-ddp"}, {"micro_batch", 1}, {"global_batch", 12}};
  return text;
}

/// A neighbour like the job itself on nodes 3 to 5.
inline nlohmann::json neighbour(const char* name = "other") {
  return {{"name", name},
          {"first_node", 3},
          {"strategy", {{"preset", "pytorch-ddp"}, {"micro_batch", 1}, {"global_batch", 12}}},
          {"sizes", {{{"at", "0 s"}, {"nodes", 3}}}}};
}

}  // namespace headway

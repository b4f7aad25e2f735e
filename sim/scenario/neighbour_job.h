#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/layers/model.h"
#include "sim/scenario/read_input.h"

namespace headway {

struct Strategy;

/// Another job on the fabric of a scenario, from the time it joins until it leaves.
struct NeighbourJob {
  /// What it is split into on some number of nodes.
  struct Size {
    double from = 0.0;  ///< seconds
    double to = std::numeric_limits<double>::infinity();
    int nodes = 1;
    std::shared_ptr<const Strategy> strategy;
  };
  std::string name;
  Model model;
  int first_node = 0;
  std::optional<SampleReading> reading;  ///< from the scenario's store
  std::vector<Size> sizes;               ///< one after the other
};

}  // namespace headway

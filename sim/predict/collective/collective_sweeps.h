#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/costs/collective_cost.h"
#include "sim/files/json_document.h"

namespace headway {

/// A table of nccl-tests as somebody published it, and where Headway predicts it.
struct PublishedSweep {
  struct Point {
    Bytes size;
    Seconds time;
  };
  std::string id;
  std::string source;    ///< address
  std::string stated;    ///< what the source says of nodes and network cards
  std::string topology;  ///< of the library
  int nodes = 1;
  CollectiveKind kind = CollectiveKind::all_reduce;
  std::optional<CollectiveAlgorithm> algorithm;  ///< as forced where it was measured
  std::vector<Point> points;
};

/// One that is not predicted, and why.
struct UnscoredSweep {
  std::string id;
  std::string source;
  std::string reason;
};

struct PublishedSweeps {
  std::vector<PublishedSweep> scored;
  std::vector<UnscoredSweep> unscored;
};

/// Reads a "headway/collective-sweeps/1" object; problems are diagnostics.
[[nodiscard]] PublishedSweeps read_collective_sweeps(const JsonCursor& root,
                                                     Diagnostics& diagnostics);

}  // namespace headway

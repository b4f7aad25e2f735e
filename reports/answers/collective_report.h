#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "sim/predict/collective/collective_table.h"

namespace headway {

/// The rows of a table, and what it is about.
struct CollectiveReport {
  std::string cluster;  ///< its name
  int nodes = 1;        ///< that the ranks stand on
  CollectiveCosts costs = CollectiveCosts::hardware;
  std::string profile;  ///< its name, with the costs of one
  CollectiveKind kind = CollectiveKind::all_reduce;
  int ranks = 0;   ///< of a group
  int groups = 1;  ///< that run at once
  std::vector<CollectiveRow> rows;
};

/// The table that nccl-tests prints, in its words and units (microseconds; GB/s of 1e9 bytes), with
/// the closed form and its ratio beside it; the last line is the average bus bandwidth.
[[nodiscard]] std::string collective_text(const CollectiveReport& report);

/// "headway/collective/1", in SI base units.
[[nodiscard]] nlohmann::json collective_json(const CollectiveReport& report);

}  // namespace headway

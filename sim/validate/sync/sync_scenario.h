#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "sim/base/units.h"
#include "sim/scenario/scenario.h"
#include "sim/validate/sync/row_words.h"

namespace headway {

/// Nodes around one switch that holds nobody up.
struct SwitchedNodes {
  std::string accelerator = "any";
  int nodes = 1;
  int per_node = 1;
  BytesPerSecond scale_up_bandwidth = BytesPerSecond(16e9);  ///< PCIe 3.0 x16
  int nics = 1;                                              ///< of a node
  BytesPerSecond nic_bandwidth;
  Seconds nic_latency = Seconds(10e-6);  ///< through the kernel's TCP
  /// Where a fabric has to say how messages cross it, and what a connection carries: else as the
  /// profile has it.
  std::optional<std::string> transport = {};
  std::optional<BytesPerSecond> connection = {};
};
/// Nodes of such accelerators, one each.
[[nodiscard]] SwitchedNodes nodes_of(const NamedAccelerator& accelerator);
/// The "cluster" of a scenario.
[[nodiscard]] nlohmann::json switched_nodes(const SwitchedNodes& nodes);

/// A job whose compute is known and whose model is a number of parameters: islands that meet over
/// one link each.
struct IslandsOfOne {
  int islands = 2;
  double parameters = 0.0;
  double step_s = 1.0;  ///< of an island, nothing to wait for
  int every = 1;        ///< steps
  double bits = 16.0;   ///< of a parameter
  int fragments = 1;
  double overlap_steps = 0.0;
};

/// What an average step of such a job takes over links of that rate.
[[nodiscard]] double step_of_islands(const IslandsOfOne& job, BytesPerSecond link);

/// The rate of the link at which a step takes `wanted_s`. Requires that it is longer than one with
/// nothing to wait for.
[[nodiscard]] BytesPerSecond link_for_step(const IslandsOfOne& job, double wanted_s);

/// A scenario from its parts, as a file would have it. Throws InputError.
[[nodiscard]] Scenario scenario_from(const nlohmann::json& parts);

/// What an iteration takes, the median of a few draws. Throws InputError where the row that compute
/// is calibrated with makes no sense.
[[nodiscard]] double iteration_seconds(const Scenario& scenario);

/// Where `value`, falling or rising with x, is `wanted`, between two positive x, by halving on a
/// logarithmic scale; the nearer end where it is nowhere.
[[nodiscard]] double where_it_is(double wanted, double low, double high,
                                 const std::function<double(double)>& value);

}  // namespace headway

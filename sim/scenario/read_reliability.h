#pragma once

#include <optional>
#include <string_view>

#include "sim/costs/profile.h"
#include "sim/files/field_table.h"
#include "sim/files/input_files.h"
#include "sim/layers/model.h"
#include "sim/network/cluster.h"
#include "sim/scenario/reliability_settings.h"

namespace headway {

struct Strategy;

/// The job that is kept running.
struct ReliableJob {
  const Model& model;
  const Strategy& strategy;
  const Cluster& cluster;
  const Profile& profile;
  std::optional<double> train_tokens;  ///< where nothing says when the run ends
  FlopsPerSecond peak;                 ///< of its fastest accelerator; 0 where no profile tells
};

[[nodiscard]] const FieldTable<ReliabilitySettings>& reliability_fields();

/// Reads the "reliability" of a scenario and writes it, resolved, into it. Nothing if there is none
/// or it is wrong, which is reported.
[[nodiscard]] std::optional<ReliabilitySettings> read_reliability(ObjectReader& scenario,
                                                                  const ReliableJob& job,
                                                                  InputFiles& files);

/// Why a job of this strategy cannot recover as the settings say; empty if it can. Sets what the
/// recovery can cut the job into.
[[nodiscard]] std::string_view recovery_obstacle(const Strategy& strategy, int node_accelerators,
                                                 ReliabilitySettings& settings);

/// What a checkpoint of the whole job holds: parameters in 16 bits, and of those that are trained
/// the fp32 copy and the two moments of Adam, 12 bytes (Rajbhandari et al. 2020, section 3.1).
[[nodiscard]] Bytes checkpoint_bytes(const Model& model, const Strategy& strategy);

}  // namespace headway

#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/costs/kind_profiles.h"
#include "sim/engine/simulate_workload.h"
#include "sim/files/input_files.h"
#include "sim/files/json_value.h"
#include "sim/layers/model.h"
#include "sim/network/cluster.h"
#include "sim/network/placement.h"
#include "sim/programs/perturbation/perturbation.h"
#include "sim/programs/workload.h"
#include "sim/scenario/neighbour_job.h"
#include "sim/scenario/read_input.h"
#include "sim/scenario/read_post_training.h"
#include "sim/scenario/read_profiles.h"
#include "sim/scenario/read_run.h"
#include "sim/scenario/read_statistics.h"
#include "sim/scenario/reliability_settings.h"

namespace headway {

struct Scenario;
struct Strategy;

/// One measured step of the user's own run.
struct Anchor {
  Seconds measured;                    ///< of an iteration
  std::shared_ptr<const Scenario> of;  ///< what ran; nullptr is the scenario with the anchor
};

/// What is changed in a workload after it was built.
using WorkloadChange = void (*)(Workload&);

/// A question, read and checked: everything below is consistent with everything else.
struct Scenario {
  std::string name;
  Model model;
  std::shared_ptr<const Cluster> cluster;
  std::shared_ptr<const Profile> profile;  ///< of the first kind of node
  ProfileList other_profiles;              ///< of the others, in the cluster's order
  std::shared_ptr<const Strategy> strategy;
  /// A mixture of experts of which the scenario says neither how tokens reach their experts, nor
  /// whether that overlaps, nor what is captured in graphs: software decides.
  bool leaves_experts_open = false;
  Placement placement;
  Perturbation perturbation;
  RunSettings run;
  std::vector<Anchor> anchors;  ///< one of the scenario itself, or any number of others
  std::optional<ReliabilitySettings> reliability;
  std::optional<StatisticsSettings> statistics;
  std::optional<InputSettings> input;
  std::optional<PostTrainingSettings> post_training;
  std::vector<NeighbourJob> jobs;  ///< others on the same fabric
  /// On the times of compute, recomputation, optimizer and host: what an anchor says of software.
  double software_factor = 1.0;
  std::vector<WorkloadChange> workload_changes;  ///< in this order; no file asks for any
  JsonValue given;                               ///< as it was written, overrides applied
  std::optional<JsonCursor> source;  ///< where it was written; nothing for a resolved scenario
  bool model_has_own_fields = true;  ///< --set /model/layers reaches the model: no Hugging Face
  JsonValue resolved;                ///< every default written out; reads back as the same scenario
  JsonValue files;                   ///< [{path, fingerprint}] of what was read

  /// By kind of node. Refers to the scenario's.
  [[nodiscard]] KindProfiles profiles() const;
  /// What an accelerator of the kind holds that holds least.
  [[nodiscard]] Bytes least_memory() const;
  /// That the job runs on.
  [[nodiscard]] int accelerators() const;
  /// Of a step, over all replicas.
  [[nodiscard]] std::int64_t samples_of_step() const;
  [[nodiscard]] std::int64_t tokens_of_step() const;
  /// Puts changed copies in the place of all of them.
  void change_profiles(const std::function<void(Profile&)>& change);
  /// Puts a changed copy of the strategy in its place.
  void change_strategy(const std::function<void(Strategy&)>& change);
};

/// What a command line changes in every scenario it reads.
struct ScenarioOptions {
  std::vector<Override> overrides;
  std::optional<std::string> profile;  ///< instead of the scenario's
  std::optional<std::uint64_t> seed;
  std::optional<int> replicas;
  /// Tokens that a run with reliability ends with, where the scenario does not say when it does.
  std::optional<double> train_tokens = {};
  /// Remembers what other scenarios of this process read; not where files may have changed since.
  std::shared_ptr<ReadMemory> memory = {};
};

/// Reads a "headway/scenario/1" file ("-" is standard input) with all it refers to. Throws
/// InputError with every problem of every file. Warnings are left in `diagnostics`.
[[nodiscard]] Scenario read_scenario(const std::string& path, const ScenarioOptions& options,
                                     Diagnostics& diagnostics);

/// The placement of a strategy's ranks, tensor-parallel ones next to each other, then context-,
/// data- and pipeline-parallel ones, or in the given order.
[[nodiscard]] Placement placement_of(const Strategy& strategy,
                                     std::vector<ParallelDimension> order);

}  // namespace headway

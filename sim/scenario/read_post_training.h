#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/costs/profile.h"
#include "sim/files/field_table.h"
#include "sim/layers/model.h"
#include "sim/network/cluster.h"

namespace headway {

struct Strategy;

/// Who generates: engines of some accelerators, each of which holds the model once.
struct GenerationSettings {
  int engine_accelerators = 1;  ///< that hold the model once together
  int accelerators = 0;  ///< besides the job's, on nodes of their own; 0: the job's take turns
  std::int64_t sequences = 256;           ///< that an engine works on at a time, at most
  double memory_share = 0.9;              ///< of an accelerator, for weights and caches
  Seconds token_overhead = Seconds(0.0);  ///< of the host, between two tokens of a sequence
};

/// The "post_training" of a scenario: reinforcement learning on what the model itself generates
/// (PPO, GRPO: Shao et al. 2024, arXiv:2402.03300). The scenario's iteration is its training.
struct PostTrainingSettings {
  std::int64_t rollouts = 1;      ///< sequences that a step generates and learns from
  double prompt_tokens = 0.0;     ///< in front of each
  double mean_response = 1.0;     ///< tokens generated
  double longest_response = 1.0;  ///< where generating ends
  int forward_passes = 2;         ///< over all rollouts, for log probabilities
  int steps_off_policy = 0;       ///< that rollouts may be older than the weights they train
  GenerationSettings generation;

  /// Of a step's rollouts, prompts included.
  [[nodiscard]] double tokens() const {
    return static_cast<double>(rollouts) * (prompt_tokens + mean_response);
  }
  /// Of training, in a step: as many as the rollouts' tokens make.
  [[nodiscard]] double iterations(const Strategy& training) const;
  /// Of the accelerators of a job of so many, those that generate.
  [[nodiscard]] int generating(int job_accelerators) const {
    return generation.accelerators > 0 ? generation.accelerators : job_accelerators;
  }
};

/// Whoever generates has the weights in 16 bits.
[[nodiscard]] Bytes generating_weights(const Model& model);

[[nodiscard]] const FieldTable<PostTrainingSettings>& post_training_fields();
[[nodiscard]] const FieldTable<GenerationSettings>& generation_fields();

/// What it is checked against.
struct PostTrainingContext {
  const Model& model;
  const Strategy& strategy;
  const Cluster& cluster;
  const Profile& profile;
  int free_nodes = 0;    ///< that no job has
  bool has_run = false;  ///< the scenario says how long the job runs, or what that costs
};

/// Nothing if there is none. Without a context, of a scenario with other errors, the parts are
/// checked by themselves only.
[[nodiscard]] std::optional<PostTrainingSettings> read_post_training(
    ObjectReader& scenario, const std::optional<PostTrainingContext>& context);

}  // namespace headway

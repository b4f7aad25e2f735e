#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.h"
#include "sim/files/json_value.h"
#include "sim/jobs/stage_memory.h"
#include "sim/programs/cause.h"
#include "sim/result/reliability.h"
#include "sim/result/server_use.h"
#include "sim/result/shared_fabric.h"
#include "sim/result/timeline.h"
#include "sim/result/what_if.h"

namespace headway {

/// The fifth and the ninety-fifth percentile of what to expect.
struct Interval {
  double low = 0.0;
  double high = 0.0;
};

/// A stretch of the chain of events that decides how long the iteration takes.
struct CriticalSegment {
  std::string where;  ///< "stage 3, replica 17"
  std::string what;  ///< "forward", "backward", "transfer from stage 2", "gradient reduce, stage 0"
  Seconds start;
  Seconds end;
  std::int64_t operations = 1;  ///< that were merged into this segment
};

/// What some rank groups did when, to be seen at a glance: one group of each pipeline stage.
struct Activity {
  struct Span {
    std::int32_t kind = 0;  ///< index into `kinds`
    Seconds start;
    Seconds end;
  };
  struct Row {
    std::string where;        ///< "stage 3, replica 17"
    std::vector<Span> spans;  ///< in order, disjoint
  };
  std::vector<std::string> kinds;  ///< "forward", "backward", "waits for a message"
  std::vector<Row> rows;
};

struct LinkUse {
  std::string from;
  std::string to;
  BytesPerSecond capacity;
  Bytes carried;
  double utilisation = 0.0;  ///< carried / (capacity * iteration)
};

/// What crossed the cables of a whole fabric, summed between tiers.
struct FabricUse {
  struct Tier {
    std::string name;  ///< "NIC ports", "leaf switches"
    int count = 0;
  };
  struct Load {
    Bytes carried;
    BytesPerSecond capacity;   ///< of all these links together
    double utilisation = 0.0;  ///< carried / (capacity * iteration)
    double highest = 0.0;      ///< utilisation of the fullest link
  };
  struct Cables {
    int lower = 0;  ///< indices of tiers; equal inside one
    int upper = 0;
    int cables = 0;
    Load up;    ///< from the lower tier to the upper one; inside a tier both directions
    Load down;  ///< nothing inside a tier
  };
  std::vector<Tier> tiers;  ///< bottom-up, NIC ports first
  std::vector<Cables> cables;
};

/// What a job offloads into the memory of the node with the least room for it, of all its
/// accelerators.
struct HostMemory {
  Bytes needed;
  Bytes capacity;  ///< 0 where nobody says what the node has
  [[nodiscard]] bool is_known() const { return capacity > Bytes(0.0); }
  [[nodiscard]] bool fits() const { return !is_known() || needed <= capacity; }
};

/// Model states and activations of all stages against what a device holds.
struct MemoryPrediction {
  std::vector<StageMemory> stages;
  Bytes capacity;
  int fullest_stage = 0;
  std::optional<HostMemory> host = {};  ///< only where something is offloaded
  bool fits = true;                     ///< devices and hosts

  [[nodiscard]] bool is_short_of_host() const { return host && !host->fits(); }
};

/// What the accelerators of each kind do in a job that runs on several.
struct KindsUse {
  struct Kind {
    std::string accelerator;
    std::string profile;
    std::int64_t accelerators = 0;         ///< of the job
    std::int64_t least_micro_batches = 0;  ///< of a replica that they work on
    std::int64_t most_micro_batches = 0;
    double busy_share = 0.0;  ///< of their time, computing: recomputation, optimizer and host too
    double waiting_share = 0.0;  ///< for others that compute: pipeline bubble and stragglers
    Bytes needed;                ///< memory of the fullest of them
    Bytes capacity;
  };
  std::vector<Kind> kinds;
};

/// A measured step of the user's own run.
struct AnchorStep {
  std::string of;  ///< name of the scenario that was measured
  Seconds measured;
  Seconds predicted;             ///< without knowing the measurement
  double software_factor = 1.0;  ///< that explains it, on times of compute, optimizer and host
};

/// What measured steps changed.
struct AnchorEffect {
  std::vector<AnchorStep> steps;
  double software_factor = 1.0;  ///< on times of compute, recomputation, optimizer and host here
  Seconds time_without;          ///< iteration predicted here without them
  Interval interval_without;
};

/// Published training steps that predictions were compared with, and how many publications they
/// are from. None: nobody has compared.
struct Evidence {
  std::string of;            ///< "fused" software, "h100-sxm"
  bool is_measured = false;  ///< by the user's own calibration, whatever others published
  std::int64_t steps = 0;
  std::int64_t sources = 0;
};

/// What the interval is made of besides the draws: standard deviations of logarithms of times.
struct Confidence {
  Evidence software;            ///< the kernel family, on any accelerator
  Evidence accelerator;         ///< the profile's, of any software; of several the least known
  Interval with_measured_step;  ///< seconds; what one measured step of such a job would leave
  std::string job_kind;         ///< "dense pre-training": what `model_error` was found on
  double model_error = 0.0;  ///< of the model as a whole, against published steps it had not seen
  double accelerator_error = 0.0;  ///< on top of it, of accelerators that nobody measured
  double kernel_spread = 0.0;      ///< of what kernels cost, as the profile knows it
  bool beyond_calibration =
      false;  ///< some kernels lie outside of what the profile was measured on
};

/// How many steps a job takes to its target, as the scenario's "statistics" say.
struct StepsToTarget {
  double steps = 0.0;           ///< iterations
  double samples = 0.0;         ///< in all of them
  double efficiency = 1.0;      ///< samples that small batches would take, over these
  double noise_scale = 0.0;     ///< samples
  double staleness = 0.0;       ///< updates, of those that workers make by themselves
  double penalty = 1.0;         ///< on the steps, as the scenario has it
  double doubling_saves = 0.0;  ///< share of the steps that twice the accelerators and batch save
  double pays_up_to = 0.0;      ///< accelerators at which that is a quarter
};

/// How samples come to a job, as the scenario's "data_loading" has it.
struct InputUse {
  double read_share = 1.0;      ///< of the samples of an epoch after the first, from storage
  Seconds read;                 ///< those of a step
  Seconds prepare;              ///< by the cores of the hosts
  Seconds stalled;              ///< of a step
  Seconds first_epoch_step;     ///< a step while nothing is cached
  Seconds checkpoint_step;      ///< a step beside which a checkpoint is stored; 0: none is
  Seconds checkpoint;           ///< that storing it takes then
  Seconds epoch;                ///< a later one
  BytesPerSecond storage_rate;  ///< at which the job reads then
};

/// A step of reinforcement learning on what the model itself generates, as the scenario's
/// "post_training" has it. Its iterations of training are the prediction's.
struct PostTraining {
  std::int64_t accelerators = 0;  ///< the job's, and those that only generate
  std::int64_t generating = 0;    ///< of them, at a time or always
  int steps_off_policy = 0;       ///< 0: generating and training take turns
  double iterations = 1.0;        ///< of training, in a step
  Seconds generation;             ///< of the rollouts of a step
  Seconds token;                  ///< the first of all sequences that an engine works on
  Seconds log_probabilities;
  Seconds training;
  Seconds transfer;  ///< of the weights, to whoever generates
  Seconds step;
  double tokens_per_second = 0.0;  ///< prompts and responses

  [[nodiscard]] bool is_side_by_side() const { return steps_off_policy > 0; }
  [[nodiscard]] Seconds learning() const { return log_probabilities + training; }
};

/// Speed against the same work for each replica on the smallest cluster that can hold it.
struct ScalingReference {
  std::int64_t accelerators = 0;
  Seconds iteration_time;
  double efficiency = 1.0;  ///< tokens/s per accelerator here over there
  std::string description;  ///< "data_parallel 1"
};

/// What was asked, on one line for people, and everything needed to ask it again.
struct Question {
  std::string model;    ///< "llama3-405b"
  std::string cluster;  ///< "meta-24k-roce"
  std::string node_type;
  std::int64_t nodes = 0;
  std::int64_t accelerators = 0;
  std::string strategy;  ///< "tp 8, pp 16, dp 128, global batch 2048, 1F1B x 8"
  std::string profile;   ///< "h100-sxm (published)"
  JsonValue scenario;    ///< resolved: every default written out
  JsonValue provenance;  ///< versions, files with fingerprints, command line
};

/// The answer to a scenario.
struct Prediction {
  Question question;

  Seconds iteration_time;  ///< median over replicas
  Interval iteration_interval;
  Confidence confidence;
  int replicas = 1;
  Percentiles replica_time;  ///< seconds, of the draws alone
  std::int64_t micro_batches = 1;

  double samples_per_second = 0.0;
  double tokens_per_second = 0.0;
  double tokens_per_second_per_accelerator = 0.0;
  double model_flops_per_second_per_accelerator = 0.0;  ///< causal attention, no recomputation
  double mfu = 0.0;
  double mfu_whole_square = 0.0;  ///< attention counted over the whole square, as some papers do
  double hfu = 0.0;               ///< recomputed operations counted too
  std::optional<ScalingReference> scaling;
  std::optional<AnchorEffect> anchor;
  std::optional<WhatIf> what_if;
  std::optional<ReliabilityPrediction> reliability;
  std::optional<SharedFabric> shared_fabric;  ///< if there are other jobs
  std::optional<StepsToTarget> statistics;
  std::optional<InputUse> input;
  std::optional<PostTraining> post_training;
  std::optional<ServerUse> servers;           ///< of a job that has some
  std::optional<KindsUse> accelerator_kinds;  ///< of a job on several

  TimeByCause breakdown;  ///< of the critical rank, or of the average worker; sums to the iteration
  std::string critical_rank;  ///< "stage 15, replica 3"; empty where workers are not in step
  std::vector<CriticalSegment> critical_path;
  Activity activity;  ///< empty unless somebody asked for it
  MemoryPrediction memory;
  std::vector<LinkUse> busiest_links;  ///< most used first
  FabricUse fabric;                    ///< no cables: not known

  std::vector<std::string> warnings;
  std::vector<std::string>
      not_modelled;     ///< simplifications that touch this scenario, then general ones
  EngineCounts counts;  ///< of the median replica

  /// Models of images, tables and the like have samples without tokens.
  [[nodiscard]] bool counts_tokens() const { return tokens_per_second > 0.0; }
  /// Tokens a second, or samples where they have none; 0 where nothing was simulated.
  [[nodiscard]] double throughput() const {
    return counts_tokens() ? tokens_per_second : samples_per_second;
  }
};

}  // namespace headway

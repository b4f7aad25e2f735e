#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/programs/build_workload.h"
#include "sim/programs/closed_form.h"
#include "tests/sim/network/read_text.h"
#include "tests/support/round_profile.h"
#include "tests/support/small_job.h"

namespace headway {

inline constexpr double kSlower = 4.0;

/// Nothing but products and passes over memory takes time, and they take `slower` times as long as
/// on the round device. No optimizer, no noise.
inline Profile plain_profile(double slower) {
  Profile profile = even_profile();
  for (auto& [unused, peak] : profile.device.peak_flops) peak.value /= slower;
  profile.device.memory_bandwidth.value /= slower;
  profile.device.optimizer_bytes = estimate(0.0);
  return profile;
}

/// Single accelerators around a switch that takes no time to speak of; kind 1 has `slow_nic`.
inline std::string text_of_kinds(const std::vector<int>& kinds, const std::string& slow_nic) {
  const auto node = [](const char* name, const std::string& nic) {
    return R"({"name": ")" + std::string(name) + R"(", "accelerator": ")" + name +
           R"(", "nics": {"bandwidth": ")" + nic + R"(", "latency": "0 s"}})";
  };
  std::string others;
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    if (kinds[i] == 0) continue;
    others += std::string(others.empty() ? "" : ", ") + R"({"first": )" + std::to_string(i) +
              R"(, "node": )" + node("slow", slow_nic) + "}";
  }
  return R"({"schema": "headway/topology/1", "name": "t", "nodes": )" +
         std::to_string(kinds.size()) + R"(, "node": )" + node("fast", "1e9 GB/s") +
         R"(, "other_nodes": [)" + others + R"(],
             "fabric": {"kind": "single_switch", "cable_latency": "0 s", "switch_latency": "0 s"}})";
}

/// On nodes of kind 0, which is fast, and of kind 1, which takes four times as long.
struct MixedJob {
  std::vector<int> kinds;
  Model model = thousand_parameter_layers(4);
  Strategy strategy = {};
  std::string slow_nic = "1e9 GB/s";
  Profile fast = plain_profile(1.0);
  Profile slow = plain_profile(kSlower);
  std::shared_ptr<const Cluster> cluster = {};

  explicit MixedJob(std::vector<int> of_nodes) : kinds(std::move(of_nodes)) {
    strategy.sequence_length = 64;
    strategy.gradient_norm = false;
  }
  [[nodiscard]] Placement placement() const {
    return {.tensor = strategy.tensor_parallel,
            .data = strategy.data_parallel,
            .pipeline = strategy.pipeline_parallel};
  }
  [[nodiscard]] KindProfiles profiles() const {
    return KindProfiles(std::vector<const Profile*>{&fast, &slow});
  }
  [[nodiscard]] Workload workload() {
    cluster = cluster_of(text_of_kinds(kinds, slow_nic));
    return build_workload({model, strategy, profiles(), *cluster, placement(), std::nullopt})
        .workload;
  }
  [[nodiscard]] double closed_form_seconds() {
    cluster = cluster_of(text_of_kinds(kinds, slow_nic));
    return closed_form_iteration(model, strategy, profiles(), *cluster, placement(), {}).count();
  }
};

/// What a micro-batch takes two layers and an end of the model, on a kind.
struct TwoLayerTimes {
  double forward = 0.0;
  double backward = 0.0;
  [[nodiscard]] double both() const { return forward + backward; }
};
inline TwoLayerTimes stage_times(const MixedJob& job, const Profile& profile, bool is_last) {
  const StageCost cost = stage_cost(job.model, job.strategy, profile, NodeType{}, ExchangePlaces{});
  const LayerCost& layer = cost.layer();
  const TimeByCause& forward = is_last ? cost.head_forward : cost.embedding_forward;
  const TimeByCause& backward = is_last ? cost.head_backward : cost.embedding_backward;
  return {2.0 * layer.forward.total().count() + forward.total().count(),
          2.0 * layer.backward.total().count() + backward.total().count()};
}

/// A forward and a backward message for each micro-batch of the group.
inline int message_slots_of(const Workload& workload, std::size_t group) {
  const RankGroup& of = workload.groups[group];
  return workload.programs[static_cast<std::size_t>(of.program)].message_slots;
}

inline MixedJob two_stages(std::vector<int> kinds) {
  MixedJob job(std::move(kinds));
  job.strategy.pipeline_parallel = 2;
  job.strategy.global_batch = 4;
  return job;
}

inline MixedJob two_replicas(std::vector<int> kinds) {
  MixedJob job(std::move(kinds));
  job.strategy.data_parallel = 2;
  job.strategy.global_batch = 10;  // five micro-batches each
  return job;
}

}  // namespace headway

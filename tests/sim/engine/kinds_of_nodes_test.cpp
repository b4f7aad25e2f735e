// Jobs on accelerators of several kinds, against what hand arithmetic says of them.
#include <gtest/gtest.h>

#include "sim/engine/simulate_workload.h"
#include "sim/programs/build_workload.h"
#include "sim/programs/closed_form.h"
#include "sim/programs/flows/flow_plans.h"
#include "tests/sim/network/read_text.h"
#include "tests/support/round_profile.h"
#include "tests/support/small_job.h"

namespace headway {
namespace {

constexpr double kSlower = 4.0;

/// Nothing but products and passes over memory takes time, and they take `slower` times as long as
/// on the round device. No optimizer, no noise.
Profile plain_profile(double slower) {
  Profile profile = even_profile();
  for (auto& [unused, peak] : profile.device.peak_flops) peak.value /= slower;
  profile.device.memory_bandwidth.value /= slower;
  profile.device.optimizer_bytes = estimate(0.0);
  return profile;
}

/// Single accelerators around a switch that takes no time to speak of; kind 1 has `slow_nic`.
std::string cluster_text(const std::vector<int>& kinds, const std::string& slow_nic) {
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
    cluster = cluster_of(cluster_text(kinds, slow_nic));
    return build_workload(model, strategy, profiles(), *cluster, placement(), std::nullopt)
        .workload;
  }
  [[nodiscard]] double seconds() {
    const Workload job = workload();
    return simulate_workload(job, cluster->topology, {}, {}).finish;
  }
  [[nodiscard]] double closed_form_seconds() {
    cluster = cluster_of(cluster_text(kinds, slow_nic));
    return closed_form_iteration(model, strategy, profiles(), *cluster, placement(), {}).count();
  }
};

/// What a micro-batch takes two layers and an end of the model, on a kind.
struct PassTimes {
  double forward = 0.0;
  double backward = 0.0;
  [[nodiscard]] double both() const { return forward + backward; }
};
PassTimes stage_times(const MixedJob& job, const Profile& profile, bool is_last) {
  const StageCost cost = stage_cost(job.model, job.strategy, profile, NodeType{}, ExchangePlaces{});
  const LayerCost& layer = cost.layer();
  const TimeByCause& forward = is_last ? cost.head_forward : cost.embedding_forward;
  const TimeByCause& backward = is_last ? cost.head_backward : cost.embedding_backward;
  return {2.0 * layer.forward.total().count() + forward.total().count(),
          2.0 * layer.backward.total().count() + backward.total().count()};
}

MixedJob two_stages(std::vector<int> kinds) {
  MixedJob job(std::move(kinds));
  job.strategy.pipeline_parallel = 2;
  job.strategy.global_batch = 4;
  return job;
}

TEST(KindsOfNodes, ASlowLastStageIsNeverWithoutWork) {
  // Four micro-batches. The slow stage gets the first one after f0 and has the next ready whenever
  // it is through with one (f0 < f1 + b1); the fast one then takes the last gradient back:
  //   f0 + 4 (f1 + b1) + b0
  MixedJob job = two_stages({0, 1});
  const PassTimes first = stage_times(job, job.fast, false);
  const PassTimes last = stage_times(job, job.slow, true);
  const double expected = first.forward + 4.0 * last.both() + first.backward;
  EXPECT_NEAR(job.seconds() / expected, 1.0, 1e-5);
  EXPECT_NEAR(job.closed_form_seconds() / expected, 1.0, 1e-5);
}

TEST(KindsOfNodes, ASlowFirstStageIsNeverWithoutWork) {
  // The fast stage is through with a micro-batch, there and back, before the slow one is through
  // with its next forward pass (f1 + b1 = 3 f1 < 4 f1 = f0): all of the iteration is the slow
  // stage's own work, 4 (f0 + b0).
  MixedJob job = two_stages({1, 0});
  const PassTimes first = stage_times(job, job.slow, false);
  const double expected = 4.0 * first.both();
  EXPECT_NEAR(job.seconds() / expected, 1.0, 1e-5);
  EXPECT_NEAR(job.closed_form_seconds() / expected, 1.0, 1e-5);
}

TEST(KindsOfNodes, FewerLayersForTheSlowStageEvenThemOut) {
  // 3 : 1 layers on 1 : 4 of speed: the slow stage takes 4 layers' worth of time, not 8.
  MixedJob job = two_stages({0, 1});
  const double even = job.seconds();
  job.strategy.layers_per_stage = {3, 1};
  EXPECT_LT(job.seconds(), 0.6 * even);
}

TEST(KindsOfNodes, ATensorGroupGoesAtThePaceOfItsSlowestMember) {
  const auto compute_of = [](std::vector<int> kinds) {
    MixedJob job(std::move(kinds));
    job.strategy.tensor_parallel = 2;
    job.model = thousand_parameter_layers(4, 2);
    TimeByCause sum;
    for (const Block& block : job.workload().programs.front().blocks) sum += block.time;
    return sum[Cause::compute].count();
  };
  EXPECT_DOUBLE_EQ(compute_of({0, 1}), compute_of({1, 1}));
  EXPECT_DOUBLE_EQ(compute_of({1, 0}), compute_of({1, 1}));
  EXPECT_NEAR(compute_of({1, 1}) / compute_of({0, 0}), kSlower, 1e-9);
}

MixedJob two_replicas(std::vector<int> kinds) {
  MixedJob job(std::move(kinds));
  job.strategy.data_parallel = 2;
  job.strategy.global_batch = 10;  // five micro-batches each
  return job;
}

TEST(KindsOfNodes, ReplicasWaitForTheSlowest) {
  // Five micro-batches on the slow one.
  MixedJob alone = two_replicas({1, 1});
  MixedJob mixed = two_replicas({0, 1});
  EXPECT_NEAR(mixed.seconds() / alone.seconds(), 1.0, 1e-5);
}

TEST(KindsOfNodes, MicroBatchesBySpeedEndTogether) {
  // Ten micro-batches at 1 and 4 time units: 8 and 2 end together, after 8 units instead of 20.
  MixedJob job = two_replicas({0, 1});
  const double equally = job.seconds();
  job.strategy.micro_batches_by_speed = true;
  const Workload workload = job.workload();
  const auto slots_of = [&](std::size_t group) {
    return workload.programs[static_cast<std::size_t>(workload.groups[group].program)]
        .message_slots;
  };
  EXPECT_EQ(slots_of(0), 2 * 8);  // a forward and a backward message for each
  EXPECT_EQ(slots_of(1), 2 * 2);
  EXPECT_NEAR(job.seconds() / equally, 8.0 / 20.0, 1e-4);
  EXPECT_NEAR(job.closed_form_seconds() / job.seconds(), 1.0, 1e-9);
}

TEST(KindsOfNodes, EveryReplicaHasAMicroBatch) {
  // Two micro-batches in all: one each, though the fast replica would be through with both first.
  MixedJob job = two_replicas({0, 1});
  job.strategy.global_batch = 2;
  job.strategy.micro_batches_by_speed = true;
  const Workload workload = job.workload();
  for (const Program& program : workload.programs) EXPECT_EQ(program.message_slots, 2);
}

TEST(KindsOfNodes, ReplicasOfOneKindShareMicroBatchesEqually) {
  MixedJob job = two_replicas({0, 0});
  job.strategy.micro_batches_by_speed = true;
  for (const Program& program : job.workload().programs) EXPECT_EQ(program.message_slots, 2 * 5);
}

TEST(KindsOfNodes, GradientsTravelAtTheRateOfTheSlowestNic) {
  // A ring of two sends 2 (2-1)/2 = 1 message each way: 1 GB over 5 GB/s.
  MixedJob job = two_replicas({0, 1});
  job.slow_nic = "5 GB/s";
  const Workload workload = job.workload();
  ASSERT_EQ(workload.communicators.size(), 1U);
  const auto plan = static_cast<std::size_t>(workload.communicators.front().plan);
  EXPECT_NEAR(idle_time(workload.plans[plan], job.cluster->topology, Bytes(1e9)).count(), 0.2,
              1e-9);
}

}  // namespace
}  // namespace headway

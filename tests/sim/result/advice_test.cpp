#include "sim/result/words/advice.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

namespace headway {
namespace {

/// A step of 10 ms that waits 4 ms for servers which meet their workers so.
std::string advice_to(const char* synchronisation) {
  Prediction waits;
  waits.iteration_time = 0.010_s;
  waits.breakdown[Cause::compute] = 0.006_s;
  waits.breakdown[Cause::server_wait] = 0.004_s;
  waits.memory.fits = true;
  waits.question.scenario =
      nlohmann::json{{"strategy", {{"synchronisation", nlohmann::json::parse(synchronisation)}}}};
  return closing_sentence(waits);
}

TEST(Advice, ToServersIsWhatTheirJobDoesNotDoYet) {
  const std::string begin = "Largest gain left: waiting for servers, 4.00 ms of 10.0 ms; ";
  EXPECT_EQ(advice_to(R"({"updates": "synchronous"})"),
            begin + "more servers, or asynchronous updates, shrink it.");
  EXPECT_EQ(advice_to(R"({"updates": "asynchronous"})"),
            begin + "more servers, or more steps between updates (push_every), shrink it.");
}

// Neither more servers nor other updates widen the line of a client at home.
TEST(Advice, ToClientsOnLinesOfTheirOwnIsToSendLess) {
  for (const char* line : {"uplink", "downlink"}) {
    EXPECT_EQ(advice_to(("{\"" + std::string(line) + "\": \"6.25 MB/s\"}").c_str()),
              "Largest gain left: waiting for servers, 4.00 ms of 10.0 ms; more steps between "
              "updates (push_every) or fewer bits of them (push_bits, pull_bits) shrink it.");
  }
}

/// A step whose training of 10 s recomputes for 3 s, as long as log probabilities take beside it.
std::string advice_to_a_step(int steps_off_policy, Seconds generation) {
  Prediction learns;
  learns.iteration_time = 10.0_s;
  learns.breakdown[Cause::compute] = 7.0_s;
  learns.breakdown[Cause::recompute] = 3.0_s;
  learns.memory.fits = true;
  PostTraining step;
  step.steps_off_policy = steps_off_policy;
  step.generation = generation;
  step.log_probabilities = 3.0_s;
  step.training = 10.0_s;
  step.step = 1.0_s + (steps_off_policy > 0 ? max(generation, 13.0_s) : generation + 13.0_s);
  learns.post_training = step;
  return closing_sentence(learns);
}

TEST(Advice, ToAStepThatGeneratingHoldsUpIsNotAboutItsTraining) {
  const std::string of_training =
      "Largest gain left: recompute, 3.00 s of 10.0 s; recomputing less, where memory allows, "
      "shrinks it.";
  EXPECT_EQ(advice_to_a_step(1, 12.9_s), of_training);
  EXPECT_EQ(advice_to_a_step(1, 15.0_s),
            "Largest gain left: generating, for which learning waits 2 s in a step of 16 s; more "
            "GPUs in post_training.generation.accelerators shrink it.");
  // In turns: whatever takes longest.
  EXPECT_EQ(advice_to_a_step(0, 2.0_s), of_training);
  EXPECT_EQ(advice_to_a_step(0, 6.0_s),
            "Largest gain left: generating, 6 s of a step of 20 s; others that generate meanwhile "
            "(post_training.generation.accelerators, steps_off_policy) hide it.");
}

// 4 s of 10 s are lost: 1 s is left of them with the cable mended, or 3 s.
TEST(Advice, ToASlowCableIsToMendIt) {
  Prediction slow;
  slow.iteration_time = 10.0_s;
  slow.breakdown[Cause::compute] = 6.0_s;
  slow.breakdown[Cause::straggler_wait] = 4.0_s;
  slow.memory.fits = true;
  slow.what_if = WhatIf{.time = 10.0_s, .ideal = 6.0_s};
  slow.what_if->mitigations = {{"mended_links", "cable of node2/nic3 mended", 7.0_s, 10.0 / 7.0}};
  const std::string begin = "Largest gain left: lost to slower ranks, 4.00 s of 10.0 s; ";
  EXPECT_EQ(closing_sentence(slow), begin + "with cable of node2/nic3 mended it takes 7 s.");
  slow.what_if->mitigations[0].iteration_time = 9.0_s;
  EXPECT_EQ(closing_sentence(slow),
            begin + "replacing slow devices, or more room on busy links, shrinks it.");
  slow.question.scenario =
      nlohmann::json{{"perturbations", {{"slow_links", {{{"nic", "node2/nic3"}}}}}}};
  EXPECT_EQ(cause_remark(Cause::straggler_wait, slow),
            "slow devices and cables, and ranks late by them or by busy links");
}

/// A step of 10 s of which the optimizer takes 6.
std::string advice_on_updates(const nlohmann::json& strategy) {
  Prediction updates;
  updates.iteration_time = 10.0_s;
  updates.breakdown[Cause::compute] = 4.0_s;
  updates.breakdown[Cause::optimizer] = 6.0_s;
  updates.memory.fits = true;
  updates.question.scenario = nlohmann::json{{"strategy", strategy}};
  return closing_sentence(updates);
}

TEST(Advice, OnUpdatesIsNotToDoWhatTheJobDoes) {
  using testing::HasSubstr;
  EXPECT_THAT(advice_on_updates({{"zero_stage", 0}}), HasSubstr("sharding the optimizer"));
  EXPECT_THAT(advice_on_updates({{"zero_stage", 1}}), HasSubstr("more data-parallel ranks"));
  EXPECT_THAT(advice_on_updates({{"zero_stage", 3}, {"optimizer_offload", 1.0}}),
              HasSubstr("the host updates parameters: offloading fewer"));
}

TEST(Advice, ToAJobThatDoesNotFitIsNotToShardWhatIsSharded) {
  using testing::HasSubstr;
  Prediction full;
  full.memory.fits = false;
  full.memory.stages = {{.parameters = 50_GB}};
  full.memory.capacity = 40_GB;
  full.question.scenario = nlohmann::json{{"strategy", {{"zero_stage", 2}}}};
  EXPECT_THAT(closing_sentence(full), HasSubstr("sharding the parameters (zero_stage 3)"));
  full.question.scenario = nlohmann::json{{"strategy", {{"zero_stage", 3}}}};
  EXPECT_THAT(closing_sentence(full), HasSubstr("more GPUs that share them out"));
}

TEST(Advice, ToAJobWhoseHostIsFullIsToOffloadLess) {
  Prediction full;
  full.memory.fits = false;
  full.memory.stages = {{.parameters = 30_GB}};
  full.memory.capacity = 40_GB;
  full.memory.host = HostMemory{.needed = Bytes(3e12), .capacity = Bytes(2e12)};
  EXPECT_THAT(closing_sentence(full), testing::HasSubstr("2.73 TiB of 1.82 TiB"));
}

// 40 GPU-hours of 100 wait for nodes; of the 50 of training a fifth recomputes.
TEST(Advice, IsAboutTheWeeksWhereTheseLoseMost) {
  Prediction weeks;
  weeks.iteration_time = 10.0_s;
  weeks.breakdown[Cause::compute] = 8.0_s;
  weeks.breakdown[Cause::recompute] = 2.0_s;
  weeks.memory.fits = true;
  weeks.reliability.emplace();
  weeks.reliability->goodput.mean = 0.5;
  weeks.reliability->lost_gpu_hours = {{"waiting_for_nodes", 40.0}, {"restart", 10.0}};
  EXPECT_EQ(closing_sentence(weeks).find("Largest gain left: waiting for nodes, 40.0 of 100 GPU-"),
            0U)
      << closing_sentence(weeks);
  // 9 of 100 are less than a fifth of 50.
  weeks.reliability->lost_gpu_hours = {{"waiting_for_nodes", 9.0}, {"restart", 8.0}};
  weeks.reliability->goodput.mean = 0.83;
  EXPECT_EQ(closing_sentence(weeks).find("Largest gain left: recompute"), 0U);
}

// 32 of 64 wait 60 % of the time: 30 % on average, more than the 10 % of the slow replica.
TEST(Advice, IsToShareOutMicroBatchesWhereFastReplicasWait) {
  Prediction mixed;
  mixed.iteration_time = 10.0_s;
  mixed.breakdown[Cause::compute] = 9.0_s;
  mixed.breakdown[Cause::straggler_wait] = 1.0_s;
  mixed.memory.fits = true;
  mixed.accelerator_kinds =
      KindsUse{.kinds = {{.accelerator = "h100-sxm", .accelerators = 32, .waiting_share = 0.6},
                         {.accelerator = "a100-sxm", .accelerators = 32, .waiting_share = 0.0}}};
  nlohmann::json strategy = {{"data_parallel", 32}, {"pipeline_parallel", 1}, {"zero_stage", 1}};
  mixed.question.scenario = nlohmann::json{{"strategy", strategy}};
  EXPECT_EQ(closing_sentence(mixed),
            "Largest gain left: h100-sxm waits for slower accelerators 60.0 % of the time; giving "
            "them more of the micro-batches (micro_batches_by_speed) shrinks it.");
  strategy["micro_batches_by_speed"] = true;
  mixed.question.scenario = nlohmann::json{{"strategy", strategy}};
  EXPECT_EQ(closing_sentence(mixed).find("Largest gain left: lost to slower ranks"), 0U);
}

}  // namespace
}  // namespace headway

#include "sim/result/words/advice.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace headway

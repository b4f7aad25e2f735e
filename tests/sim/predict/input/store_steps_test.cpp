#include "sim/predict/input/store_steps.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/predict/input/input_use.h"
#include "sim/predict/job_run.h"
#include "sim/predict/reliability/reliability.h"
#include "sim/predict/shared_fabric/shared_fabric.h"
#include "tests/support/scenario_reading.h"
#include "tests/support/scenario_text.h"

namespace headway {
namespace {

/// Two workers of one accelerator on two of four nodes with NICs of 1 GB/s; each takes 16 samples
/// of 10 MB a step, 320 MB together.
nlohmann::json reading_scenario() {
  nlohmann::json text = small_scenario(4);
  text["model"] = {
      {"layers", {{{"products", {{{"outputs", 5000}, {"inputs", 5000}}}}, {"output", "20 KB"}}}}};
  nlohmann::json& node = text["cluster"]["topology"]["node"];
  node["accelerators"] = 1;
  node.erase("scale_up");
  node["nics"] = {{"count", 1}, {"bandwidth", "1 GB/s"}, {"latency", "0 us"}};
  text["cluster"]["job_nodes"] = 2;
  text["strategy"] = {{"preset", "pytorch-ddp"}, {"micro_batch", 16}, {"global_batch", 32}};
  text["data_loading"] = {
      {"sample_size", "10 MB"}, {"samples", 10000}, {"storage_bandwidth", "2 GB/s"}};
  return text;
}

StoreSteps steps_of(const Scenario& scenario) {
  return store_steps(scenario, *scenario.strategy, 1);
}

double nic_rate(const Scenario& scenario) {
  return 1e9 * built_job(scenario, *scenario.strategy).workload.nic_efficiency;
}

TEST(StoreSteps, OneHostsNicBoundsWhatAllRead) {
  nlohmann::json text = reading_scenario();
  text["data_loading"]["storage_nodes"] = 1;
  text["data_loading"]["storage_bandwidth"] = "100 GB/s";
  const Scenario scenario = scenario_of(text);
  const StoreSteps steps = steps_of(scenario);
  EXPECT_NEAR(steps.reading.count() * nic_rate(scenario), 320e6, 1e-4 * 320e6);
  EXPECT_EQ(steps.first_epoch, steps.reading);  // nothing is cached
  EXPECT_LT(steps.alone.count(), 0.2);
}

TEST(StoreSteps, WhatIsNotReadAheadIsReadBeforeTheStep) {
  // Then nothing else is on the NICs: the step as it is, and the read.
  nlohmann::json text = reading_scenario();
  text["data_loading"]["storage_nodes"] = 1;
  text["data_loading"]["storage_bandwidth"] = "100 GB/s";
  text["data_loading"]["prefetch"] = 0;
  const Scenario scenario = scenario_of(text);
  const StoreSteps steps = steps_of(scenario);
  const double read = 320e6 / nic_rate(scenario);
  EXPECT_NEAR((steps.reading - steps.alone).count(), read, 1e-4 * read);
}

TEST(StoreSteps, ReadsSlowGradientsOnTheLinksThatBothTake) {
  // Over two hosts each worker reads 160 MB by its own NIC, which its gradients need too; in fp32
  // a ring of two moves 2 x 1/2 of 100 MB into each. Both together are what the NIC cannot take
  // faster.
  nlohmann::json text = reading_scenario();
  text["data_loading"]["storage_nodes"] = 2;
  text["data_loading"]["storage_bandwidth"] = "100 GB/s";
  const Scenario scenario = scenario_of(text);
  const StoreSteps steps = steps_of(scenario);
  EXPECT_GE(steps.reading.count() * nic_rate(scenario), 260e6);
  EXPECT_LE(steps.reading.count(), steps.alone.count() + 160e6 / nic_rate(scenario));
}

TEST(StoreSteps, AlikeGroupsMayBeSimulatedAsOne) {
  nlohmann::json text = reading_scenario();
  text["data_loading"]["storage_nodes"] = 2;
  Scenario scenario = scenario_of(text);
  const StoreSteps folded = steps_of(scenario);
  scenario.run.engine.fold_alike_groups = false;
  const StoreSteps whole = steps_of(scenario);
  EXPECT_NEAR(folded.reading / whole.reading, 1.0, 1e-9);
  EXPECT_NEAR(folded.alone / whole.alone, 1.0, 1e-9);
}

TEST(StoreSteps, AStoreOnItsOwnNetworkIsTheClosedForm) {
  // 320 MB at 2 GB/s; with as much in files of 100 MB, of which it opens ten a second, at 1 GB/s.
  nlohmann::json text = reading_scenario();
  EXPECT_NEAR(steps_of(scenario_of(text)).reading.count(), 0.16, 1e-9);
  text["data_loading"]["files_per_s"] = 10;
  text["data_loading"]["samples_per_file"] = 10;
  EXPECT_NEAR(steps_of(scenario_of(text)).reading.count(), 0.32, 1e-9);
}

TEST(StoreSteps, JobsOnOneStoreShareIt) {
  // Each reads 320 MB a step and would take 0.16 s for it alone.
  nlohmann::json text = reading_scenario();
  text["jobs"] = {{{"name", "other"},
                   {"first_node", 2},
                   {"strategy", text["strategy"]},
                   {"data_loading", {{"sample_size", "10 MB"}, {"samples", 10000}}},
                   {"sizes", {{{"at", "0 s"}, {"nodes", 2}}}}}};
  for (const SharedFabric::Stay& stay : shared_fabric(scenario_of(text), 1).stays) {
    EXPECT_NEAR(stay.alone.count(), 0.16, 1e-9) << stay.job;
    EXPECT_NEAR(stay.shared.count(), 0.32, 1e-9) << stay.job;
  }
}

/// Two ranks write 100 GB beside their steps, at 2 GB/s alone, to a store of 3 GB/s.
nlohmann::json checkpointing_scenario() {
  nlohmann::json text = reading_scenario();
  text["data_loading"]["storage_bandwidth"] = "3 GB/s";
  text["data_loading"]["holds_checkpoints"] = true;
  text["reliability"] = {
      {"duration", "10 d"},
      {"runs", 1},
      {"failures",
       {{{"cause", "node"}, {"of", "node"}, {"mean_time", "9000 d"}, {"repair_time", "1 h"}}}},
      {"detection", "1 min"},
      {"restart", "1 min"},
      {"checkpoint",
       {{"interval", "5 min"},
        {"size", "100 GB"},
        {"storage_bandwidth", "2 GB/s"},
        {"asynchronous", true}}}};
  return text;
}

TEST(StoreSteps, CheckpointsTakeTheStoresTimeFromReads) {
  // Two reads and two writes, as fast as each other, of 3 GB/s: 320 MB take 0.2133 s at 1.5 GB/s,
  // and 100 GB 66.67 s.
  nlohmann::json text = checkpointing_scenario();
  const StoreSteps steps = steps_of(scenario_of(text));
  EXPECT_NEAR(steps.beside_checkpoint.count(), 0.32 / 1.5, 1e-6);
  EXPECT_NEAR(steps.checkpoint.count(), 100.0 / 1.5, 1e-3);
  EXPECT_NEAR(steps.reading / steps.alone, 1.0, 1e-12);  // 0.107 s, hidden
  // Writes that are no faster than 1 GB/s leave reads two.
  text["reliability"]["checkpoint"]["storage_bandwidth"] = "1 GB/s";
  const StoreSteps slow = steps_of(scenario_of(text));
  EXPECT_NEAR(slow.beside_checkpoint.count(), 0.16, 1e-6);
  EXPECT_NEAR(slow.checkpoint.count(), 100.0, 1e-3);
}

TEST(StoreSteps, StepsBesideCheckpointsCountInLongRuns) {
  // Two ninths of the time, 66.67 s of 300, at so much longer steps. The histories are the same,
  // and training stands still for next to nothing.
  const Scenario scenario = scenario_of(checkpointing_scenario());
  const Seconds step = steps_of(scenario).alone;
  const InputUse use =
      input_use(*scenario.input, *scenario.strategy, *scenario.cluster, step, steps_of(scenario));
  const double apart = reliability(scenario, step).goodput.mean;
  const double beside = reliability(scenario, step, use).goodput.mean;
  const double slower = 1.0 + 2.0 / 9.0 * (use.checkpoint_step / step - 1.0);
  EXPECT_NEAR(apart / beside, slower, 0.005 * slower);
}

TEST(StoreSteps, WhatAStoreCannotBeIsTold) {
  const auto problems = [](const nlohmann::json& text) -> std::string {
    try {
      static_cast<void>(scenario_of(text));
      return "none";
    } catch (const InputError& error) {
      const Diagnostic& problem = error.diagnostics().front();
      return problem.message + "; " + problem.label + "; " + problem.help;
    }
  };
  nlohmann::json text = reading_scenario();
  text["data_loading"]["storage_nodes"] = 3;
  EXPECT_EQ(problems(text),
            "the storage needs nodes behind those of all jobs; 3 wanted, 2 left; "
            "lower cluster.job_nodes, or give the topology more nodes");
  text = reading_scenario();
  text["data_loading"]["holds_checkpoints"] = true;
  EXPECT_EQ(
      problems(text),
      "no checkpoint is written while steps read; there is none, or training stands still for "
      "it; "
      "set reliability.checkpoint.asynchronous to true, or leave this out");
  text = reading_scenario();
  text["data_loading"]["storage_nodes"] = 1;
  text["strategy"]["preset"] = "tf-parameter-server";
  EXPECT_EQ(problems(text),
            "storage on the fabric is modelled without parameter servers only; ; "
            "set synchronisation.scheme to \"all_reduce\", or storage_nodes to 0");
  text = checkpointing_scenario();
  text["strategy"]["preset"] = "tf-parameter-server";
  EXPECT_EQ(problems(text),
            "checkpoints beside reads are modelled without parameter servers only; ; "
            "set synchronisation.scheme to \"all_reduce\", or leave this out");
  text = reading_scenario();
  text["jobs"] = {{{"name", "other"},
                   {"first_node", 2},
                   {"strategy", text["strategy"]},
                   {"data_loading", {{"sample_size", "10 MB"}, {"samples", 10000}}},
                   {"sizes", {{{"at", "0 s"}, {"nodes", 2}}}}}};
  text.erase("data_loading");
  EXPECT_EQ(problems(text),
            "the scenario has no storage that this job could share; ; "
            "give the scenario a data_loading too, which says what the storage can do");
}

}  // namespace
}  // namespace headway

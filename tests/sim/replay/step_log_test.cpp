#include "sim/replay/step_log.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/jobs/strategy.h"
#include "tests/support/scenario_reading.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

using testing::HasSubstr;
using Unit = LoggedSteps::Unit;

LoggedSteps logged(const std::string& text) {
  const ScratchFolder scratch;
  return read_step_log(scratch.write("train.log", text));
}

Scenario job_of_8() {
  Scenario scenario;
  scenario.strategy = std::make_shared<const Strategy>(
      Strategy{.data_parallel = 8, .global_batch = 64, .sequence_length = 1000});
  return scenario;
}

TEST(StepLog, MegatronWritesMilliseconds) {
  const LoggedSteps steps = logged(
      "node-1:  iteration 1/ 5 | elapsed time per iteration (ms): 9000.0 | lm loss: 11\n"
      "nothing of steps\n"
      "node-1:  iteration 2/ 5 | elapsed time per iteration (ms): 5200.0 | lm loss: 11\n"
      "node-1:  iteration 3/ 5 | elapsed time per iteration (ms): 5100.0 | lm loss: 11\n"
      "node-1:  iteration 4/ 5 | elapsed time per iteration (ms): 5400.0 | lm loss: 11\n");
  EXPECT_EQ(steps.format, "Megatron");
  EXPECT_EQ(steps.lines, 4);
  EXPECT_EQ(steps.used, 3);  // the first warms up
  EXPECT_DOUBLE_EQ(steps.median, 5.2);
  EXPECT_EQ(step_time(steps, job_of_8()), Seconds(5.2));
}

TEST(StepLog, TorchtitanWritesTokensOfAnAccelerator) {
  // With colours, and thousands grouped.
  const LoggedSteps steps = logged(
      "[titan] \x1b[31mstep: 10  \x1b[32mloss:  8.1  \x1b[34mtps: 4,000  \x1b[35mmfu: 30.2%\n"
      "[titan] \x1b[31mstep: 20  \x1b[32mloss:  7.1  \x1b[34mtps:\x1b[0m 2,000  mfu: 30.2%\n");
  EXPECT_EQ(steps.format, "torchtitan");
  EXPECT_EQ(steps.unit, Unit::tokens_a_second);
  EXPECT_EQ(steps.median, 3000.0);  // of two, their mean
  // 64 samples of 1,000 tokens over 8 accelerators at 3,000 tokens/s.
  EXPECT_NEAR(step_time(steps, job_of_8()).count(), 8000.0 / 3000.0, 1e-12);
}

TEST(StepLog, NemoHuggingFaceAndDeepSpeedWriteTheirs) {
  EXPECT_EQ(logged("iteration 9/99 | global_step: 9 | train_step_timing in s: 5.33\n").median,
            5.33);
  const LoggedSteps trainer = logged(
      "{'loss': 2.1, 'epoch': 0.1}\n"
      "{'train_runtime': 80.0, 'train_samples_per_second': 16.0, 'train_steps_per_second': 0.25, "
      "'train_loss': 2.0}\n");
  EXPECT_EQ(trainer.format, "Hugging Face");
  EXPECT_EQ(step_time(trainer, job_of_8()), Seconds(4.0));
  // Of release 5, with numbers as texts; as its example scripts tabulate them; and in a file of
  // JSON.
  EXPECT_EQ(logged("{'train_runtime': '80', 'train_steps_per_second': '0.25'}\n").median, 0.25);
  EXPECT_EQ(logged("  train_steps_per_second   =       0.25\n").median, 0.25);
  EXPECT_EQ(logged("    \"train_steps_per_second\": 0.25,\n").median, 0.25);
  const LoggedSteps deepspeed = logged(
      "global_step=3, RunningAvgSamplesPerSec=29.1, CurrSamplesPerSec=32.0, MemAllocated=1\n");
  EXPECT_EQ(step_time(deepspeed, job_of_8()), Seconds(2.0));
}

TEST(StepLog, ProgressBarsWriteOverTheirLine) {
  const LoggedSteps steps =
      logged("  5%|# | 10/200 [01:10<22:00,  6.95s/it]\r 6%|# | 11/200 [01:17<21:00,  6.50s/it]\n");
  EXPECT_EQ(steps.median, 6.5);
  EXPECT_EQ(step_time(logged("10/200 [00:05<01:35, 2.00it/s]\n"), job_of_8()), Seconds(0.5));
}

TEST(StepLog, AProgressBarMayWriteOverItsLineAllAlong) {
  // 50,000 updates of 32 bytes; each has the mean up to there, so the last says most.
  std::string text;
  for (int i = 0; i < 50'000; ++i) text += "10/50000 [00:05<01:35, 9.00s/it]\r";
  const LoggedSteps steps = logged(text + "50000/50000 [1:00:00<0:00, 2.50s/it]\r\n");
  EXPECT_EQ(steps.median, 2.5);
  EXPECT_EQ(steps.lines, 1);
  EXPECT_EQ(logged("1/2 [0:05, 4.00s/it]\r2/2 [0:05, 2.00s/it]\n1/1 [0:05, 6.00s/it]").lines, 2);
}

TEST(StepLog, ALineTooLongIsRefusedWhereverItEnds) {
  // 64 KiB of which the last is the first byte too many, or not; and one that no end is in sight
  // of.
  const std::string tail = " CurrSamplesPerSec=32.0";
  const std::string most(64 * 1024 - tail.size(), 'x');
  EXPECT_EQ(logged("\n" + most + tail + "\n").median, 32.0);
  for (const std::string& text : {"\nx" + most + tail + "\n", "\n" + std::string(3'000'000, 'x')}) {
    EXPECT_THAT(problems_in([&] { static_cast<void>(logged(text)); }),
                testing::AllOf(HasSubstr("it has a line of more than 64 KiB, so it is neither"),
                               HasSubstr("train.log:2:1")));
  }
}

TEST(StepLog, TheLineThatSaysMostCounts) {
  const LoggedSteps steps = logged(
      "CurrSamplesPerSec=300.0\n"
      "iteration 3/ 5 | elapsed time per iteration (ms): 5000.0 |\n");
  EXPECT_EQ(steps.format, "Megatron");
  EXPECT_EQ(steps.median, 5.0);
}

TEST(StepLog, ALogThatSaysNothingIsRefused) {
  EXPECT_THAT(problems_in([] { static_cast<void>(logged("loss: 3\ntps: none\n")); }),
              HasSubstr("says nothing of how long a step took"));
  EXPECT_THAT(problems_in([] { static_cast<void>(logged("")); }), HasSubstr("--measured"));
  EXPECT_THAT(problems_in([] { static_cast<void>(read_step_log("/no/such/log")); }),
              HasSubstr("/no/such/log"));
}

/// With the fields that a scenario's defaults write out.
Scenario resolved_job() {
  Scenario scenario = job_of_8();
  scenario.resolved = nlohmann::json::parse(R"({"model": {"layers": 32, "hidden": 4096},
      "strategy": {"global_batch": 64, "sequence_length": 1000, "tensor_parallel": 1}})");
  return scenario;
}

/// Arguments as Megatron-LM lists them, then steps with a batch that grows.
std::string megatron_log(const std::string& hidden, int layers) {
  return "node-1:   hidden_size ..................................... " + hidden +
         "\n"
         "node-1:   ffn_hidden_size ................................. 1\n"
         "node-1:   num_layers ...................................... " +
         std::to_string(layers) +
         "\n"
         "node-1:   tensor_model_parallel_size ...................... 1\n"
         "node-1:   world_size ...................................... 8\n"
         "node-1: run pretrain_gpt.py --num_layers 99\n"
         " iteration 1/ 5 | elapsed time per iteration (ms): 900.0 | global batch size:    32 |\n"
         " iteration 2/ 5 | elapsed time per iteration (ms): 900.0 | global batch size:    64 |\n";
}

TEST(StepLog, OfTheVeryJobGivesItsTime) {
  EXPECT_EQ(step_time(logged(megatron_log("4096", 32)), resolved_job()), Seconds(0.9));
  // Lists that end otherwise tell no number, and neither does a scenario that has none.
  EXPECT_EQ(step_time(logged(megatron_log("4096x", 32)), resolved_job()), Seconds(0.9));
  EXPECT_EQ(step_time(logged(megatron_log("4097", 33)), job_of_8()), Seconds(0.9));
}

TEST(StepLog, OfAnotherJobSaysAllThatDiffers) {
  Scenario scenario = resolved_job();
  (*scenario.resolved)["strategy"]["global_batch"] = 48;
  scenario.change_strategy([](Strategy& strategy) { strategy.data_parallel = 16; });
  try {
    static_cast<void>(step_time(logged(megatron_log("5120", 32)), scenario));
    FAIL();
  } catch (const InputError& error) {
    const std::vector<Diagnostic>& problems = error.diagnostics();
    ASSERT_EQ(problems.size(), 3U);
    EXPECT_EQ(problems[0].message, "the log is of another job");
    EXPECT_EQ(problems[0].location.line, 1);
    EXPECT_EQ(problems[0].label, "hidden_size is 5120, the scenario has 4096");
    EXPECT_EQ(problems[0].help, "give the scenario that ran: --set /model/hidden=5120");
    EXPECT_EQ(problems[1].label, "world_size is 8, the scenario's accelerators are 16");
    EXPECT_EQ(problems[1].help, "give the scenario that ran, with as many nodes");
    EXPECT_EQ(problems[2].label, "global batch size is 64, the scenario has 48");
    EXPECT_EQ(problems[2].location.line, 8);
  }
}

/// What is said of the log of a Trainer whose scenario has 64 sequences in micro-batches of 1.
std::string problems_of_trainer(const std::string& log) {
  Scenario scenario = resolved_job();
  (*scenario.resolved)["strategy"]["micro_batch"] = 1;
  return problems_in([&] { static_cast<void>(step_time(logged(log), scenario)); });
}

TEST(StepLog, TheTrainersBatchesAreThoseOfTheJob) {
  const std::string rates = "{'train_samples_per_second': 16.0, 'train_steps_per_second': 0.25}\n";
  const std::string total = "  Total train batch size (w. parallel, distributed & accumulation) = ";
  EXPECT_EQ(
      problems_of_trainer("  Instantaneous batch size per device = 1\n" + total + "64\n" + rates),
      "none");
  EXPECT_THAT(
      problems_of_trainer("  Instantaneous batch size per device = 2\n" + total + "1,024\n" +
                          rates),
      testing::AllOf(HasSubstr("Instantaneous batch size per device is 2, the scenario has 1"),
                     HasSubstr("accumulation) is 1024, the scenario has 64"),
                     HasSubstr("--set /strategy/global_batch=1024")));
}

TEST(StepLog, TheTrainersRatesTellTheBatch) {
  // 32 / 0.25 are 128 samples a step, not 64.
  EXPECT_THAT(
      problems_of_trainer("{'train_samples_per_second': '32', 'train_steps_per_second': '0.25'}\n"),
      testing::AllOf(HasSubstr("train_samples_per_second / train_steps_per_second is 128, the "
                               "scenario has 64"),
                     HasSubstr("--set /strategy/global_batch=128")));
  // 100 samples an epoch are two steps, of 50 each. Steps of 250 s are 0.004 or nearly 0.0045 a
  // second.
  for (const char* rates : {"'train_samples_per_second': 50.0, 'train_steps_per_second': 1.0",
                            "'train_samples_per_second': 0.287, 'train_steps_per_second': 0.004"}) {
    EXPECT_EQ(problems_of_trainer(std::string("{") + rates + "}\n"), "none");
  }
}

TEST(StepLog, ReadsTheLogOfARealRun) {
  const char* samples = std::getenv("HEADWAY_SAMPLES");
  if (samples == nullptr) GTEST_SKIP() << "set HEADWAY_SAMPLES to the folder of sample files";
  // Five steps of 76.0, 75.3, 75.2, 75.2 and 75.2 s.
  const LoggedSteps steps =
      read_step_log(std::string(samples) + "/logs/megatron-deepspeed-train.log");
  EXPECT_EQ(steps.format, "Megatron");
  EXPECT_EQ(steps.lines, 5);
  EXPECT_NEAR(steps.median, 75.2, 0.1);
}

}  // namespace
}  // namespace headway

#include "sim/scenario/recovery/recovery.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tests/sim/predict/reliability/histories.h"

namespace headway {
namespace {

const Recovery* named(std::string_view name) {
  return &*std::ranges::find(recoveries(), name, &Recovery::name);
}

/// A node breaks every two hours, on the hour; one stands by. Steps take 300 s. Checkpoints take
/// 100 s and come after an hour of training, so that the first failure finds 3600 s in one and 3500
/// s since, of which 200 s are a step under way. Detection takes 60 s, a start 240 s. In place, it
/// takes 30 s to form anew and 40 s to hand a node its state of 4 GB.
ReliabilitySettings every_two_hours(std::string_view recovery) {
  ReliabilitySettings settings;
  settings.causes = {
      {.name = "node",
       .lifetime = {.kind = LifetimeKind::empirical, .mean = 7200_s, .observed = {7200_s}},
       .units = 1,
       .nodes_lost = 1,
       .repair = 2000_s}};
  settings.recovery = named(recovery);
  settings.detection = 60_s;
  settings.restart = 240_s;
  settings.reprovision = Seconds(kForever);
  settings.spare_nodes = 1;
  settings.nodes = settings.replicas = 4;
  settings.step = 300_s;
  settings.reconfigure = 30_s;
  settings.state_bandwidth = 0.1_GBps;
  settings.checkpoint.blocking = 100_s;
  settings.checkpoint.size = Bytes(4e9);
  return settings;
}

TEST(Recovery, ARestartDoesAgainWhatNoCheckpointHolds) {
  // 3600 s are kept; back at 7500, on to 3600 + 50.
  const JobHistory history = run(every_two_hours("restart"), 3650.0);
  EXPECT_DOUBLE_EQ(history.wall, 3750.0);  // before anything breaks
  EXPECT_DOUBLE_EQ(run(every_two_hours("restart"), 7150.0).wall, 7500.0 + 3550.0);
}

TEST(Recovery, AReplicaDropsOutAndJoinsAgain) {
  // 6900 s of steps are done at 7200. The others go on at 7290, three quarters as fast, until the
  // spare one has started at 7260 + 240: 157.5 s of work in 210 s. It gets its state, 30 + 40 s,
  // and 50 s of work later, at 7620, all is done.
  const JobHistory history = run(every_two_hours("drop_out"), 6900.0 + 157.5 + 50.0);
  EXPECT_DOUBLE_EQ(history.wall, 7620.0);
  EXPECT_DOUBLE_EQ(history.lost_work, 200.0);
  EXPECT_DOUBLE_EQ(history.detection, 60.0);
  EXPECT_DOUBLE_EQ(history.restart, 100.0);
  EXPECT_DOUBLE_EQ(history.reduced_speed, 52.5);
  EXPECT_EQ(history.waiting, 0.0);
  EXPECT_EQ(history.interruptions.at(0), 1);
  expect_parts_add_up(history);
}

TEST(Recovery, AReplicaThatHasStartedBeforeTheOthersGoOnJoinsThemThen) {
  // Started at 7260 + 20, while the others form anew until 7290. It gets its state, 30 + 40 s, and
  // 250 s of work later all is done.
  ReliabilitySettings settings = every_two_hours("drop_out");
  settings.restart = 20_s;
  const JobHistory history = run(settings, 6900.0 + 250.0);
  EXPECT_DOUBLE_EQ(history.wall, 7290.0 + 70.0 + 250.0);
  EXPECT_EQ(history.reduced_speed, 0.0);
  expect_parts_add_up(history);
}

TEST(Recovery, WithoutANodeLostAReplicaStartsAnewBesideTheOthers) {
  ReliabilitySettings settings = every_two_hours("drop_out");
  settings.causes[0].nodes_lost = 0;
  settings.spare_nodes = 0;
  EXPECT_DOUBLE_EQ(run(settings, 6900.0 + 157.5 + 50.0).wall, 7620.0);
}

TEST(Recovery, WithNobodyLeftAllGoBackToTheCheckpoint) {
  // Two replicas of a node each, without a spare or a checkpoint. One drops out at 3000, at the end
  // of a step; the other goes on at 3090, half as fast, until it breaks at 6000: 5910 s of training
  // are lost. At 7000 the first node is repaired, and 240 s later one replica trains.
  ReliabilitySettings settings = every_two_hours("drop_out");
  settings.causes[0].lifetime.observed = {3000_s};
  settings.causes[0].repair = 4000_s;
  settings.spare_nodes = 0;
  settings.nodes = settings.replicas = 2;
  const JobHistory history = job_history(settings, 10000_s, kForever, 7240.0, 1);
  EXPECT_NEAR(history.work(), 0.0, 1e-9);
  EXPECT_DOUBLE_EQ(history.lost_work, 5910.0);
  EXPECT_DOUBLE_EQ(history.detection, 120.0);
  EXPECT_DOUBLE_EQ(history.waiting, 940.0);
  EXPECT_DOUBLE_EQ(history.restart, 270.0);
  expect_parts_add_up(history);
}

/// Two pipelines of four nodes, 13 micro-batches.
ReliabilitySettings pipelines() {
  ReliabilitySettings settings = every_two_hours("redundant_pipeline");
  settings.nodes = 8;
  settings.replicas = settings.pipelines = 2;
  settings.nodes_per_replica = 4.0;
  settings.stages = 4;
  settings.micro_batches = 13.0;
  settings.checkpoint.size = Bytes(16e9);
  return settings;
}

TEST(Recovery, TheNextNodeOfAPipelineDoesTheWorkOfTwo) {
  // 16 units of time become 28, as the way through is 4 and 12 more micro-batches take 2 each: from
  // 7290 until the spare node has started at 7500, 210 s bring 120 s of work. 70 s for its state,
  // and 200 s more, with a checkpoint after the first 90.
  const JobHistory history = run(pipelines(), 6900.0 + 120.0 + 200.0);
  EXPECT_DOUBLE_EQ(history.wall, 7570.0 + 200.0 + 100.0);
  EXPECT_NEAR(history.reduced_speed, 90.0, 1e-9);
  expect_parts_add_up(history);
}

TEST(Recovery, ARedundantPipelineTakesLongerWhereBubblesDoNotHideIt) {
  // 13 forward passes of a third of a unit each; 3 units of waiting hold 9 of them. 4/3 of 16.
  const ReliabilitySettings settings = pipelines();
  EXPECT_DOUBLE_EQ(settings.recovery->overhead(settings), 1.0 / 12.0);
  ReliabilitySettings few = settings;
  few.micro_batches = 9.0;
  EXPECT_EQ(few.recovery->overhead(few), 0.0);
  // A node in each pipeline may be lost, and no more.
  EXPECT_DOUBLE_EQ(settings.recovery->speed(settings, 2), 16.0 / 28.0);
  EXPECT_EQ(settings.recovery->speed(settings, 3), 0.0);
}

TEST(Recovery, WhatALostNodeHeldMovesToASpareOne) {
  // Everybody waits from 7200 to 7330; then the step once more that was under way, and 50 s.
  ReliabilitySettings settings = every_two_hours("live_migration");
  const JobHistory history = run(settings, 7150.0);
  EXPECT_DOUBLE_EQ(history.wall, 7330.0 + 250.0);
  EXPECT_DOUBLE_EQ(history.lost_work, 200.0);
  EXPECT_DOUBLE_EQ(history.restart, 70.0);
  EXPECT_EQ(history.reduced_speed, 0.0);
  // Without one, a repaired node is waited for until 9200.
  settings.spare_nodes = 0;
  const JobHistory late = run(settings, 7150.0);
  EXPECT_DOUBLE_EQ(late.waiting, 9200.0 - 7260.0);
  EXPECT_DOUBLE_EQ(late.wall, 9200.0 + 70.0 + 250.0);
}

TEST(Recovery, StepsThatDoMoreAreSlower) {
  ReliabilitySettings settings = every_two_hours("drop_out");
  settings.causes.clear();
  settings.step_overhead = 0.25;
  EXPECT_DOUBLE_EQ(run(settings, 1000.0).wall, 1250.0);
  EXPECT_DOUBLE_EQ(run(settings, 1000.0).work(), 1000.0);
}

/// Two spot nodes, of which one is away from 1000 to 1500 s of a record of 4000 s. Checkpoints
/// every 400 s cost nothing.
ReliabilitySettings two_spot_nodes(std::string_view recovery) {
  ReliabilitySettings settings = every_two_hours(recovery);
  settings.causes.clear();
  settings.spare_nodes = 0;
  settings.nodes = settings.replicas = 2;
  settings.checkpoint.blocking = 0_s;
  settings.spot =
      SpotNodes{.record = {{{0_s, 2}, {1000_s, 1}, {1500_s, 2}, {4000_s, 0}}}, .nodes = 2};
  return settings;
}

JobHistory run_on_spot(const ReliabilitySettings& settings, double work, double start = 0.0) {
  return job_history(settings, 400_s, work, kForever, 1, {.record_start = start});
}

TEST(SpotNodes, AreWaitedForByAJobThatNeedsThemAll) {
  // At 1000 s 800 s are safe; from 1500 + 240 on there are two nodes.
  ReliabilitySettings settings = two_spot_nodes("restart");
  const JobHistory history = run_on_spot(settings, 1800.0);
  EXPECT_DOUBLE_EQ(history.wall, 2740.0);
  EXPECT_DOUBLE_EQ(history.lost_work, 200.0);
  EXPECT_DOUBLE_EQ(history.waiting, 440.0);
  EXPECT_EQ(history.interruptions.at(0), 1);
  EXPECT_DOUBLE_EQ(history.spot_node_seconds, 2.0 * 2740.0 - 500.0);
  expect_parts_add_up(history);
  // A warning saves the work.
  settings.spot->notice = 10_s;
  EXPECT_DOUBLE_EQ(run_on_spot(settings, 1800.0).wall, 1740.0 + 800.0);
}

TEST(SpotNodes, TheRecordBeginsAnewAtItsEnd) {
  // 500 s are left of it, then 1000 s until a node is away.
  const JobHistory history = run_on_spot(two_spot_nodes("restart"), 1600.0, 3500.0);
  EXPECT_DOUBLE_EQ(history.lost_work, 300.0);
  EXPECT_DOUBLE_EQ(history.wall, 2000.0 + 240.0 + 400.0);
  EXPECT_DOUBLE_EQ(history.spot_node_seconds, 2.0 * 2640.0 - 500.0);
}

TEST(SpotNodes, ThatAreNotThereAtTheStartAreWaitedFor) {
  const JobHistory history = run_on_spot(two_spot_nodes("restart"), 100.0, 1200.0);
  EXPECT_DOUBLE_EQ(history.waiting, 300.0);
  EXPECT_DOUBLE_EQ(history.wall, 400.0);
  EXPECT_EQ(history.interruptions.at(0), 0);
}

TEST(SpotNodes, AJobThatShrinksGoesOnWithTheOther) {
  // One of two replicas from 1300 to 1500: 100 s of work. Both from 1740 on.
  const JobHistory history = run_on_spot(two_spot_nodes("shrink"), 800.0 + 100.0 + 400.0);
  EXPECT_DOUBLE_EQ(history.wall, 1740.0 + 400.0);
  EXPECT_DOUBLE_EQ(history.reduced_speed, 100.0);
  expect_parts_add_up(history);
}

}  // namespace
}  // namespace headway

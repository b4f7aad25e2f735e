#include "sim/sweep/sweep.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/predict/simulate.h"
#include "sim/sweep/stored_sweep.h"
#include "tests/support/scenario_text.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

SweepJob job_of(const ScratchFolder& scratch, std::vector<Axis> axes) {
  Diagnostics diagnostics;
  return read_sweep_job(scratch.write("scenario.json", small_scenario(4).dump()), {},
                        std::move(axes), diagnostics);
}

/// pp 3 does not divide 8 layers on 8 GPUs; 8000 layers do not fit.
std::vector<Axis> mixed_axes() {
  return {{"/model/layers", {8, 8000}}, {"pipeline_parallel", {1, 2, 3}}};
}

TEST(Sweep, EveryPointIsStoredWithWhatBecameOfIt) {
  const ScratchFolder scratch;
  const SweepJob job = job_of(scratch, mixed_axes());
  const SweepSummary summary = run_sweep(job, {.folder = scratch.path() / "s", .jobs = 2});
  EXPECT_EQ(summary.points, 6);
  EXPECT_EQ(summary.simulated, 2);
  EXPECT_EQ(summary.does_not_fit, 2);
  EXPECT_EQ(summary.refused, 2);
  EXPECT_EQ(summary.failed, 0);
  const std::vector<SweepPoint> points = read_sweep(scratch.path() / "s", Predictions::read).points;
  ASSERT_EQ(points.size(), 6u);
  EXPECT_EQ(points[2].status, PointStatus::refused);
  EXPECT_EQ(points[2].reason,
            "tensor_parallel 2 x pipeline_parallel 3 = 6 ranks do not divide the cluster's 8 "
            "accelerators");
  EXPECT_EQ(points[3].status, PointStatus::does_not_fit);
  EXPECT_THAT(points[3].reason, testing::StartsWith("stage 0 needs "));
}

TEST(Sweep, APointIsWhatSimulateSays) {
  const ScratchFolder scratch;
  const SweepJob job = job_of(scratch, {{"pipeline_parallel", {2}}});
  static_cast<void>(run_sweep(job, {.folder = scratch.path() / "s"}));
  const SweepPoint point = read_sweep(scratch.path() / "s", Predictions::read).points.at(0);
  EXPECT_EQ(point.prediction->iteration_time, simulate(job.base, {}).prediction.iteration_time);
  EXPECT_EQ(point.scenario, job.base.resolved);
  EXPECT_EQ(point.prediction->question.provenance->at("command_line"),
            "headway simulate " + job.path + " --set /strategy/pipeline_parallel=2");
}

TEST(Sweep, WhatIsSettledIsNotDoneAgain) {
  const ScratchFolder scratch;
  const SweepOptions options{.folder = scratch.path() / "s"};
  SweepJob job = job_of(scratch, mixed_axes());
  job.axes.back().values = {1, 3};
  static_cast<void>(run_sweep(job, options));
  job.axes.back().values = {1, 2, 3};
  const SweepSummary summary = run_sweep(job, options);
  EXPECT_EQ(summary.settled, 4);
  EXPECT_EQ(summary.simulated, 1);
  EXPECT_EQ(summary.does_not_fit, 1);
  EXPECT_TRUE(run_sweep(job, options).has_simulated);  // before
}

TEST(Sweep, NothingThatCouldBeSimulatedIsToldHoweverOftenAsked) {
  const ScratchFolder scratch;
  SweepJob job = job_of(scratch, mixed_axes());
  job.axes.back().values = {3};
  EXPECT_FALSE(run_sweep(job, {.folder = scratch.path() / "s"}).has_simulated);
  EXPECT_FALSE(run_sweep(job, {.folder = scratch.path() / "s"}).has_simulated);
}

TEST(Sweep, ShardsAreDisjointAndTogetherAll) {
  const ScratchFolder scratch;
  const SweepJob job = job_of(scratch, mixed_axes());
  std::vector<std::string> axes;
  for (const char* shard : {"0/4", "1/4", "2/4", "3/4"}) {
    SweepOptions options{.folder = scratch.path() / "s" / shard};
    options.shard = parse_shard(shard);
    const SweepSummary summary = run_sweep(job, options);
    EXPECT_EQ(summary.points, options.shard.index < 2 ? 2 : 1);
    for (const SweepPoint& point : read_sweep(options.folder, Predictions::left_out).points) {
      axes.push_back(point.axes->dump());
    }
  }
  EXPECT_EQ(std::set<std::string>(axes.begin(), axes.end()).size(), 6u);
  EXPECT_EQ(axes.size(), 6u);
}

TEST(Sweep, APlanReadsAndSimulatesNothing) {
  const ScratchFolder scratch;
  const SweepJob job = job_of(scratch, mixed_axes());
  const std::vector<SweepPoint> points =
      planned_points(job, {.folder = scratch.path() / "s", .jobs = 2});
  ASSERT_EQ(points.size(), 6u);
  EXPECT_EQ(points[0].status, PointStatus::done);
  EXPECT_EQ(points[0].prediction, nullptr);
  EXPECT_EQ(points[2].status, PointStatus::refused);
  EXPECT_EQ(points[4].status, PointStatus::does_not_fit);
  EXPECT_FALSE(std::filesystem::exists(scratch.path() / "s"));
}

TEST(Shard, IsIOfNCountedFromZero) {
  EXPECT_EQ(parse_shard("3/16").index, 3);
  EXPECT_EQ(parse_shard("3/16").count, 16);
  for (const char* text : {"", "1", "1/", "/2", "2/2", "-1/2", "1/2x", "a/b", "1/0"}) {
    EXPECT_THROW(static_cast<void>(parse_shard(text)), InputError) << text;
  }
}

}  // namespace
}  // namespace headway

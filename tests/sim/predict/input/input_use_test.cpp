#include "sim/predict/input/input_use.h"

#include <gtest/gtest.h>

#include "sim/jobs/strategy.h"

namespace headway {
namespace {

// MLPerf Storage's UNet3D on an H100: 7 samples of 146,600,628 bytes every 0.323 s.
const InputDemand kUnet{.batch = Bytes(7.0 * 146'600'628.0), .compute = Seconds(0.323)};

TEST(InputBound, AnAcceleratorDrawsItsBatches) {
  EXPECT_NEAR(demand_at(kUnet, 1.0).count(), 3.1771e9, 1e5);
  EXPECT_NEAR(demand_at(kUnet, 0.9).count(), 2.8594e9, 1e5);
}

/// 2,000 samples of 1 MB; a step takes 100 of them, on two nodes of four accelerators.
constexpr InputSettings kInput{{.sample = Bytes(1e6), .samples = 2000.0}, BytesPerSecond(50e6)};

InputUse use_of(const InputSettings& settings, Seconds iteration = 1_s) {
  Cluster cluster;
  cluster.nodes = 2;
  cluster.node_type.accelerators = 4;
  return input_use(settings, Strategy{.data_parallel = 8, .global_batch = 100}, cluster, iteration);
}

TEST(InputUse, AStepWaitsForWhatStorageDoesNotGive) {
  // 100 MB at 50 MB/s.
  const InputUse use = use_of(kInput);
  EXPECT_DOUBLE_EQ(use.read.count(), 2.0);
  EXPECT_DOUBLE_EQ(use.stalled.count(), 1.0);
  EXPECT_DOUBLE_EQ(use.epoch.count(), 40.0);
  EXPECT_DOUBLE_EQ(use.storage_rate.count(), 50e6);
  // Slower steps do not wait, and draw less.
  const InputUse slow = use_of(kInput, 4_s);
  EXPECT_EQ(slow.stalled, 0_s);
  EXPECT_DOUBLE_EQ(slow.storage_rate.count(), 25e6);
}

TEST(InputUse, WhatIsNotReadAheadIsWaitedFor) {
  InputSettings settings = kInput;
  settings.prefetch = 0;
  EXPECT_DOUBLE_EQ(use_of(settings).stalled.count(), 2.0);
  EXPECT_DOUBLE_EQ(use_of(settings, 4_s).stalled.count(), 2.0);
  settings.cores = 2.0;  // 12.5 samples of a step on two cores of two a second: as they come
  settings.samples_of_core = 2.0;
  EXPECT_DOUBLE_EQ(use_of(settings, 4_s).stalled.count(), 3.125);
}

// 100 samples of a step in 100 files, of which 20 are opened a second: 5 s for the 2 that their
// bytes take; in files of ten 0.5 s, less than those. What is cached is not opened.
TEST(InputUse, AStepWaitsForFilesToBeOpened) {
  InputSettings settings = kInput;
  settings.files = 20.0;
  EXPECT_DOUBLE_EQ(use_of(settings).read.count(), 5.0);
  EXPECT_DOUBLE_EQ(use_of(settings).storage_rate.count(), 20e6);
  settings.samples_of_file = 10.0;
  EXPECT_DOUBLE_EQ(use_of(settings).read.count(), 2.0);
  settings.samples_of_file = 1.0;
  settings.scope = CacheScope::job;
  settings.cache = Bytes(0.75e9);  // of 2 GB, on each of two nodes
  EXPECT_DOUBLE_EQ(use_of(settings).read.count(), 1.25);
  EXPECT_DOUBLE_EQ(use_of(settings).first_epoch_step.count(), 5.0);
}

TEST(InputUse, ACacheThatNodesShareHoldsAPartOnEach) {
  InputSettings settings = kInput;
  settings.scope = CacheScope::job;
  settings.cache = Bytes(0.75e9);  // of 2 GB, on each of two nodes
  const InputUse use = use_of(settings);
  EXPECT_DOUBLE_EQ(use.read_share, 0.25);
  EXPECT_DOUBLE_EQ(use.read.count(), 0.5);
  EXPECT_EQ(use.stalled, 0_s);
  EXPECT_DOUBLE_EQ(use.storage_rate.count(), 25e6);  // a quarter of 100 MB in a step of 1 s
  EXPECT_DOUBLE_EQ(use.first_epoch_step.count(), 2.0);
}

TEST(InputUse, ANodesOwnCacheHoldsWhatOthersAreDealt) {
  // Half of the set in the cache of each of two nodes, of which each reads another half in every
  // epoch: about half of what it reads is there, less what has been replaced meanwhile.
  InputSettings settings = kInput;
  settings.cache = Bytes(1e9);
  const double read = use_of(settings).read_share;
  EXPECT_GT(read, 0.49);
  EXPECT_LT(read, 0.70);
}

TEST(InputUse, CoresPrepareWhatTheirAcceleratorTakes) {
  // 12.5 samples of a step on two cores of five a second.
  InputSettings settings = kInput;
  settings.cores = 2.0;
  settings.samples_of_core = 5.0;
  settings.storage = BytesPerSecond(1e12);
  const InputUse use = use_of(settings);
  EXPECT_DOUBLE_EQ(use.prepare.count(), 1.25);
  EXPECT_DOUBLE_EQ(use.stalled.count(), 0.25);
}

TEST(InputUse, OtherDrawsWaitForTheSameSamples) {
  // An iteration of 2 s waits 3 s: read ahead, its samples are there after 5 s whatever a draw
  // takes until then; not read ahead, every draw reads for 3 s.
  const InputUse waiting{.stalled = 3_s};
  InputSettings settings;
  settings.prefetch = 2;
  EXPECT_EQ(step_of_other(settings, waiting, 2_s, 1_s), 5_s);
  EXPECT_EQ(step_of_other(settings, waiting, 2_s, 4_s), 5_s);
  EXPECT_EQ(step_of_other(settings, waiting, 2_s, 6_s), 6_s);
  EXPECT_EQ(step_of_other(settings, InputUse{}, 2_s, 1_s), 1_s);
  settings.prefetch = 0;
  EXPECT_EQ(step_of_other(settings, waiting, 2_s, 1_s), 4_s);
  EXPECT_EQ(step_of_other(settings, waiting, 2_s, 6_s), 9_s);
}

}  // namespace
}  // namespace headway

// Compressed gradients: what an iteration takes, against arithmetic.
#include "sim/jobs/compression/compression.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/layers/parameters.h"
#include "sim/programs/build_workload.h"
#include "tests/sim/engine/single_iteration.h"
#include "tests/sim/network/read_text.h"
#include "tests/support/cluster_text.h"
#include "tests/support/round_profile.h"
#include "tests/support/small_job.h"

namespace headway {
namespace {

constexpr double kCompressedNic = 1e6;
constexpr double kCompressedHop = 2e-6;
constexpr double kCompressedHalf = 2.0;

/// Replicas of one accelerator each around one switch, which reduce behind the backward pass.
struct CompressedRun {
  int replicas = 4;
  Compression how = {};
  Model model = thousand_parameter_layers(4, 10);

  /// That travel: all but the scales of the norm in front of the head, which no exchange counts.
  [[nodiscard]] double learned() const {
    return parameters(model).total() - parameters(model.last).of(Part::normalization);
  }
  struct Outcome {
    double time = 0.0;
    double work = 0.0;  ///< of a replica, compression apart
    double compressing = 0.0;
  };
  [[nodiscard]] Outcome run() const {
    Strategy strategy{.data_parallel = replicas, .global_batch = replicas, .sequence_length = 64};
    strategy.gradient_precision = Precision::bf16;
    strategy.overlap_gradient_reduce = false;
    strategy.compression = how;
    const auto cluster =
        cluster_of(ClusterText{.nodes = replicas, .nic_bandwidth = "1 MB/s"}.text());
    const Workload workload = build_workload({model,
                                              strategy,
                                              round_profile(),
                                              *cluster,
                                              {.data = replicas},
                                              CollectiveAlgorithm::ring})
                                  .workload;
    Outcome outcome{.time = simulate_workload(workload, cluster->topology, {}).finish};
    const Program& program = workload.programs.front();
    for (const Operation& operation : program.operations) {
      if (operation.kind != OperationKind::compute) continue;
      const Block& block = program.blocks[static_cast<std::size_t>(operation.block)];
      (block.name == "compression" ? outcome.compressing : outcome.work) +=
          block.time.total().count();
    }
    return outcome;
  }
  [[nodiscard]] double exchange() const {
    const Outcome outcome = run();
    return outcome.time - outcome.work - outcome.compressing;
  }
};

Compression compression_by(std::string_view name) {
  return {.method = &*std::ranges::find(compressors(), name, &Compressor::name)};
}

// A ring all-reduce of W ranks: 2 (W - 1) steps of a part of the message each.
TEST(CompressedGradients, QuantisedOnesAreAllReduced) {
  for (const int replicas : {2, 5}) {
    CompressedRun job{.replicas = replicas, .how = compression_by("quantise")};
    job.how.bits = 4.0;
    const double message = job.learned() * 4.0 / 8.0;
    const double expected =
        2.0 * (replicas - 1) * (kCompressedHop + message / replicas / kCompressedNic);
    EXPECT_NEAR(job.exchange(), expected, 1e-9 * expected);
  }
}

// An all-gather: W - 1 steps, each the elements and indices of one rank.
TEST(CompressedGradients, TheLargestOnesAreGathered) {
  for (const int replicas : {2, 5}) {
    CompressedRun job{.replicas = replicas, .how = compression_by("top_k")};
    job.how.density = 0.125;
    const double sent = 0.125 * job.learned() * (kCompressedHalf + 4.0);
    const double expected = (replicas - 1) * (kCompressedHop + sent / kCompressedNic);
    EXPECT_NEAR(job.exchange(), expected, 1e-9 * expected);
  }
}

// With density d, elements of s bytes and indices of i, W ranks receive (W - 1) d (s + i) bytes an
// element by gathering and 2 (W - 1) / W s by reducing: from W = 2 s / (d (s + i)) on gathering
// loses. d = 1/12, s = 2, i = 4: W = 8.
TEST(CompressedGradients, GatheringLosesFromAWorkerCountOn) {
  for (const int replicas : {6, 7, 9, 10}) {
    CompressedRun gathered{.replicas = replicas, .how = compression_by("top_k")};
    gathered.how.density = 1.0 / 12.0;
    const CompressedRun reduced{.replicas = replicas};
    EXPECT_EQ(gathered.exchange() > reduced.exchange(), replicas > 8) << replicas;
  }
}

// Signs, an eighth of a byte an element: all to all, of which each rank keeps 1/W, then gathered,
// (W - 1)/W of it. Both are under way together and take the link one behind the other.
TEST(CompressedGradients, SignsAreScatteredAndGathered) {
  CompressedRun job{.replicas = 4, .how = compression_by("one_bit")};
  const double sent = job.learned() / 8.0;
  const double bytes = 2.0 * 3.0 / 4.0 * sent / kCompressedNic;
  EXPECT_GE(job.exchange(), bytes);
  EXPECT_LE(job.exchange(), bytes + 8.0 * kCompressedHop);
}

// The round profile's memory moves what streams, once before the exchange: (2 s + 3 x 4 + ...) of
// an element for top-k, 2 (s + b/8) for fewer bits.
TEST(CompressedGradients, StreamThroughTheMemoryOfTheDevice) {
  CompressedRun job{.how = compression_by("quantise")};
  const Profile profile = round_profile();
  const double rate =
      profile.device.memory_bandwidth.value * profile.device.memory_efficiency.value;
  const double expected = 2.0 * job.learned() * (kCompressedHalf + 1.0) / rate;
  EXPECT_NEAR(job.run().compressing, expected, 1e-9 * expected);
}

}  // namespace
}  // namespace headway

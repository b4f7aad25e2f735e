#include "calibrate/output/build_profile.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "calibrate/block/block_cost.h"
#include "calibrate/output/atomic_file.h"
#include "calibrate/output/collective_fit.h"
#include "calibrate/output/profile_json.h"
#include "calibrate/suite/fake_backend.h"
#include "sim/base/diagnostic.h"
#include "sim/costs/read_profile.h"
#include "sim/files/input_files.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

MeasuredPoint point(const Point& what, Seconds time, int contaminated = 0) {
  Measured measured;
  measured.time = time;
  measured.samples = 10;
  measured.contaminated = contaminated;
  return {what, measured, 0.0};
}

Calibration one_product() {
  Calibration calibration;
  calibration.offer = FakeBackend({}, 1, {}).offer();
  calibration.points.push_back(
      point(GemmPoint{{256, 256, 256}, Precision::bf16, GemmLayout::nn}, 10.0_us));
  return calibration;
}

TEST(BuiltProfile, SaysHowFarItIsOffATransformerBlock) {
  Calibration calibration = one_product();
  const BlockShape shape{.sequences = 2, .sequence = 256, .hidden = 256, .heads = 4};
  calibration.block = BlockRun{shape, Precision::bf16, 7, 10.0_ms, 0.01};
  const CalibratedProfile built = built_profile(calibration, "block");
  EXPECT_EQ(built.provenance.at("transformer_block"),
            block_text(*calibration.block, block_cost(built.profile, shape, Precision::bf16)));
  EXPECT_FALSE(built_profile(one_product(), "none").provenance.contains("transformer_block"));
}

TEST(BuiltProfile, OfAPartialCalibrationIsReadableAndSaysWhatIsMissing) {
  Calibration calibration = one_product();
  calibration.is_aborted = true;
  calibration.missing = {"collectives: rank 1 did not answer"};
  const CalibratedProfile built = built_profile(calibration, "partial");
  EXPECT_EQ(built.provenance.at("verdict"), "aborted");
  EXPECT_EQ(built.provenance.at("not_measured"), "collectives: rank 1 did not answer");

  const ScratchFolder folder;
  const std::string path = folder.write("partial.json", profile_json(built));
  Diagnostics diagnostics;
  InputFiles files({}, {}, diagnostics);
  const auto cursor = files.open(path, "");
  ASSERT_TRUE(cursor.has_value());
  EXPECT_TRUE(read_profile(*cursor, files).has_value())
      << rendered(diagnostics.all(), "nothing was read");
}

TEST(BuiltProfile, TellsTheLinksInsideOfANodeFromThoseBetweenNodes) {
  Calibration calibration = one_product();
  calibration.offer.collective_implementations = {"nccl"};
  calibration.offer.link_bytes_per_s = 0.0;
  calibration.offer.ranks_per_node = 2;
  // 2 ranks exchange at 1 GB/s, 4 at 100 MB/s: the ring sends 1 and 1.5 times the message.
  for (const std::size_t mb : {1U, 2U, 4U}) {
    const Seconds unit(1e-3 * static_cast<double>(mb));
    calibration.points.push_back(
        point(CollectivePoint{CollectiveKind::all_reduce, "nccl", mb * 1000000U, 2}, unit));
    calibration.points.push_back(
        point(CollectivePoint{CollectiveKind::all_reduce, "nccl", mb * 1000000U, 4}, 15.0 * unit));
  }
  const CalibratedProfile built = built_profile(calibration, "two nodes");
  ASSERT_EQ(built.profile.scale_up.collectives.size(), 1U);
  EXPECT_EQ(built.profile.scale_up.collectives[0].ranks, 2);
  ASSERT_EQ(built.profile.scale_out.collectives.size(), 1U);
  EXPECT_EQ(built.profile.scale_out.collectives[0].ranks, 4);
  EXPECT_EQ(built.provenance.at("link_rate"),
            "inside a node 1 GB/s, fitted; between nodes 100 MB/s, fitted");
}

TEST(BuiltProfile, KeepsWhatAnIdleLinkLetsThroughAtOnce) {
  Calibration calibration = one_product();
  calibration.offer.collective_implementations = {"ring"};
  for (const std::size_t kb : {100U, 200U}) {
    calibration.points.push_back(
        point(CollectivePoint{CollectiveKind::send_receive, "ring", kb * 1000U, 2},
              Seconds(1e-3 * static_cast<double>(kb))));
  }
  EXPECT_FALSE(built_profile(calibration, "free").profile.scale_out.burst.has_value());
  calibration.offer.link_burst_bytes = 125000.0;
  const CalibratedProfile limited = built_profile(calibration, "limited");
  EXPECT_EQ(limited.profile.scale_out.burst, Bytes(125000.0));
  EXPECT_NE(profile_json(limited).find("\"burst_bytes\": 125000"), std::string::npos);
}

TEST(BuiltProfile, NeedsAtLeastOneProduct) {
  Calibration calibration = one_product();
  calibration.points.clear();
  EXPECT_THROW((void)built_profile(calibration, "empty"), EnvironmentError);
}

TEST(BuiltProfile, HasAPeakThatNoMeasuredProductExceedsHoweverItIsRounded) {
  for (int i = 0; i < 1000; ++i) {
    Calibration calibration = one_product();
    calibration.offer.peak_flops.clear();
    calibration.points[0].measured.time = Seconds(4.5e-6 * (1.0 + 1.7e-6 * i));
    const DeviceCosts device = built_profile(calibration, "rounded").profile.device;
    const MeasuredGemm& row = device.gemm_table.at(0);
    EXPECT_LE(row.shape.flops() / row.time.count(), device.peak_flops.at(Precision::bf16).value);
  }
}

TEST(BuiltProfile, AveragesTheLayoutsAndSpreadsOverThem) {
  // 8 us, 10 us and 12 us: 10 us, half the distance 2 us: 20 %
  Calibration calibration = one_product();
  calibration.points[0].measured.time = 8.0_us;
  const GemmShape shape{256, 256, 256};
  calibration.points.push_back(point(GemmPoint{shape, Precision::bf16, GemmLayout::nt}, 10.0_us));
  calibration.points.push_back(point(GemmPoint{shape, Precision::bf16, GemmLayout::tn}, 12.0_us));
  const auto table = built_profile(calibration, "layouts").profile.device.gemm_table;
  ASSERT_EQ(table.size(), 1U);
  EXPECT_DOUBLE_EQ(table[0].time.count(), 10e-6);
  EXPECT_NEAR(table[0].spread, 0.2, 1e-9);
}

TEST(Verdict, IsNoisyAboveFivePercentOfContaminatedSamples) {
  Calibration calibration = one_product();
  EXPECT_EQ(verdict(calibration), "ok");
  calibration.points[0].measured.contaminated = 1;  // of 10
  EXPECT_EQ(verdict(calibration), "noisy");
  calibration.is_aborted = true;
  EXPECT_EQ(verdict(calibration), "aborted");
}

TEST(CollectiveCurves, LeaveOutGroupsOfOneRank) {
  const std::vector<MeasuredPoint> points = {
      point(CollectivePoint{CollectiveKind::all_reduce, "nccl", 1024, 1}, 1.0_us),
      point(CollectivePoint{CollectiveKind::all_reduce, "nccl", 2048, 2}, 4.0_us),
      point(CollectivePoint{CollectiveKind::all_reduce, "nccl", 1024, 2}, 3.0_us),
      point(CollectivePoint{CollectiveKind::all_reduce, "other", 1024, 2}, 9.0_us)};
  const auto curves = collective_curves(points, "nccl");
  ASSERT_EQ(curves.size(), 1U);
  EXPECT_EQ(curves[0].ranks, 2);
  ASSERT_EQ(curves[0].curve.points.size(), 2U);
  EXPECT_EQ(curves[0].curve.points[0].size, 1_KiB);
}

TEST(LinkFit, TellsOverheadLatencyAndRateApart) {
  // t = 10 us + 3 us a step + volume / 1 GB/s, for an all-reduce of 2 and 4 ranks: 2 steps and 1
  // message, 6 steps and 3/2 messages.
  std::vector<MeasuredCollective> curves;
  for (const int ranks : {2, 4}) {
    const int steps = 2 * (ranks - 1);
    const double factor = 2.0 * (ranks - 1) / ranks;
    MeasuredCollective collective{CollectiveKind::all_reduce, ranks, {}};
    for (const double bytes : {1e3, 1e5, 1e7}) {
      collective.curve.points.push_back(
          {Bytes(bytes), Seconds(10e-6 + 3e-6 * steps + factor * bytes / 1e9)});
    }
    curves.push_back(collective);
  }
  const auto fit = fitted_link(curves);
  ASSERT_TRUE(fit.has_value());
  EXPECT_NEAR(fit->overhead, 10e-6, 1e-10);
  EXPECT_NEAR(fit->latency, 3e-6, 1e-10);
  EXPECT_NEAR(fit->bytes_per_s, 1e9, 1e3);
  EXPECT_FALSE(fitted_link({}).has_value());
}

std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

TEST(AtomicFile, ReplacesWhatStoodThere) {
  const ScratchFolder folder;
  const std::string path = folder.write("profile.json", "old");
  write_atomically(path, "new");
  EXPECT_EQ(content(path), "new");
}

TEST(AtomicFile, LeavesTheOldFileAndNoPartWhenTheDiskIsFull) {
  const ScratchFolder folder;
  const std::string path = folder.write("profile.json", "old");
  // A limit on the size of files refuses bytes as a full disk does.
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto handler = std::signal(SIGXFSZ, SIG_IGN);
  const rlimit small{2, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  std::string problem;
  try {
    write_atomically(path, "much longer");
  } catch (const EnvironmentError& error) {
    problem = error.what();
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_EQ(problem, "cannot write " + path + ": File too large");
  EXPECT_EQ(content(path), "old");
  const std::filesystem::directory_iterator files(folder.path());
  EXPECT_EQ(std::distance(files, std::filesystem::directory_iterator()), 1);
}

TEST(AtomicFile, DoesNotReplaceWhatIsNoFile) {
  EXPECT_THROW(write_atomically("/dev/null", "text"), EnvironmentError);
}

TEST(AtomicFile, NamesTheFolderThatDoesNotExist) {
  try {
    write_atomically("/nonexistent/profile.json", "text");
    FAIL() << "written";
  } catch (const EnvironmentError& error) {
    EXPECT_STREQ(error.what(), "cannot write /nonexistent/profile.json: No such file or directory");
  }
}

}  // namespace
}  // namespace headway

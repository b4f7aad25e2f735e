#include "calibrate/output/measurements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calibrate/output/profile_json.h"
#include "calibrate/suite/fake_backend.h"
#include "sim/base/diagnostic.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

using ::testing::HasSubstr;

const GemmPoint kGemm{{256, 512, 1024}, Precision::bf16, GemmLayout::tn, true, true};
const DeviceState kState{1.755e9, {"heat", "power cap"}, 690.0};

/// A point of each kind, with numbers that no short decimal meets.
Measurements everything() {
  Measurements all{.name = "box",
                   .command = "headway-calibrate --backend fake",
                   .created_utc = "2026",
                   .tool = "headway-calibrate 0",
                   .backend = "fake",
                   .seed = "18446744073709551615"};
  Calibration& calibration = all.calibration;
  calibration.offer = FakeBackend({}, 1, {2, 4}).offer();
  calibration.offer.accelerator = "h100-sxm";
  calibration.offer.peak_flops = {{Precision::bf16, 1e15 / 3.0}};
  const CollectivePoint collective{CollectiveKind::send_receive, "ring", 1U << 20U, 4};
  const AttentionShape attention{.sequences = 1,
                                 .query_length = 512,
                                 .key_length = 512,
                                 .query_heads = 16,
                                 .key_heads = 4,
                                 .head_size = 64,
                                 .causal = false};
  const GemmPoint plain{{256, 512, 1024}, Precision::bf16, GemmLayout::nn};
  for (const Point& point : std::initializer_list<Point>{
           plain, kGemm, BatchedGemmPoint{plain, 64}, GroupedGemmPoint{plain, 8, 128},
           AttentionPoint{attention, Pass::forward},
           MemoryPoint{MemoryKernel::softmax_backward, 1U << 20U},
           MemoryPoint{MemoryKernel::residual_add, 1U << 20U}, collective, LaunchPoint{true},
           LaunchPoint{false}, CopyPoint{CopyKind::few_blocks, 12345}, ConcurrentPoint{plain, {}},
           ConcurrentPoint{plain, collective}, ConcurrentPoint{collective, plain}}) {
    const double third = static_cast<double>(calibration.points.size() + 1) / 3.0;
    calibration.points.push_back(
        {point,
         {Seconds(1e-5 * third), 0.01 * third, 0.02 * third, Seconds(2e-5 * third), 33, 1},
         0.001 * third,
         kState});
  }
  calibration.refused = {{kGemm, "no kernel"}, {LaunchPoint{}, "no \"graph\""}};
  calibration.sustained = SustainedRun{kGemm, Seconds(1e-5 / 3.0), Seconds(2.0), {}};
  calibration.sustained->parts = {{0.25, Seconds(1e-5 / 7.0), kState},
                                  {0.0, Seconds(1e-5 / 9.0), {}}};
  calibration.jitter =
      JitterRun{plain, Seconds(2.0 / 3.0), {0.1 + 0.2, 1.0, 4.0 / 3.0}, -0.1 / 3.0, kState, 2};
  calibration.block = BlockRun{{.sequences = 2, .sequence = 256, .hidden = 256, .heads = 4},
                               Precision::bf16,
                               7,
                               Seconds(0.01 / 3.0),
                               0.01 / 3.0};
  calibration.missing = {"collectives: rank 1 did not answer"};
  calibration.is_aborted = true;
  return all;
}

/// What reading such a text complains of.
std::string complaints(const std::string& text) {
  const ScratchFolder folder;
  try {
    (void)read_measurements(folder.write("points.json", text));
    return "";
  } catch (const InputError& error) {
    return rendered(error.diagnostics(), "nothing was measured.");
  }
}

std::string with(const std::string& before, const std::string& after) {
  std::string text = measurements_json(everything());
  const std::size_t place = text.find(before);
  EXPECT_NE(place, std::string::npos) << before << " in " << text;
  return text.replace(place, before.size(), after);
}

TEST(Measurements, AreReadBackAsTheyWereWritten) {
  const ScratchFolder folder;
  const Measurements all = everything();
  const std::string text = measurements_json(all);
  const Measurements read = read_measurements(folder.write("points.json", text));
  EXPECT_EQ(measurements_json(read), text);
  const CalibratedProfile fitted = fitted_profile(all);
  EXPECT_EQ(profile_json(fitted_profile(read)), profile_json(fitted));
  EXPECT_EQ(fitted.provenance.at("verdict"), "aborted");
  EXPECT_EQ(fitted.provenance.at("seed"), "18446744073709551615");
  EXPECT_TRUE(fitted.provenance.contains("published_fields"));
  EXPECT_FALSE(fitted.provenance.contains("refitted"));
}

TEST(Measurements, HaveALineForEachPoint) {
  const std::string text = measurements_json(everything());
  EXPECT_THAT(text,
              HasSubstr("\"points\": [\n"
                        R"(  {"point":"gemm","precision":"bf16","layout":"nn","m":256,"n":512,)"
                        R"("k":1024,"time_s":3.3333333333333333e-06,)"));
  EXPECT_THAT(text, HasSubstr(R"("layout":"tn","m":256,"n":512,"k":1024,"block_scaled":true,)"
                              R"("accumulates":true,)"));
  EXPECT_THAT(text, HasSubstr(R"(  {"point":"memory","kernel":"softmax_backward",)"
                              R"("elements":1048576,)"));
  EXPECT_THAT(text, HasSubstr(R"("samples":33,"contaminated":1,)"));
  EXPECT_THAT(text, HasSubstr(R"("state":{"clock_hz":1755000000.0,"throttled_by":["heat",)"
                              R"("power cap"],"watts":690.0}},)"
                              "\n"));
  EXPECT_THAT(text, HasSubstr(R"({"point":"launch","in_graph":false,"reason":"no \"graph\""})"
                              "\n]\n}\n"));
}

/// Peaks that are published when it is fitted count, not those of the day of the measurement.
TEST(Measurements, KeepWhatTheBackendOffered) {
  const Measurements all = everything();
  EXPECT_EQ(fitted_profile(all).profile.device.peak_flops.at(Precision::bf16).value, 989e12);
  EXPECT_THAT(measurements_json(all),
              HasSubstr(R"("peak_flops_per_s":{"bf16":333333333333333.3})"));
}

TEST(Measurements, OfNoProductAreNoProfile) {
  Measurements all = everything();
  all.calibration.points.clear();
  all.calibration.block.reset();
  const ScratchFolder folder;
  const Measurements read = read_measurements(folder.write("none.json", measurements_json(all)));
  EXPECT_THROW((void)fitted_profile(read), EnvironmentError);
}

TEST(Measurements, ThatAreCutOffAreNamedWithThePlace) {
  const std::string text = measurements_json(everything());
  const std::string problem = complaints(text.substr(0, text.size() / 2));
  EXPECT_THAT(problem, HasSubstr("points.json:"));
  EXPECT_THAT(problem, HasSubstr("1 problem in 1 file"));
}

TEST(Measurements, WithMistakesAreNamedWithThePlaceAndTheRemedy) {
  const auto expect = [](const std::string& before, const std::string& after,
                         const std::string& pointer, const std::string& says) {
    const std::string problem = complaints(with(before, after));
    EXPECT_THAT(problem, HasSubstr(says)) << after;
    EXPECT_THAT(problem, HasSubstr(pointer)) << after;
    EXPECT_THAT(problem, HasSubstr("1 problem in 1 file")) << problem;
  };
  expect("measurements/1", "profile/1", "/schema", "headway/measurements/1");
  expect("\"time_s\":3.3", "\"time_s\":-3.3", "/points/0/time_s", "must be greater than 0");
  expect("\"samples\":33", "\"samples\":\"33\"", "/points/0/samples", "write 33 without quotes");
  expect("\"mad\":", "\"mda\":0,\"mad\":", "/points/0/mda", "did you mean \"mad\"?");
  expect("\"bf16\",\"layout\":\"nn\"", "\"bf16\"", "/points/0", "missing field \"layout\"");
  expect("\"bf16\",\"layout\":\"nn\"", "\"bf16\",\"layout\":\"tt\"", "/points/0/layout",
         "it is one of \"nn\"");
  expect("\"point\":\"batched_gemm\"", "\"point\":\"batched_gem\"", "/points/2/point",
         "did you mean \"batched_gemm\"?");
  expect("\"reason\":\"no kernel\"", "\"reason\":0", "/refused/0/reason", "must be a text");
  expect("[\n  \"collectives: rank 1 did not answer\"\n]", "[3]", "/missing/0", "must be texts");
  expect("{\"bf16\":3", "{\"bf61\":1,\"bf16\":3", "/offer/peak_flops_per_s/bf61", "\"bf16\"");
  expect("{\"software\":\"", "{\"version\":1,\"software\":\"", "/offer/provenance/version",
         "must be a text");
  expect("\"over_median\":[0.3", "\"over_median\":[-0.3", "/jitter/over_median/0", "above 0");
  expect("\"heads\":4", "\"heads\":3", "/block", "heads must divide hidden");
  expect("\"precision\":\"bf16\",\"sequence\"", "\"precision\":\"fp32\",\"sequence\"", "/block",
         "no product was measured in its precision");
}

}  // namespace
}  // namespace headway

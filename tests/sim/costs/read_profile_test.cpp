#include "sim/costs/read_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/sim/costs/small_profile.h"

namespace headway {
namespace {

struct Outcome {
  std::optional<ReadProfile> read;
  std::string problems;  ///< as people read them
};

Outcome read_text(const std::string& text) {
  Diagnostics diagnostics;
  InputFiles files({}, {}, diagnostics);
  auto document = JsonDocument::parse("lab.json", text, diagnostics);
  Outcome outcome;
  if (document) outcome.read = read_profile(JsonCursor(std::move(document)), files);
  outcome.problems = rendered(diagnostics.all(), "nothing was simulated");
  return outcome;
}

/// The small profile with one text replaced.
Outcome read_with(const std::string& from, const std::string& to) {
  std::string text = small_profile_text();
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("not in the small profile: " + from);
  return read_text(text.replace(at, from.size(), to));
}

constexpr std::string_view kMemoryBytes =
    R"("memory_bytes": {"value": 8e10, "spread": 0, "source": "sheet"})";

TEST(ReadProfile, ReadsEveryPart) {
  const Outcome outcome = read_text(small_profile_text());
  ASSERT_TRUE(outcome.read) << outcome.problems;
  EXPECT_EQ(outcome.problems, "");
  const Profile& profile = *outcome.read->profile;
  EXPECT_EQ(profile.name, "small");
  EXPECT_EQ(profile.accelerator, "bench");
  EXPECT_EQ(profile.kind, "measured");
  EXPECT_EQ(profile.provenance, "command: headway-calibrate; device: bench 1");

  const DeviceCosts& device = profile.device;
  EXPECT_EQ(device.peak_flops.at(Precision::bf16).value, 1e14);
  EXPECT_EQ(device.peak_flops.at(Precision::bf16).spread, 0.01);
  EXPECT_EQ(device.peak_flops.at(Precision::bf16).source, "sheet");
  EXPECT_EQ(device.memory_bytes.value, 8e10);
  EXPECT_EQ(device.memory_bandwidth.value, 1e12);
  EXPECT_EQ(device.multiprocessors, 108);
  EXPECT_EQ(device.gemm_efficiency.at(Precision::bf16).value, 0.7);
  EXPECT_EQ(device.gemm_inner_half.value, 200);
  EXPECT_EQ(device.gemm_quantisation.value, 0.6);
  EXPECT_EQ(device.gemm_overhead.value, 4e-6);
  EXPECT_EQ(device.cast_bytes.value, 5);
  EXPECT_EQ(cast_bytes(device, Scaling::delayed)->value, 5);
  EXPECT_EQ(cast_bytes(device, Scaling::current)->value, 12);
  EXPECT_EQ(cast_bytes(device, Scaling::rowwise), nullptr);
  EXPECT_EQ(cast_bytes(device, Scaling::mxfp8)->value, 6);
  EXPECT_EQ(cast_bytes(device, Scaling::nvfp4), nullptr);
  EXPECT_EQ(device.attention_efficiency.value, 0.5);
  EXPECT_EQ(device.attention_backward.value, 0.8);
  EXPECT_EQ(device.attention_sequence_half.value, 200);
  EXPECT_EQ(device.attention_head_exponent.value, 0.2);
  EXPECT_EQ(device.attention_context_factor.value, 1.1);
  EXPECT_EQ(device.batched_gemm_efficiency.value, 0.5);
  EXPECT_EQ(device.misaligned_head_factor.value, 3);
  EXPECT_EQ(device.unfused_forward_bytes.value, 11);
  EXPECT_EQ(device.unfused_backward_bytes.value, 16);
  EXPECT_EQ(device.memory_efficiency.value, 0.8);
  EXPECT_EQ(device.optimizer_bytes.value, 34);

  const KernelFamily& family = profile.kernel_families.at("fused");
  EXPECT_EQ(family.memory_traffic.value, 0.8);
  EXPECT_EQ(family.attention_rate.value, 1);
  EXPECT_EQ(family.launch_gap.value, 2e-6);
  EXPECT_EQ(family.host_per_layer.value, 2e-4);
  EXPECT_EQ(family.step_overhead.value, 8e-3);
  EXPECT_EQ(family.loss_traffic.value, 1.5);
  EXPECT_EQ(family.gradient_traffic.value, 1.2);
  EXPECT_EQ(family.micro_batch_overhead.value, 6e-5);
  EXPECT_EQ(family.releases.at("bench-1.0").value, 1.1);

  EXPECT_EQ(profile.scale_up.bandwidth_efficiency.value, 0.75);
  EXPECT_EQ(profile.scale_up.latency.value, 1e-6);
  EXPECT_EQ(profile.scale_up.overhead.value, 6e-6);
  EXPECT_EQ(profile.scale_out.bandwidth_efficiency.value, 0.85);
  EXPECT_EQ(profile.scale_out.latency.value, 4e-6);
  EXPECT_TRUE(profile.scale_out.collectives.empty());
  EXPECT_EQ(profile.overlap.tensor_parallel_overlapped.value, 0.35);
  EXPECT_EQ(profile.overlap.context_parallel_floor.value, 0.25);
  EXPECT_EQ(profile.overlap.gradient_reduce_floor.value, 0.15);
  EXPECT_EQ(profile.overlap.sharded_interference.value, 0.25);
  EXPECT_EQ(profile.variation.device_speed.value, 0.02);
  EXPECT_EQ(profile.variation.operation_time.value, 0.01);
}

TEST(ReadProfile, ReadsMeasuredTables) {
  const Outcome outcome = read_text(small_profile_text());
  ASSERT_TRUE(outcome.read) << outcome.problems;
  const Profile& profile = *outcome.read->profile;

  ASSERT_EQ(profile.device.gemm_table.size(), 2U);
  EXPECT_EQ(profile.device.gemm_table[0].shape, (GemmShape{1024, 2048, 4096}));
  EXPECT_EQ(profile.device.gemm_table[0].precision, Precision::bf16);
  EXPECT_EQ(profile.device.gemm_table[0].time, Seconds(3e-4));
  EXPECT_EQ(profile.device.gemm_table[0].spread, 0.02);

  ASSERT_EQ(profile.device.attention_table.size(), 2U);
  EXPECT_EQ(profile.device.attention_table[0].shape, (AttentionShape{.sequences = 2,
                                                                     .query_length = 1024,
                                                                     .key_length = 1024,
                                                                     .query_heads = 8,
                                                                     .key_heads = 2,
                                                                     .head_size = 128}));
  EXPECT_EQ(profile.device.attention_table[0].pass, Pass::forward);
  EXPECT_EQ(profile.device.attention_table[1].pass, Pass::backward);
  EXPECT_EQ(profile.device.attention_table[1].time, Seconds(3e-4));
  EXPECT_EQ(profile.device.attention_table[1].spread, 0.03);

  const MeasuredCurve& curve = profile.device.memory_curve;
  ASSERT_EQ(curve.points.size(), 2U);
  EXPECT_EQ(curve.points[1].size, 1_GB);
  EXPECT_EQ(curve.points[1].time, Seconds(1.2e-3));
  EXPECT_EQ(curve.spread, 0.03);
  EXPECT_EQ(curve.source, "bench");

  ASSERT_EQ(profile.device.optimizer_curve.points.size(), 1U);
  EXPECT_EQ(profile.device.optimizer_curve.points[0].size, 1_MB);
  EXPECT_EQ(profile.device.optimizer_curve.points[0].time, Seconds(1e-5));

  ASSERT_EQ(profile.scale_up.collectives.size(), 1U);
  const MeasuredCollective& collective = profile.scale_up.collectives[0];
  EXPECT_EQ(collective.kind, CollectiveKind::all_gather);
  EXPECT_EQ(collective.ranks, 8);
  EXPECT_EQ(collective.curve.points.size(), 2U);
}

TEST(ReadProfile, FingerprintIsOfTheContentNotTheLayout) {
  const std::string text = small_profile_text();
  const auto one = read_text(text);
  const auto compact = read_text(nlohmann::json::parse(text).dump());
  const auto other = read_with(R"("value": 8e10)", R"("value": 9e10)");
  ASSERT_TRUE(one.read && compact.read && other.read);
  EXPECT_EQ(one.read->fingerprint, compact.read->fingerprint);
  EXPECT_NE(one.read->fingerprint, other.read->fingerprint);
}

TEST(ReadProfile, ANumberNeedsASource) {
  const Outcome outcome = read_with(
      std::string(kMemoryBytes), R"("memory_bytes": {"value": 8e10, "spread": 0, "source": " "})");
  EXPECT_FALSE(outcome.read);
  EXPECT_EQ(outcome.problems,
            R"(error: a number needs a source
  --> lab.json:11:60   /device/memory_bytes/source
   |
11 |     "memory_bytes": {"value": 8e10, "spread": 0, "source": " "},
   |                                                            ^^^ empty
  help: name the measurement, the data sheet or the publication that it is from

1 problem in 1 file; nothing was simulated.
)");
}

TEST(ReadProfile, ANumberAloneIsRefused) {
  const Outcome outcome = read_with(std::string(kMemoryBytes), R"("memory_bytes": 8e10)");
  EXPECT_FALSE(outcome.read);
  EXPECT_EQ(outcome.problems,
            R"(error: "memory_bytes" needs its spread and its source
  --> lab.json:11:21   /device/memory_bytes
   |
11 |     "memory_bytes": 8e10,
   |                     ^^^^ a number alone
  help: write {"value": ..., "spread": ..., "source": "..."}

1 problem in 1 file; nothing was simulated.
)");
}

TEST(ReadProfile, AnEfficiencyIsAtMostOne) {
  const Outcome outcome =
      read_with(R"("memory_efficiency": {"value": 0.8)", R"("memory_efficiency": {"value": 1.2)");
  EXPECT_FALSE(outcome.read);
  EXPECT_EQ(outcome.problems,
            R"(error: value must be greater than 0 and at most 1
  --> lab.json:34:36   /device/memory_efficiency/value
   |
34 |     "memory_efficiency": {"value": 1.2, "spread": 0.05, "source": "bench"},
   |                                    ^^^ 1.2
  help: for example "value": 1

1 problem in 1 file; nothing was simulated.
)");
}

TEST(ReadProfile, AnUnknownPrecisionIsNamed) {
  const Outcome outcome = read_with(R"("bf16": {"value": 1e14)", R"("bf61": {"value": 1e14)");
  EXPECT_FALSE(outcome.read);
  EXPECT_EQ(outcome.problems,
            R"(error: unknown precision "bf61"
  --> lab.json:9:7   /device/peak_flops_per_s/bf61
   |
 9 |       "bf61": {"value": 1e14, "spread": 0.01, "source": "sheet"}
   |       ^^^^^^
  help: did you mean "bf16"? It is one of "fp32", "tf32", "fp16", "bf16", "fp8", "fp4"

1 problem in 1 file; nothing was simulated.
)");
}

TEST(ReadProfile, APrecisionWithAPeakNeedsAnEfficiency) {
  const Outcome outcome = read_with(R"("bf16": {"value": 1e14, "spread": 0.01, "source": "sheet"})",
                                    R"("bf16": {"value": 1e14, "spread": 0.01, "source": "sheet"},
      "fp16": {"value": 1e14, "spread": 0.01, "source": "sheet"})");
  EXPECT_FALSE(outcome.read);
  EXPECT_EQ(outcome.problems,
            R"(error: gemm_efficiency lacks "fp16"
  --> lab.json:15:24   /device/gemm_efficiency
   |
15 |     "gemm_efficiency": {
   |                        ^
  help: every precision of peak_flops_per_s needs an efficiency

1 problem in 1 file; nothing was simulated.
)");
}

TEST(ReadProfile, APrecisionWithAnEfficiencyNeedsAPeak) {
  const Outcome outcome = read_with(R"("bf16": {"value": 0.7, "spread": 0.03, "source": "bench"})",
                                    R"("bf16": {"value": 0.7, "spread": 0.03, "source": "bench"},
      "fp16": {"value": 0.7, "spread": 0.03, "source": "bench"})");
  EXPECT_FALSE(outcome.read);
  EXPECT_THAT(outcome.problems, testing::StartsWith(R"(error: peak_flops_per_s lacks "fp16"
  --> lab.json:8:25   /device/peak_flops_per_s
)"));
}

TEST(ReadProfile, ADeviceHasMoreThanFp8) {
  std::string text = small_profile_text();
  for (std::size_t at; (at = text.find("\"bf16\"")) != std::string::npos;) {
    text.replace(at, 6, "\"fp8\"");
  }
  EXPECT_THAT(
      read_text(text).problems,
      testing::StartsWith("error: a device needs the peak of a precision other than fp8 and fp4"));
}

TEST(ReadProfile, AttentionCannotBeFasterThanThePeak) {
  const Outcome outcome =
      read_with(R"("attention_rate": {"value": 1,)", R"("attention_rate": {"value": 2.5,)");
  EXPECT_FALSE(outcome.read);
  EXPECT_EQ(outcome.problems,
            R"(error: attention would be faster than the peak of the device
  --> lab.json:47:25   /kernel_families/fused/attention_rate
   |
47 |       "attention_rate": {"value": 2.5, "spread": 0, "source": "bench"},
   |                         ^ times attention_efficiency it is 1.25

1 problem in 1 file; nothing was simulated.
)");
}

TEST(ReadProfile, AMeasuredProductCannotBeatThePeak) {
  // 2 x 1024 x 2048 x 4096 FLOP in 10 us: 1718 TFLOP/s.
  const Outcome outcome = read_with(R"("time_s": 3e-4)", R"("time_s": 1e-5)");
  EXPECT_FALSE(outcome.read);
  EXPECT_EQ(outcome.problems,
            R"(error: a measured product is faster than the peak of the device
  --> lab.json:21:72   /device/gemm_table/points/0/time_s
   |
21 |       {"precision": "bf16", "m": 1024, "n": 2048, "k": 4096, "time_s": 1e-5, "spread": 0.02},
   |                                                                        ^^^^ 1.72 PFLOP/s, the peak is 100 TFLOP/s
  help: measure it again, or mend peak_flops_per_s

1 problem in 1 file; nothing was simulated.
)");
}

TEST(ReadProfile, MeasuredAttentionCannotBeatThePeak) {
  // 4 x 2 x 1024 x 1024 x 8 x 128 / 2 FLOP in 10 us: 429 TFLOP/s.
  const Outcome outcome = read_with(R"("time_s": 1e-4)", R"("time_s": 1e-5)");
  EXPECT_FALSE(outcome.read);
  EXPECT_THAT(outcome.problems,
              testing::HasSubstr("measured attention is faster than the peak of the device"));
  EXPECT_THAT(outcome.problems, testing::HasSubstr("429 TFLOP/s, the peak is 100 TFLOP/s"));
  // Backward 2.5 times as many in 100 us: 107 TFLOP/s.
  EXPECT_THAT(
      read_with(R"("time_s": 3e-4, "spread": 0.03)", R"("time_s": 1e-4, "spread": 0.03)").problems,
      testing::HasSubstr("107 TFLOP/s, the peak is 100 TFLOP/s"));
}

TEST(ReadProfile, AttentionMeasuredTwiceOrWithoutAPassIsRefused) {
  const std::string backward = R"("pass": "backward")";
  EXPECT_THAT(read_with(backward, R"("pass": "forward")").problems,
              testing::HasSubstr("the same attention is measured twice"));
  EXPECT_THAT(read_with(backward, R"("pass": "forwards")").problems,
              testing::HasSubstr("did you mean \"forward\"?"));
  EXPECT_THAT(read_with(R"("key_heads": 2)", R"("key_heads": 3)").problems,
              testing::HasSubstr("the heads of the queries do not share those of the keys evenly"));
  EXPECT_THAT(read_with(R"("key_heads": 2)", R"("key_heads": 0)").problems,
              testing::Not(testing::HasSubstr("do not share")));
  EXPECT_THAT(read_with(R"("attention_table": {)", R"("attention_table": 5, "x": {)").problems,
              testing::Not(testing::HasSubstr("missing field")));
}

TEST(ReadProfile, AProductMeasuredTwiceIsRefused) {
  const Outcome outcome = read_with(R"("m": 4096)", R"("m": 1024)");
  EXPECT_FALSE(outcome.read);
  EXPECT_THAT(outcome.problems, testing::HasSubstr("the same product is measured twice"));
}

TEST(ReadProfile, AMeasuredPrecisionNeedsAPeak) {
  const Outcome outcome =
      read_with(R"("precision": "bf16", "m": 4096)", R"("precision": "fp8", "m": 4096)");
  EXPECT_FALSE(outcome.read);
  EXPECT_THAT(outcome.problems,
              testing::HasSubstr("a measured product in a precision without a peak"));
}

TEST(ReadProfile, TheSizesOfACurveRise) {
  const Outcome outcome = read_with(R"({"traffic_bytes": 1e9,)", R"({"traffic_bytes": 1e6,)");
  EXPECT_FALSE(outcome.read);
  EXPECT_THAT(outcome.problems, testing::HasSubstr("the sizes of a curve must rise"));
}

TEST(ReadProfile, AMeasurementHasPoints) {
  const Outcome outcome = read_with(R"("points": [
      {"traffic_bytes": 1e6, "time_s": 4e-6},
      {"traffic_bytes": 1e9, "time_s": 1.2e-3}
    ])",
                                    R"("points": [])");
  EXPECT_FALSE(outcome.read);
  EXPECT_THAT(outcome.problems, testing::HasSubstr("a measurement of no points"));
}

TEST(ReadProfile, KnowsWhatAnIdleLinkLetsThroughAtOnce) {
  const Outcome outcome =
      read_with(R"("collectives": [)", R"("burst_bytes": 125000, "collectives": [)");
  ASSERT_TRUE(outcome.read) << outcome.problems;
  EXPECT_EQ(outcome.read->profile->scale_up.burst, Bytes(125000.0));
  EXPECT_FALSE(outcome.read->profile->scale_out.burst.has_value());
  EXPECT_THAT(read_with(R"("collectives": [)", R"("burst_bytes": 0, "collectives": [)").problems,
              testing::HasSubstr("/scale_up/burst_bytes"));
}

TEST(ReadProfile, ACollectiveMeasuredTwiceIsRefused) {
  const std::string one =
      R"({"kind": "all_gather", "ranks": 8, "source": "b", "spread": 0, "points": [)"
      R"({"message_bytes": 1, "time_s": 1}]})";
  const Outcome outcome = read_with(R"("collectives": [)", R"("collectives": [)" + one + ",");
  EXPECT_FALSE(outcome.read);
  EXPECT_THAT(outcome.problems, testing::HasSubstr("the same collective is measured twice"));
}

TEST(ReadProfile, NeedsAFamilyAndItsProvenance) {
  const std::string text = small_profile_text();
  const std::size_t from = text.find(R"("kernel_families": {)");
  const std::size_t to = text.find(R"(  "scale_up")");
  std::string without = text;
  without.replace(from, to - from, "\"kernel_families\": {},\n");
  EXPECT_THAT(read_text(without).problems,
              testing::HasSubstr("a profile needs at least one kernel family"));

  const Outcome outcome =
      read_with(R"({"device": "bench 1", "command": "headway-calibrate"})", "{}");
  EXPECT_THAT(outcome.problems, testing::HasSubstr("a profile needs its provenance"));
}

TEST(ReadProfile, CollectsAllProblemsAndSuggestsNames) {
  std::string text = small_profile_text();
  const auto replace = [&text](const std::string& from, const std::string& to) {
    text.replace(text.find(from), from.size(), to);
  };
  replace(R"("latency_s")", R"("latensy_s")");
  replace(R"("kind": "measured")", R"("kind": "guessed")");
  replace(R"("multiprocessors": {"value": 108)", R"("multiprocessors": {"value": 10.5)");
  const Outcome outcome = read_text(text);
  EXPECT_FALSE(outcome.read);
  EXPECT_THAT(outcome.problems, testing::HasSubstr("missing field \"latency_s\""));
  EXPECT_THAT(outcome.problems, testing::HasSubstr("did you mean \"latency_s\"?"));
  EXPECT_THAT(outcome.problems, testing::HasSubstr("kind cannot be \"guessed\""));
  EXPECT_THAT(outcome.problems, testing::HasSubstr("\"multiprocessors\" must be a whole number"));
  EXPECT_THAT(outcome.problems, testing::HasSubstr("4 problems in 1 file"));
}

TEST(ReadProfile, AnotherKindOfFileSaysSo) {
  const Outcome outcome = read_with("headway/profile/1", "headway/topology/1");
  EXPECT_FALSE(outcome.read);
  EXPECT_THAT(outcome.problems, testing::HasSubstr("schema must be \"headway/profile/1\""));
}

}  // namespace
}  // namespace headway

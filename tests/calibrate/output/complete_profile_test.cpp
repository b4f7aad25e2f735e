#include "calibrate/output/complete_profile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "calibrate/output/profile_json.h"
#include "sim/costs/kernel_cost.h"
#include "sim/costs/read_profile.h"
#include "sim/files/input_files.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

Profile read(const fs::path& file) {
  Diagnostics diagnostics;
  InputFiles inputs({}, data_folders(), diagnostics);
  const auto root = inputs.open(file.string(), "calibrate/profiles");
  const auto profile = root ? read_profile(*root, inputs) : std::nullopt;
  diagnostics.throw_if_errors();
  return *profile->profile;
}

std::set<std::string> shipped_accelerators() {
  std::set<std::string> names;
  for (const auto& entry :
       fs::directory_iterator(data_folders().back() / "calibrate/profiles/accelerators")) {
    if (entry.path().extension() == ".json") names.insert(read(entry.path()).accelerator);
  }
  return names;
}

/// Written once more, what was read back from a written profile is the same text: nothing that a
/// profile holds is lost on the way.
TEST(ProfileJson, KeepsAllOfEveryProfileThatShips) {
  const ScratchFolder folder;
  for (const std::string& accelerator : shipped_accelerators()) {
    const auto published = published_profile(accelerator);
    ASSERT_NE(published, nullptr) << accelerator;
    const std::string text = profile_json({*published, {{"of", "a test"}}});
    const auto file = folder.write(accelerator + ".json", text);
    EXPECT_EQ(profile_json({read(file), {{"of", "a test"}}}), text) << accelerator;
    // And nothing is lost on the first way either: leaf by leaf against the file that ships.
    const auto written = nlohmann::json::parse(text);
    EXPECT_EQ(written.contains("experts"), published->experts.has_value());
    EXPECT_EQ(written["kernel_families"].size(), published->kernel_families.size());
    EXPECT_EQ(written.contains("kernels"), !published->device.products.empty());
    EXPECT_EQ(written["device"].contains("gather_efficiency"),
              published->device.gather_efficiency.has_value());
    EXPECT_EQ(written["scale_up"].contains("measured_bandwidth"),
              published->scale_up.measured_bandwidth.has_value());
    for (const auto& [name, family] : published->kernel_families) {
      const auto& kept = written["kernel_families"][name];
      EXPECT_EQ(kept.contains("unfused_forward_bytes_per_score"),
                family.unfused_forward_bytes.has_value())
          << name;
      EXPECT_EQ(kept.contains("unfused_backward_bytes_per_score"),
                family.unfused_backward_bytes.has_value())
          << name;
      EXPECT_EQ(kept.contains("sharded_part_s"), !family.sharded_part.source.empty()) << name;
    }
  }
}

TEST(PublishedProfile, IsFoundByAcceleratorAndNotInvented) {
  EXPECT_EQ(published_profile("h100-sxm")->name, "h100_sxm");
  EXPECT_EQ(published_profile("abacus"), nullptr);
}

/// A calibration that measured the rate of products and of one scope, and assumed all else.
CalibratedProfile small_calibration() {
  CalibratedProfile calibrated;
  Profile& profile = calibrated.profile;
  const auto assumed = [](double value) { return Estimate{value, 0.5, "assumption: a guess"}; };
  DeviceCosts& device = profile.device;
  device.peak_flops[Precision::bf16] = {989e12, 0.0, "data sheet"};
  device.gemm_efficiency[Precision::bf16] = {0.75, 0.01, "measured: here"};
  device.attention_efficiency = assumed(0.9);
  device.memory_bandwidth = assumed(1e12);
  device.memory_efficiency = assumed(0.9);
  profile.kernel_families["measured"].memory_traffic = {1.1, 0.1, "measured: here"};
  profile.scale_up.bandwidth_efficiency = {0.8, 0.02, "measured: here"};
  profile.scale_up.latency = {1e-6, 0.1, "measured: here"};
  profile.scale_up.overhead = {5e-6, 0.1, "measured: here"};
  profile.scale_up.measured_bandwidth = BytesPerSecond(450e9);
  profile.scale_up.collectives = {{CollectiveKind::all_reduce, 8, {}}};
  profile.scale_out.bandwidth_efficiency = {1.0, 0.02, "by definition: of links of any rate"};
  profile.scale_out.latency = {7e-6, 0.1, "measured: here"};
  return calibrated;
}

TEST(Complete, TakesWhatWasNotMeasuredFromThePublishedProfileWithItsSource) {
  const auto published = published_profile("h100-sxm");
  CalibratedProfile calibrated = small_calibration();
  complete(calibrated, *published);
  const Profile& profile = calibrated.profile;
  EXPECT_EQ(profile.device.gemm_efficiency.at(Precision::bf16).value, 0.75);
  EXPECT_EQ(profile.device.gemm_efficiency.at(Precision::fp8).source,
            published->device.gemm_efficiency.at(Precision::fp8).source);
  EXPECT_EQ(profile.device.attention_efficiency.value, published->device.attention_efficiency.value);
  // Of the memory's rate neither number was measured: both change together.
  EXPECT_EQ(profile.device.memory_bandwidth.value, published->device.memory_bandwidth.value);
  EXPECT_EQ(profile.device.memory_efficiency.value, published->device.memory_efficiency.value);
  EXPECT_TRUE(profile.experts.has_value());
  EXPECT_TRUE(profile.cuda_graphs.has_value());
  EXPECT_TRUE(profile.kernel_families.contains("fused"));
  EXPECT_EQ(profile.kernel_families.at("measured").memory_traffic.value, 1.1);
  EXPECT_TRUE(profile.device.recipe_cast_bytes.contains(Scaling::current));
}

/// Plain kernels stream at 0.9 of 3.35 TB/s here, of which BabelStream reached 0.876 on another such
/// device: passes of a family take 0.876 / 0.9 of what they are fitted to take.
TEST(Complete, KernelsOfSoftwareKeepTheirShareOfWhatPlainOnesReach) {
  const auto published = published_profile("h100-sxm");
  ASSERT_EQ(published->device.copy_efficiency->value, 0.876);
  CalibratedProfile calibrated = small_calibration();
  DeviceCosts& device = calibrated.profile.device;
  device.memory_bandwidth = {3.35e12, 0.0, "data sheet"};
  device.memory_efficiency = {0.9, 0.02, "measured: here"};
  device.optimizer_bytes = {29.9, 0.01, "measured: a fused Adam step"};
  device.optimizer_curve.points = {{Bytes(4096.0), Seconds(1e-6)}};
  complete(calibrated, *published);

  constexpr double kHere = 0.876 / 0.9;
  const Bytes traffic(1e9);
  for (const char* name : {"fused", "torch-eager"}) {
    const auto pass = [&](const Profile& profile) {
      return memory_pass_cost(profile.device, profile.kernel_families.at(name), traffic).time;
    };
    EXPECT_NEAR(pass(calibrated.profile) / pass(*published), kHere, 1e-5) << name;
  }
  EXPECT_NEAR(update_cost(device, 1e9).time / update_cost(published->device, 1e9).time, kHere, 1e-5);
  EXPECT_NEAR(cast_cost(device, 1e9, Scaling::current).time /
                  cast_cost(published->device, 1e9, Scaling::current).time,
              kHere, 1e-5);
  EXPECT_EQ(calibrated.profile.kernel_families.at("measured").memory_traffic.value, 1.1);
  EXPECT_THAT(calibrated.provenance.at("own_kernels"), HasSubstr("Adam for a parameter 29.9 B"));
}

TEST(Complete, MeasuredProductsTakeThePlaceOfThePublishedOnesOfTheirPrecisionOnly) {
  const auto published = published_profile("h100-sxm");
  CalibratedProfile calibrated = small_calibration();
  calibrated.profile.device.gemm_table = {
      {{4096, 4096, 4096}, Precision::bf16, Seconds(200e-6), 0.01}};
  complete(calibrated, *published);
  const auto& products = calibrated.profile.device.products;
  EXPECT_FALSE(products.contains(Precision::bf16));
  EXPECT_TRUE(products.contains(Precision::fp8));
  EXPECT_EQ(calibrated.profile.device.gemm_cold_operands.value,
            published->device.gemm_cold_operands.value);
  EXPECT_THAT(calibrated.provenance.at("measured_fields"),
              HasSubstr("bf16 products (1 shapes, in place of the table h100_sxm)"));
  EXPECT_THAT(calibrated.provenance.at("published_fields"),
              HasSubstr("fp8 products (table h100_sxm)"));
}

TEST(Complete, KeepsPublishedCollectivesOfOtherGroupsOverTheSameLinks) {
  const auto published = published_profile("h100-sxm");
  CalibratedProfile calibrated = small_calibration();
  complete(calibrated, *published);
  const auto& all = calibrated.profile.scale_up.collectives;
  // The one of 8 that was measured, and all others that ship.
  EXPECT_EQ(all.size(), published->scale_up.collectives.size());
  EXPECT_TRUE(all.front().curve.points.empty());
  // The share of a link of unknown rate is none; its latency was measured all the same.
  EXPECT_EQ(calibrated.profile.scale_out.bandwidth_efficiency.value,
            published->scale_out.bandwidth_efficiency.value);
  EXPECT_EQ(calibrated.profile.scale_out.latency.value, 7e-6);

  CalibratedProfile over_others = small_calibration();
  over_others.profile.scale_up.measured_bandwidth = BytesPerSecond(300e9);
  complete(over_others, *published);
  EXPECT_EQ(over_others.profile.scale_up.collectives.size(), 1U);
}

TEST(Complete, SaysWhichNumbersAreWhich) {
  CalibratedProfile calibrated = small_calibration();
  complete(calibrated, *published_profile("h100-sxm"));
  const std::string& measured = calibrated.provenance.at("measured_fields");
  const std::string& rest = calibrated.provenance.at("published_fields");
  EXPECT_THAT(measured, HasSubstr("scale_up.latency"));
  EXPECT_THAT(measured, Not(HasSubstr("attention_efficiency")));
  EXPECT_THAT(rest, HasSubstr("attention_efficiency"));
  EXPECT_THAT(rest, HasSubstr("as in profile h100_sxm"));
}

/// aleph-alpha-unfused-norm's attention is 1.25 times as fast as the reference's; measured at 0.9 of
/// the peak that would be 1.125 of it, which no reader takes.
TEST(Complete, LetsNoFamilysAttentionBeFasterThanThePeak) {
  CalibratedProfile calibrated = small_calibration();
  calibrated.profile.device.attention_efficiency = {0.9, 0.02, "measured: here"};
  complete(calibrated, *published_profile("h100-sxm"));
  for (const auto& [name, family] : calibrated.profile.kernel_families) {
    EXPECT_LE(0.9 * family.attention_rate.value, 1.0 + 1e-12) << name;
  }
}

TEST(AddPublished, TakesThePeaksOfTheDataSheet) {
  Offer offer;
  offer.peak_flops[Precision::bf16] = 1071e12;  // at the highest clock
  add_published(offer, *published_profile("h100-sxm"));
  EXPECT_EQ(offer.peak_flops[Precision::bf16], 989e12);
  EXPECT_EQ(offer.node_link_bytes_per_s, 450e9);
  EXPECT_EQ(offer.memory_bytes_per_s, 3.35e12);
}

}  // namespace
}  // namespace headway

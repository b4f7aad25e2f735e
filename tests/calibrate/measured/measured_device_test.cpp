#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "calibrate/block/block_cost.h"
#include "calibrate/output/build_profile.h"
#include "calibrate/output/measurements.h"
#include "calibrate/output/profile_json.h"
#include "calibrate/suite/sustained_run.h"
#include "sim/files/input_files.h"

namespace headway {
namespace {

const Measurements& measurements() {
  static const Measurements kAll = read_measurements(HEADWAY_MEASURED "/h200_sxm_points.json");
  return kAll;
}

const Measurements& measurements_of_an_h100() {
  static const Measurements kAll = read_measurements(HEADWAY_MEASURED "/h100_sxm_points.json");
  return kAll;
}

nlohmann::json costs_of(nlohmann::json profile) {
  profile.erase("provenance");
  return profile;
}

/// A fit that changes what the points of a real device come to changes the profile that ships:
/// `headway-calibrate --from tests/calibrate/measured/h200_sxm_points.json -o PROFILE` writes it.
void expect_fits(const std::string& name, const Measurements& points) {
  std::ifstream file(data_folders().back() / "calibrate/profiles/measured" / (name + ".json"));
  const auto shipped = nlohmann::json::parse(file);
  const auto fitted = nlohmann::json::parse(profile_json(fitted_profile(points)));
  EXPECT_EQ(costs_of(shipped), costs_of(fitted)) << name;
  EXPECT_EQ(shipped["provenance"]["verdict"], "ok") << name;
}

TEST(MeasuredDevice, ItsProfileIsWhatTheFitsMakeOfItsPoints) {
  expect_fits("h200_sxm_measured", measurements());
  expect_fits("h100_sxm_measured", measurements_of_an_h100());
}

/// What the code about clocks says of an H200.
TEST(MeasuredDevice, LongProductsAreAsSlowAsOnesThatAreRepeatedWithoutAPause) {
  const Calibration& calibration = measurements().calibration;
  const SustainedRun& run = *calibration.sustained;
  const auto rate = [&run](Seconds once) {
    return run.product.shape.flops() / once.count() / 1e12;
  };
  EXPECT_NEAR(rate(run.in_sweep), 677.0, 1.0);  // 25 ms at a time
  EXPECT_NEAR(rate(run.alone()), 663.0, 1.0);
  EXPECT_NEAR(rate(run.lasting()), 745.0, 1.5);  // with passes for a quarter of the time
  EXPECT_NEAR(sustained_rate(run, calibration.points), 0.948, 0.001);
}

/// The block of `--block` took 2.14 ms there, the median of 923 steps, in a calibration an hour
/// before.
TEST(MeasuredDevice, ItsTransformerBlockTakesWhatTheCostsSay) {
  const Profile profile = built_profile(measurements().calibration, "here").profile;
  const BlockShape shape{.sequences = 8, .sequence = 1024, .hidden = 1024, .heads = 16};
  EXPECT_NEAR(block_cost(profile, shape, Precision::bf16).total().count(), 2.14e-3, 0.02e-3);
}

/// On an H100 it took 2.49 ms, the median of 802 steps at the end of the same calibration.
TEST(MeasuredDevice, TheTransformerBlockOfAnH100TakesWhatTheCostsSay) {
  const Calibration& calibration = measurements_of_an_h100().calibration;
  ASSERT_TRUE(calibration.block.has_value());
  const Profile profile = built_profile(calibration, "here").profile;
  const BlockShape shape{.sequences = 8, .sequence = 1024, .hidden = 1024, .heads = 16};
  EXPECT_NEAR(block_cost(profile, shape, Precision::bf16).total() / calibration.block->time, 1.0,
              0.01);
}

/// Kernels of ours that stream reach 85 % and more of what a copy does.
TEST(MeasuredDevice, StreamingKernelsMoveBytesAsFastAsCopies) {
  double copy = 0.0;
  for (const MeasuredPoint& point : measurements().calibration.points) {
    const auto* const one = std::get_if<CopyPoint>(&point.point);
    if (one == nullptr || one->kind != CopyKind::device_to_device) continue;
    copy = std::max(copy, 2.0 * static_cast<double>(one->bytes) / point.measured.time.count());
  }
  EXPECT_NEAR(copy, 4.2e12, 0.1e12);
  for (const MemoryKernel kernel :
       {MemoryKernel::residual_add, MemoryKernel::layer_norm, MemoryKernel::rms_norm,
        MemoryKernel::softmax, MemoryKernel::gelu, MemoryKernel::gelu_backward,
        MemoryKernel::swiglu, MemoryKernel::rotary, MemoryKernel::adam}) {
    double most = 0.0;
    for (const MeasuredPoint& point : measurements().calibration.points) {
      const auto* const one = std::get_if<MemoryPoint>(&point.point);
      if (one == nullptr || one->kernel != kernel || one->elements < (std::size_t{1} << 26U)) {
        continue;
      }
      most =
          std::max(most, static_cast<double>(one->elements) *
                             traffic_bytes_per_element(kernel, 2.0) / point.measured.time.count());
    }
    EXPECT_GT(most, 0.85 * copy) << memory_kernel_name(kernel);
  }
}

}  // namespace
}  // namespace headway

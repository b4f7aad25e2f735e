// The fit, run on what others have measured on real devices as if it had measured that itself, and
// asked for what was kept aside.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "calibrate/measure/statistics.h"
#include "calibrate/output/complete_profile.h"
#include "calibrate/output/profile_json.h"
#include "sim/costs/kernel_cost.h"

namespace headway {
namespace {

std::vector<std::string> fields(const std::string& line) {
  std::istringstream text(line);
  std::vector<std::string> found;
  for (std::string field; std::getline(text, field, ',');) found.push_back(field);
  return found;
}

Precision precision_of(const std::string& name) {
  return name == "fp4" ? Precision::fp4 : name == "fp8" ? Precision::fp8 : Precision::bf16;
}

/// A line a precision, m and n: microseconds of the inner sizes in the first line.
std::vector<MeasuredPoint> products(const std::string& chip) {
  std::ifstream file(std::string(HEADWAY_PUBLISHED) + "/" + chip + "_products.csv");
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> inner = fields(line);
  std::vector<MeasuredPoint> points;
  while (std::getline(file, line)) {
    const std::vector<std::string> row = fields(line);
    for (std::size_t i = 3; i < row.size(); ++i) {
      const GemmShape shape{std::stod(row[1]), std::stod(row[2]), std::stod(inner[i])};
      MeasuredPoint point{GemmPoint{shape, precision_of(row[0])}, {}};
      point.measured.time = Seconds(1e-6 * std::stod(row[i]));
      point.measured.samples = 1;
      points.push_back(point);
    }
  }
  return points;
}

/// What is kept aside of a chip's products, and what a profile of the others says of it.
struct KeptAside {
  std::vector<MeasuredPoint> points;
  DeviceCosts costs;
};

/// Every tenth product is kept aside; the others are the calibration.
KeptAside kept_aside(const std::string& chip, const std::string& accelerator) {
  const auto published = published_profile(accelerator);
  Calibration calibration;
  calibration.offer.device = chip;
  calibration.offer.accelerator = accelerator;
  calibration.offer.memory_bytes = published->device.memory_bytes.value;
  calibration.offer.activation_bytes = 2.0;
  calibration.offer.multiprocessors = published->device.multiprocessors;
  add_published(calibration.offer, *published);
  KeptAside result;
  std::size_t i = 0;
  for (const MeasuredPoint& point : products(chip)) {
    (++i % 10 == 7 ? result.points : calibration.points).push_back(point);
  }
  CalibratedProfile built = built_profile(calibration, chip);
  complete(built, *published);
  result.costs = built.profile.device;
  return result;
}

/// Relative, rising.
std::vector<double> errors(const KeptAside& aside, Precision precision) {
  std::vector<double> off;
  for (const MeasuredPoint& point : aside.points) {
    const auto& gemm = std::get<GemmPoint>(point.point);
    if (gemm.precision != precision) continue;
    const Cost cost = gemm_cost(aside.costs, gemm.shape, precision);
    off.push_back(std::abs(cost.time / point.measured.time - 1.0));
  }
  std::sort(off.begin(), off.end());
  return off;
}

struct Chip {
  const char* name;
  const char* accelerator;
  std::vector<Precision> precisions;
};

TEST(PublishedFit, ProductsKeptAsideAreOffByFivePercentInTheMedianAndTwelveAtP90) {
  using enum Precision;
  const std::vector<Chip> chips = {{"a100_sxm", "a100-sxm-80gb", {bf16}},
                                   {"h100_sxm", "h100-sxm", {bf16, fp8}},
                                   {"h200_sxm", "h200-sxm", {bf16, fp8}},
                                   {"b200_sxm", "b200-sxm", {bf16, fp8, fp4}},
                                   {"b300_sxm", "b300-sxm", {bf16, fp8, fp4}},
                                   {"gb200", "gb200", {bf16, fp8, fp4}},
                                   {"gb300", "gb300", {bf16, fp8, fp4}},
                                   {"l40s", "l40s", {bf16, fp8}},
                                   {"rtx_pro_6000_server", "rtx-pro-6000", {bf16, fp8, fp4}}};
  for (const Chip& chip : chips) {
    const KeptAside aside = kept_aside(chip.name, chip.accelerator);
    for (const Precision precision : chip.precisions) {
      const std::vector<double> off = errors(aside, precision);
      ASSERT_GE(off.size(), 100U) << chip.name;
      const double p90 = off[off.size() * 9 / 10];
      const std::string what = fmt::format("{} {}", chip.name, word_of(precision));
      fmt::print("{}: {} products kept aside, median {:.1f} %, p90 {:.1f} %, worst {:.1f} %\n",
                 what, off.size(), 100.0 * median(off), 100.0 * p90, 100.0 * off.back());
      EXPECT_LE(median(off), 0.05) << what;
      EXPECT_LE(p90, 0.12) << what;
    }
  }
}

}  // namespace
}  // namespace headway

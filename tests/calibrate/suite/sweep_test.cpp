#include "calibrate/suite/sweep.h"

#include <gtest/gtest.h>

#include "calibrate/suite/fake_backend.h"
#include "sim/base/diagnostic.h"

namespace headway {
namespace {

const Progress kSilent = [](const std::string&, std::size_t, std::size_t, const Point&) {};

Section three_products() {
  return {"gemm",
          {GemmPoint{{64, 64, 64}, Precision::bf16, GemmLayout::nn},
           GemmPoint{{64, 64, 128}, Precision::bf16, GemmLayout::nn},
           GemmPoint{{64, 64, 256}, Precision::bf16, GemmLayout::nn}},
          StopRule{}};
}

/// Fails once it has prepared `allowed` operations, as a machine does in the middle of a sweep.
class FailingBackend final : public Backend {
 public:
  explicit FailingBackend(int allowed) : fake_({}, 1, {}), allowed_(allowed) {}
  [[nodiscard]] const Offer& offer() const override { return fake_.offer(); }
  [[nodiscard]] std::unique_ptr<Operation> prepare(const Point& point) override {
    if (allowed_-- == 0) throw EnvironmentError("the device is gone");
    return fake_.prepare(point);
  }

 private:
  FakeBackend fake_;
  int allowed_;
};

TEST(Sweep, MeasuresEveryPointInEveryPassAndInTheSectionsOrder) {
  FakeBackend backend({}, 1, {});
  SingleRendezvous alone;
  std::vector<MeasuredPoint> results;
  std::vector<RefusedPoint> refused;
  std::size_t told = 0;
  measure_section(
      three_products(), backend, alone, {.passes = 3, .seed = 1},
      [&told](const std::string& section, std::size_t done, std::size_t total, const Point&) {
        EXPECT_EQ(section, "gemm");
        EXPECT_EQ(done, told++);
        EXPECT_EQ(total, 9U);
      },
      results, refused);
  EXPECT_EQ(told, 9U);
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(point_text(results[2].point), "gemm bf16 nn 64 x 64 x 256");
  EXPECT_GE(results[0].measured.samples, 33);
}

TEST(Sweep, FindsTheLawWithinItsNoise) {
  const FakeLaw law;
  FakeBackend backend(law, 5, {});
  SingleRendezvous alone;
  std::vector<MeasuredPoint> results;
  std::vector<RefusedPoint> refused;
  measure_section(three_products(), backend, alone, {}, kSilent, results, refused);
  for (const MeasuredPoint& result : results) {
    // About 300 samples of 5 %: the median's sigma is 5 % * 1.2533 / sqrt(300) = 0.36 %.
    EXPECT_NEAR(result.measured.time / fake_time(law, result.point), 1.0, 0.012);
    EXPECT_NEAR(1.4826 * result.measured.mad, 0.05, 0.01);
  }
}

TEST(Sweep, KeepsWhatWasMeasuredWhenTheMachineFails) {
  FailingBackend backend(4);  // the first pass and one point of the second
  SingleRendezvous alone;
  std::vector<MeasuredPoint> results;
  std::vector<RefusedPoint> refused;
  EXPECT_THROW(measure_section(three_products(), backend, alone, {}, kSilent, results, refused),
               EnvironmentError);
  EXPECT_EQ(results.size(), 3U);
}

TEST(Sweep, KeepsOnlyPointsThatHaveASample) {
  FailingBackend backend(2);
  SingleRendezvous alone;
  std::vector<MeasuredPoint> results;
  std::vector<RefusedPoint> refused;
  EXPECT_THROW(measure_section(three_products(), backend, alone, {}, kSilent, results, refused),
               EnvironmentError);
  EXPECT_EQ(results.size(), 2U);
}

/// A device that gets slower with every point.
class SlowingBackend final : public Backend {
 public:
  [[nodiscard]] const Offer& offer() const override { return fake_.offer(); }
  [[nodiscard]] std::unique_ptr<Operation> prepare(const Point& point) override {
    clock_hz_ -= 1e8;
    return fake_.prepare(point);
  }
  [[nodiscard]] DeviceState state() const override { return {clock_hz_, {"power cap"}}; }

 private:
  FakeBackend fake_{{}, 1, {}};
  double clock_hz_ = 2e9;
};

TEST(Sweep, RecordsTheLowestClockOfAPointAndWhatHeldItDown) {
  SlowingBackend backend;
  SingleRendezvous alone;
  std::vector<MeasuredPoint> results;
  std::vector<RefusedPoint> refused;
  Section section = three_products();
  section.points.resize(1);
  measure_section(section, backend, alone, {.passes = 3, .seed = 1}, kSilent, results, refused);
  ASSERT_EQ(results.size(), 1U);
  EXPECT_EQ(results[0].state.clock_hz, 1.7e9);  // 1.9, 1.8 and 1.7 GHz
  EXPECT_EQ(results[0].state.throttled_by, std::set<std::string>({"power cap"}));
}

/// A device that runs at half of its clock, and takes twice as long, for one operation of the second
/// pass.
class DippingBackend final : public Backend {
 public:
  [[nodiscard]] const Offer& offer() const override { return fake_.offer(); }
  [[nodiscard]] std::unique_ptr<Operation> prepare(const Point& point) override {
    dips_ = ++prepared_ == 5;
    if (!dips_) return fake_.prepare(point);
    return slow_.prepare(point);
  }
  [[nodiscard]] DeviceState state() const override { return {dips_ ? 1e9 : 2e9, {}}; }
  [[nodiscard]] int prepared() const { return prepared_; }

 private:
  static FakeLaw slow() {
    FakeLaw law;
    law.gemm_overhead *= 2.0;
    law.flops_per_s /= 2.0;
    return law;
  }
  FakeBackend fake_{{}, 1, {}};
  FakeBackend slow_{slow(), 1, {}};
  int prepared_ = 0;
  bool dips_ = false;
};

TEST(Sweep, RepeatsWhatWasMeasuredAtALowClock) {
  DippingBackend backend;
  SingleRendezvous alone;
  std::vector<MeasuredPoint> results;
  std::vector<RefusedPoint> refused;
  measure_section(three_products(), backend, alone, {}, kSilent, results, refused);
  EXPECT_EQ(backend.prepared(), 10);  // three passes of three, and one again
  ASSERT_EQ(results.size(), 3U);
  for (const MeasuredPoint& result : results) {
    EXPECT_EQ(result.state.clock_hz, 2e9);
    EXPECT_LT(result.measured.pass_spread, 0.05);  // a pass of twice the time would make it 0.5
  }
}

}  // namespace
}  // namespace headway

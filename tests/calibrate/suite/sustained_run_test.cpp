#include "calibrate/suite/sustained_run.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

MeasuredPoint product(const GemmShape& shape, Seconds time, Precision precision = Precision::bf16) {
  return {.point = GemmPoint{shape, precision, GemmLayout::nn},
          .measured = {.time = time, .samples = 9}};
}

/// A device on which a product takes 1 ms and a pass 0.5; it counts both.
class CountingBackend final : public Backend {
 public:
  [[nodiscard]] const Offer& offer() const override { return offer_; }
  std::unique_ptr<Operation> prepare(const Point& point) override {
    const bool is_pass = std::holds_alternative<MemoryPoint>(point);
    return std::make_unique<Timed>(is_pass ? passes : products, is_pass ? 0.5_ms : 1.0_ms);
  }
  int passes = 0;
  int products = 0;

 private:
  class Timed final : public Operation {
   public:
    Timed(int& count, Seconds time) : count_(count), time_(time) {}
    Sample repeat() override {
      ++count_;
      return {time_, false};
    }

   private:
    int& count_;
    Seconds time_;
  };
  Offer offer_;
};

TEST(SustainedRun, HasPassesForAQuarterOfTheTimeThenForHalfThenNone) {
  CountingBackend backend;
  const MemoryPoint pass{MemoryKernel::residual_add, 1U << 20U};
  const SustainedRun run = sustained_run(backend, product({64, 64, 64}, 1.2_ms), pass, 12.0_s);
  ASSERT_EQ(run.parts.size(), 12U);
  EXPECT_EQ(run.parts.front().passes, kPassesShare);
  EXPECT_EQ(run.parts[4].passes, 0.5);
  EXPECT_EQ(run.parts.back().passes, 0.0);
  // 4 s each: 3 s of products and 1 s of passes, 2 s and 2 s, 4 s of products.
  EXPECT_NEAR(backend.products, 9000, 30);
  EXPECT_NEAR(backend.passes, 6000, 30);
  EXPECT_NEAR(run.time.count(), 12.0, 0.02);

  CountingBackend alone;
  const SustainedRun without = sustained_run(alone, product({64, 64, 64}, 1.2_ms), {}, 12.0_s);
  EXPECT_FALSE(without.has_passes());
  EXPECT_EQ(alone.passes, 0);
}

TEST(SustainedRun, IsOfTheLargestProductThatIsShortEnough) {
  const std::vector<MeasuredPoint> points = {
      product({64, 64, 64}, 1.0_ms), product({128, 64, 64}, 4.0_ms),
      product({256, 64, 64}, 25.0_ms), product({512, 64, 64}, 2.0_ms, Precision::fp8)};
  EXPECT_EQ(sustained_product(points), &points[1]);
  const std::vector<MeasuredPoint> all_long = {product({256, 64, 64}, 25.0_ms),
                                               product({128, 64, 64}, 12.0_ms)};
  EXPECT_EQ(sustained_product(all_long), &all_long[1]);
  EXPECT_EQ(sustained_product({}), nullptr);
}

/// Large products among others reach 800 and 780 TFLOP/s, small and long ones and those of other
/// precisions do not count; 741 of the run are 0.9375 of 790.
TEST(SustainedRun, RatesTheProductAgainstLargeOnesAmongOthers) {
  const GemmShape shape{4096, 8192, 8192};
  const auto at = [&shape](double flops_per_s) { return Seconds(shape.flops() / flops_per_s); };
  const std::vector<MeasuredPoint> points = {
      product(shape, at(800e12)), product(shape, at(780e12)), product(shape, at(50e12)),
      product({64, 512, 4096}, 5.0_us), product(shape, at(1400e12), Precision::fp8)};
  SustainedRun run{
      .product = std::get<GemmPoint>(points.front().point),
      .in_sweep = at(800e12),
      .time = 3.0_s,
      .parts = {{0.25, at(700e12), {}}, {0.25, at(740.625e12), {}}, {0.0, at(660e12), {}}}};
  EXPECT_NEAR(sustained_rate(run, points), 0.9375, 1e-12);
  EXPECT_NEAR(run.alone() / at(660e12), 1.0, 1e-12);
  run.parts[1].once = at(900e12);
  EXPECT_EQ(sustained_rate(run, points), 1.0);
}

}  // namespace
}  // namespace headway

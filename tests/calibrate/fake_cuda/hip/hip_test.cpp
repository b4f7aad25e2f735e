// The backend in HIP's names, on the device that is not there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/calibrate/fake_cuda/law.h"
#include "tests/calibrate/fake_cuda/lone_backend.h"

namespace headway {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Read once, when the first call comes.
const int kName = setenv("FAKE_CUDA_NAME", "AMD Instinct MI300X", 1);
const int kTwoDevices = setenv("FAKE_CUDA_DEVICES", "2", 1);

using FakeHip = LoneBackend;

TEST_F(FakeHip, OffersWhatItsTargetComputesIn) {
  const Offer& offer = backend_->offer();
  EXPECT_EQ(offer.accelerator, "mi300x");
  EXPECT_THAT(offer.precisions, ElementsAre(Precision::bf16, Precision::fp16, Precision::fp32,
                                            Precision::fp8, Precision::tf32));
  EXPECT_FALSE(offer.block_scaled_fp8);
  EXPECT_THAT(offer.provenance.at("cublaslt"), HasSubstr("hipBLASLt"));
  // Five precisions in three layouts, numbers of 8 bits as CDNA 3 has them, a sum in fp32, and
  // experts.
  EXPECT_EQ(offer.provenance.at("results"), "17 kernels and 17 products agree with plain C++");
}

TEST_F(FakeHip, MeasuresProductsPassesAndCollectivesByTheLaw) {
  const auto measured = [](const Point& point) {
    return backend_->prepare(point)->repeat().time.count();
  };
  EXPECT_NEAR(measured(GemmPoint{{4096, 4096, 4096}, Precision::bf16, GemmLayout::nn}) /
                  fake_cuda::product_time(4096, 4096, 4096, 1, CUDA_R_16BF),
              1.0, 0.02);
  constexpr std::size_t kElements = std::size_t{1} << 26U;
  EXPECT_NEAR(measured(MemoryPoint{MemoryKernel::cast_transpose, kElements}) /
                  (1.5e-6 + 4.0 * kElements / fake_cuda::kMemoryRate),
              1.0, 0.02);
  // Among two: two steps, and all of the message over each link once.
  constexpr std::size_t kBytes = std::size_t{1} << 24U;
  EXPECT_NEAR(measured(CollectivePoint{CollectiveKind::all_reduce, "nccl", kBytes, 2}) /
                  fake_cuda::collective_time(kBytes, 1.0, 2.0),
              1.0, 0.05);
  EXPECT_NEAR(measured(LaunchPoint{true}) / fake_cuda::kGap, 1.0, 0.02);
}

/// By ROCm SMI: 1.1 times what lasts at first, of which the warm-up has left nothing.
TEST_F(FakeHip, TheClockAndThePowerAreThoseOfTheDriversLibrary) {
  EXPECT_EQ(backend_->offer().provenance.count("clocks"), 0U);
  (void)backend_->prepare(GemmPoint{{4096, 4096, 4096}, Precision::bf16})->repeat();
  EXPECT_NEAR(backend_->state().clock_hz, 1.98e9 / fake_cuda::kBoost, 1.0);
  EXPECT_EQ(backend_->state().watts, 690.0);
}

TEST_F(FakeHip, WhatFailsIsNamedAndWhatIsRefusedHasTheReason) {
  try {
    HEADWAY_CUDA(static_cast<cublasStatus_t>(7));
    FAIL() << "accepted";
  } catch (const EnvironmentError& error) {
    EXPECT_THAT(error.what(), HasSubstr("hipblasStatus_t 7"));
  }
  // 80 GB of each operand.
  EXPECT_THROW((void)backend_->prepare(GemmPoint{{2e5, 2e5, 2e5}, Precision::bf16}), Refused);
}

}  // namespace
}  // namespace headway

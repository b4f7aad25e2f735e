// What the calibrator finds on a device whose times are known, against these.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "calibrate/cuda/cuda_block_device.h"
#include "calibrate/cuda/result_check.h"
#include "calibrate/measure/statistics.h"
#include "kernels/device_kernels.h"
#include "tests/calibrate/fake_cuda/bias.h"
#include "tests/calibrate/fake_cuda/law.h"
#include "tests/calibrate/fake_cuda/lone_backend.h"

namespace headway {
namespace {

// Read once, when the first call of CUDA comes.
const int kEightDevices = setenv("FAKE_CUDA_DEVICES", "8", 1);

class FakeDevice : public LoneBackend {
 protected:
  static double measured(const Point& point) { return measured_time(*backend_, point); }
};

/// What the events say where nothing holds the stream: the host's launch and the device's start
/// belong to the sample. The bias that the hold takes away.
TEST_F(FakeDevice, WithoutAHoldTheHostIsMeasuredToo) {
  cudaStream_t stream = nullptr;
  cudaEvent_t start = nullptr;
  cudaEvent_t end = nullptr;
  HEADWAY_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  HEADWAY_CUDA(cudaEventCreate(&start));
  HEADWAY_CUDA(cudaEventCreate(&end));
  HEADWAY_CUDA(cudaEventRecord(start, stream));
  HEADWAY_CUDA(launch_empty_kernel(stream));
  HEADWAY_CUDA(cudaEventRecord(end, stream));
  while (cudaEventQuery(end) == cudaErrorNotReady) {
  }
  float milliseconds = 0.0F;
  HEADWAY_CUDA(cudaEventElapsedTime(&milliseconds, start, end));
  // The kernel of 1.2 us, the start of 2.5 us, and the launch of 2.2 us less the 0.4 us by which
  // the event itself is late.
  EXPECT_NEAR(milliseconds, 1e-3 * (1.2 + fake_cuda::kStart * 1e6 + 2.2 - 1.0 + 0.6), 1.2e-3);
  EXPECT_GT(milliseconds, 4e-3);
  (void)cudaEventDestroy(start);
  (void)cudaEventDestroy(end);
  (void)cudaStreamDestroy(stream);
}

TEST_F(FakeDevice, StreamingKernelsAreRightWithinOnePercent) {
  for (const MemoryKernel kernel : kMemoryKernels) {
    for (const std::size_t n : {std::size_t{1} << 22U, std::size_t{1} << 26U}) {
      const double truth = 1.5e-6 + static_cast<double>(n) *
                                        traffic_bytes_per_element(kernel, 2.0) /
                                        fake_cuda::kMemoryRate;
      EXPECT_NEAR(measured(MemoryPoint{kernel, n}) / truth, 1.0, 0.01)
          << memory_kernel_name(kernel) << " " << n;
    }
  }
}

/// Products of 20 us and more within 1 %, collectives of 64 KiB and more within 5, small ones
/// within 10; and that it needs what the calibrator does: events around a launch are far off.
TEST_F(FakeDevice, ProductsAndCollectivesAreAsTrueAsTheirTableSays) {
  const std::vector<Bias> all = biases(*backend_);
  for (const Bias& one : all) EXPECT_EQ(too_far(one), std::vector<std::string>()) << one.what;
  EXPECT_GE(all[0].points.size() + all[1].points.size(), 81U);
  EXPECT_GT(median(all[1].of_events), 0.05);
  EXPECT_GT(median(all[3].of_events), 0.5);
  EXPECT_EQ(bias_table(all).find("products of 20 us and more"), bias_table(all).find("prod"));
}

/// Both passes, causal or not, of heads with keys of their own and shared ones.
TEST_F(FakeDevice, FusedAttentionIsRightWithinOnePercent) {
  for (const double key_heads : {32.0, 8.0}) {
    for (const bool causal : {false, true}) {
      for (const Pass pass : {Pass::forward, Pass::backward}) {
        const AttentionPoint point{{.sequences = 2,
                                    .query_length = 2048,
                                    .key_length = 2048,
                                    .query_heads = 32,
                                    .key_heads = key_heads,
                                    .head_size = 128,
                                    .causal = causal},
                                   pass};
        const double truth =
            fake_cuda::attention_time({2, 32, 2048, 128, causal, pass == Pass::backward});
        EXPECT_NEAR(measured(point) / truth, 1.0, 0.01) << point_text(point);
      }
    }
  }
}

TEST_F(FakeDevice, TheGapBetweenKernelsIsMeasuredOnce) {
  EXPECT_NEAR(measured(LaunchPoint{true}) / fake_cuda::kGap, 1.0, 0.01);
  EXPECT_NEAR(measured(LaunchPoint{false}) / fake_cuda::kLaunch, 1.0, 0.05);
}

TEST_F(FakeDevice, CopiesAreRightWithinTwoPercent) {
  constexpr std::size_t kBytes = std::size_t{1} << 26U;
  EXPECT_NEAR(measured(CopyPoint{CopyKind::host_to_device, kBytes}) /
                  fake_cuda::copy_time(kBytes, cudaMemcpyHostToDevice),
              1.0, 0.02);
  EXPECT_NEAR(measured(CopyPoint{CopyKind::peer, kBytes}) / fake_cuda::peer_copy_time(kBytes), 1.0,
              0.02);
}

TEST_F(FakeDevice, EveryPointOfferedCanBePrepared) {
  for (const ConcurrentPoint& point : backend_->offer().concurrent) {
    EXPECT_GT(backend_->prepare(point)->repeat().time, 0.0_s) << point_text(point);
  }
  EXPECT_GT(backend_->prepare(backend_->offer().attention.front())->repeat().time, 0.0_s);
}

TEST_F(FakeDevice, AProductWithoutAKernelIsRefusedWithTheLibrarysReason) {
  try {
    (void)backend_->prepare(GemmPoint{{512, 512, 1000}, Precision::fp8, GemmLayout::nn});
    FAIL() << "taken";
  } catch (const Refused& refusal) {
    EXPECT_STREQ(refusal.what(), "cuBLASLt has no kernel: CUBLAS_STATUS_NOT_SUPPORTED");
  }
}

TEST_F(FakeDevice, WhatDoesNotFitIsRefusedAndLeavesTheRestAsItWas) {
  // 200,000 x 200,000 in bf16: 80 GB of each operand.
  EXPECT_THROW((void)backend_->prepare(GemmPoint{{2e5, 2e5, 2e5}, Precision::bf16, GemmLayout::nn}),
               Refused);
  EXPECT_NEAR(measured(GemmPoint{{4096, 4096, 4096}, Precision::bf16, GemmLayout::nn}) /
                  fake_cuda::product_time(4096, 4096, 4096, 1, CUDA_R_16BF),
              1.0, 0.01);
  EXPECT_GT(measured(MemoryPoint{MemoryKernel::residual_add, std::size_t{1} << 27U}), 0.0);
}

/// Streams, events and graphs are used on their own device, whichever is current.
TEST_F(FakeDevice, WorkKeepsToItsDevice) {
  const auto product = backend_->prepare(GemmPoint{{1024, 1024, 1024}, Precision::bf16});
  (void)backend_->prepare(CollectivePoint{CollectiveKind::all_reduce, "nccl", 1U << 20U, 8})
      ->repeat();
  HEADWAY_CUDA(cudaSetDevice(5));
  EXPECT_GT(product->repeat().time, 0.0_s);
  CudaBlockDevice block(3);
  const auto x = block.activation(std::vector<float>(kKernelRow, 1.0F));
  const auto y = block.empty_activation(kKernelRow);
  block.pass(MemoryKernel::residual_add, x, x, y, kKernelRow);
  EXPECT_EQ(block.values(y), std::vector<float>(kKernelRow, 2.0F));
  int device = 0;
  HEADWAY_CUDA(cudaGetDevice(&device));
  EXPECT_EQ(device, 5);
  HEADWAY_CUDA(cudaSetDevice(0));
}

TEST_F(FakeDevice, ResultsOfAllKernelsAndProductsAreThoseOfTheirTwins) {
  EXPECT_EQ(checked_results(backend_->offer()), "17 kernels and 17 products agree with plain C++");
}

TEST_F(FakeDevice, OperandsInFp8AreNumbersAndFillTheRange) {
  constexpr std::size_t kBytes = 1U << 14U;
  const DevicePool memory(kBytes);
  const DeviceStream stream;
  HEADWAY_CUDA(launch_random(RandomFormat::e4m3, memory.data(), kBytes, 7, stream));
  std::vector<std::uint8_t> bytes(kBytes);
  HEADWAY_CUDA(cudaMemcpy(bytes.data(), memory.data(), kBytes, cudaMemcpyDeviceToHost));
  int negative = 0;
  unsigned most = 0;
  for (const unsigned byte : bytes) {
    EXPECT_NE(byte & 0x7fU, 0x7fU);  // S.1111.111 is no number
    negative += (byte & 0x80U) != 0 ? 1 : 0;
    most = std::max(most, byte & 0x7fU);
  }
  EXPECT_NEAR(negative / static_cast<double>(kBytes), 0.5, 0.02);
  // 256 and more: beyond twice the deviation of 129, which one in 22 of a normal tensor is.
  EXPECT_GE(most, 0x78U);
}

}  // namespace
}  // namespace headway

#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <vector>

#include "calibrate/cuda/architecture.h"
#include "calibrate/cuda/cublaslt_gemm.h"
#include "calibrate/cuda/cublaslt_plan.h"
#include "calibrate/cuda/cuda_backend.h"
#include "calibrate/cuda/device_monitor.h"
#include "calibrate/cuda/device_offer.h"
#include "calibrate/suite/attention_points.h"
#include "kernels/device_kernels.h"
#include "sim/base/diagnostic.h"
#include "tests/calibrate/cuda/has_device.h"

namespace headway {
namespace {

TEST(CudaCheck, NamesTheCallAndTheError) {
  try {
    HEADWAY_CUDA(cudaErrorInvalidValue);
    FAIL() << "accepted";
  } catch (const EnvironmentError& error) {
    EXPECT_EQ(std::string(error.what())
                  .rfind("cudaErrorInvalidValue: cudaErrorInvalidValue (invalid argument)", 0),
              0U)
        << error.what();
  }
  EXPECT_THROW(HEADWAY_CUDA(CUBLAS_STATUS_NOT_SUPPORTED), EnvironmentError);
  EXPECT_NO_THROW(HEADWAY_CUDA(cudaSuccess));
}

TEST(Architecture, GivesTheDataSheetsPeaks) {
  // A100: 108 multiprocessors at 1.41 GHz, 312 TFLOP/s; H100 SXM: 132 at 1.83 GHz, 989 TFLOP/s.
  EXPECT_NEAR(architecture("sm_80").flops_per_clock.at(Precision::bf16) * 108 * 1.41e9, 312e12,
              1e12);
  EXPECT_NEAR(architecture("sm_90").flops_per_clock.at(Precision::bf16) * 132 * 1.83e9, 989e12,
              1e12);
  EXPECT_TRUE(architecture("sm_75").flops_per_clock.empty());
  EXPECT_EQ(architecture("sm_80").precisions.size(), 4U);  // no fp8
  EXPECT_EQ(architecture("sm_90").precisions.size(), 5U);
  // B200: 148 multiprocessors at 1.86 GHz, 9 PFLOP/s in fp4.
  EXPECT_NEAR(architecture("sm_100").flops_per_clock.at(Precision::fp4) * 148 * 1.86e9, 9e15,
              0.1e15);
}

TEST(Architecture, KnowsAmdsByTheirTargets) {
  EXPECT_NEAR(architecture("gfx90a").flops_per_clock.at(Precision::fp16) * 220 * 1.7e9, 383e12,
              1e12);
  EXPECT_NEAR(architecture("gfx942").flops_per_clock.at(Precision::bf16) * 304 * 2.1e9, 1307e12,
              1e12);
  EXPECT_EQ(architecture("gfx942").precisions.size(), 5U);
  // An MI355X: 256 compute units at 2.4 GHz, 5.03 PFLOP/s in 8 bits.
  EXPECT_NEAR(256 * 2.4e9 * architecture("gfx950").flops_per_clock.at(Precision::fp8), 5033e12,
              1e12);
  EXPECT_EQ(architecture("gfx950").precisions.size(), 4U);
  EXPECT_EQ(architecture("gfx90a").precisions.size(), 3U);
  EXPECT_TRUE(architecture("gfx1100").flops_per_clock.empty());
}

TEST(Architecture, NamesDevicesAsTopologiesDo) {
  EXPECT_EQ(accelerator_name("NVIDIA H100 80GB HBM3"), "h100-sxm");
  EXPECT_EQ(accelerator_name("NVIDIA B200"), "b200-sxm");
  EXPECT_EQ(accelerator_name("NVIDIA B300 SXM6 AC"), "b300-sxm");
  EXPECT_EQ(accelerator_name("Tesla V100-SXM2-32GB"), "v100-sxm");
  EXPECT_EQ(accelerator_name("AMD Instinct MI250X"), "mi250x-die");  // a die is a device
  EXPECT_EQ(accelerator_name("AMD Instinct MI300X"), "mi300x");
  EXPECT_EQ(accelerator_name("NVIDIA L40S"), "l40s");
  EXPECT_EQ(accelerator_name("NVIDIA GH200 480GB"), "gh200");
  EXPECT_EQ(accelerator_name("Tesla T4"), "t4");
  EXPECT_EQ(accelerator_name("NVIDIA GeForce RTX 2080 Ti"), "rtx-2080-ti");
  EXPECT_EQ(accelerator_name("NVIDIA H100 80GB HBM3 MIG 1g.10gb"), "h100-80gb-hbm3-mig-1g.10gb");
}

/// Multiplies column-major operands by the book, as cuBLASLt is asked to.
std::vector<float> column_major_product(const GemmPoint& point, const std::vector<float>& a,
                                        const std::vector<float>& b) {
  const ColumnMajorGemm gemm = column_major(point);
  const auto at = [](const std::vector<float>& matrix, long rows, long row, long column) {
    return matrix[static_cast<std::size_t>(column * rows + row)];
  };
  const long inner = gemm.first_transposed ? gemm.first_rows : gemm.first_columns;
  std::vector<float> c(static_cast<std::size_t>(gemm.result_rows * gemm.result_columns));
  for (long column = 0; column < gemm.result_columns; ++column) {
    for (long row = 0; row < gemm.result_rows; ++row) {
      float sum = 0.0F;
      for (long i = 0; i < inner; ++i) {
        sum += (gemm.first_transposed ? at(b, gemm.first_rows, i, row)
                                      : at(b, gemm.first_rows, row, i)) *
               (gemm.second_transposed ? at(a, gemm.second_rows, column, i)
                                       : at(a, gemm.second_rows, i, column));
      }
      c[static_cast<std::size_t>(column * gemm.result_rows + row)] = sum;
    }
  }
  return c;
}

TEST(ColumnMajor, GivesTheRowMajorProductInEveryLayout) {
  // A = (1 2 3; 4 5 6), B = (1 0; 0 1; 1 1): A B = (4 5; 10 11), row by row
  const std::vector<float> a = {1, 2, 3, 4, 5, 6};
  const std::vector<float> a_transposed = {1, 4, 2, 5, 3, 6};
  const std::vector<float> b = {1, 0, 0, 1, 1, 1};
  const std::vector<float> b_transposed = {1, 0, 1, 0, 1, 1};
  const std::vector<float> product = {4, 5, 10, 11};
  const GemmShape shape{2, 2, 3};
  EXPECT_EQ(column_major_product({shape, Precision::bf16, GemmLayout::nn}, a, b), product);
  EXPECT_EQ(column_major_product({shape, Precision::bf16, GemmLayout::nt}, a, b_transposed),
            product);
  EXPECT_EQ(column_major_product({shape, Precision::bf16, GemmLayout::tn}, a_transposed, b),
            product);
  // fp8 always has k innermost in both operands.
  EXPECT_EQ(column_major_product({shape, Precision::fp8, GemmLayout::tn}, a, b_transposed),
            product);
}

TEST(GemmBytes, CountsOperandsInTheirPrecisionAndResultsInTwoBytesAtLeast) {
  const GemmBytes fp8 = gemm_bytes({{{2, 3, 5}, Precision::fp8, GemmLayout::nn}, 1});
  EXPECT_EQ(fp8.a, 10U);
  EXPECT_EQ(fp8.b, 15U);
  EXPECT_EQ(fp8.c, 12U);
  const GemmPoint tf32{{2, 3, 5}, Precision::tf32, GemmLayout::nn};
  EXPECT_EQ(gemm_bytes({tf32, 1}).c, 24U);
  EXPECT_EQ(gemm_bytes({tf32, 7}).c, 7U * 24U);
}

TEST(BlockScales, StandInTilesOf128RowsAndFourBlocks) {
  // cuBLAS library user guide: in a tile the rows 32, 64 and 96 further on stand behind a row's
  // four.
  EXPECT_EQ(scale_place(4, 0, 3), 3U);
  EXPECT_EQ(scale_place(4, 33, 2), 22U);     // 1 * 16 + 1 * 4 + 2
  EXPECT_EQ(scale_place(6, 0, 5), 513U);     // the second tile of the row
  EXPECT_EQ(scale_place(6, 128, 0), 1024U);  // the next 128 rows, two tiles further
  EXPECT_EQ(scale_bytes(129, 5), 4U * 512U);
  // 4 x 96 of fp8 have 3 blocks a row, of fp4 6: one tile, two tiles.
  EXPECT_EQ(gemm_bytes({{{4, 8, 96}, Precision::fp8, GemmLayout::nt, true}, 1}).scales_of_a, 512U);
  const GemmBytes fp4 = gemm_bytes({{{4, 8, 96}, Precision::fp4, GemmLayout::nt}, 1});
  EXPECT_EQ(fp4.a, 192U);
  EXPECT_EQ(fp4.scales_of_b, 1024U);
  // What is added up is kept in 4 bytes.
  EXPECT_EQ(gemm_bytes({{{4, 8, 96}, Precision::bf16, GemmLayout::tn, false, true}, 1}).c, 128U);
}

TEST(MemoryKernels, RefuseAnythingButWholeRows) {
  EXPECT_EQ(launch_memory_kernel(MemoryKernel::gelu, {}, 0, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(launch_memory_kernel(MemoryKernel::gelu, {}, kKernelRow + 1, nullptr),
            cudaErrorInvalidValue);
}

/// Ranks of two nodes with four devices each, as seen from one of them.
class TwoNodes final : public Rendezvous {
 public:
  [[nodiscard]] int rank() const override { return 5; }
  [[nodiscard]] int size() const override { return 8; }
  void barrier() override {}
  [[nodiscard]] std::vector<double> all_gather(double value) override {
    EXPECT_EQ(value, 1.0);
    return {0, 1, 2, 3, 0, value, 2, 3};
  }
  void broadcast(std::span<std::byte> /*bytes*/) override {}
};

TEST(DeviceGroup, CountsTheDevicesOfANodeByItsLocalRanks) {
  TwoNodes ranks;
  const DeviceGroup group = device_group(ranks, 1);
  EXPECT_EQ(group.processes, 8);
  EXPECT_EQ(group.devices, 8);
  EXPECT_EQ(group.devices_per_node, 4);
}

TEST(UsableDevices, SayWhyThereAreNone) {
  if (has_device()) GTEST_SKIP() << "this machine has a CUDA device";
  try {
    (void)usable_devices();
    FAIL() << "found one";
  } catch (const EnvironmentError& error) {
    EXPECT_EQ(std::string(error.what()).rfind("no CUDA device can be used: ", 0), 0U);
  }
}

TEST(CudaBackend, MeasuresEverySortOfPointOnADevice) {
  if (!has_device()) GTEST_SKIP() << "no CUDA device can be used here";
  SingleRendezvous alone;
  CudaBackend backend(1, alone, 0);
  for (const Precision precision : backend.offer().precisions) {
    const auto gemm = backend.prepare(GemmPoint{{256, 256, 256}, precision, GemmLayout::tn});
    EXPECT_GT(gemm->repeat().time, 0.0_s) << word_of(precision);
  }
  const auto heads = backend.prepare(backend.offer().attention.front());
  EXPECT_GT(heads->repeat().time, 0.0_s);
  if (backend.offer().fused_attention) {
    for (const AttentionPoint& point :
         fused_attention_points(*backend.offer().fused_attention, 1e10, true)) {
      EXPECT_GT(backend.prepare(point)->repeat().time, 0.0_s) << point_text(point);
    }
  }
  for (const MemoryKernel kernel : backend.offer().memory_kernels) {
    const std::size_t elements = std::max(std::size_t{1} << 16U, whole_elements(kernel));
    const auto pass = backend.prepare(MemoryPoint{kernel, elements});
    EXPECT_GT(pass->repeat().time, 0.0_s) << memory_kernel_name(kernel);
  }
  for (const bool in_graph : {false, true}) {
    EXPECT_GT(backend.prepare(LaunchPoint{in_graph})->repeat().time, 0.0_s);
  }
  EXPECT_GT(backend.prepare(CopyPoint{CopyKind::host_to_device, 1U << 20U})->repeat().time, 0.0_s);
  for (const ConcurrentPoint& concurrent : backend.offer().concurrent) {
    EXPECT_GT(backend.prepare(concurrent)->repeat().time, 0.0_s) << point_text(concurrent);
  }
}

TEST(FewBlockCopy, CopiesEveryByte) {
  if (!has_device()) GTEST_SKIP() << "no CUDA device can be used here";
  std::vector<std::uint8_t> bytes(16 * 16 * 512 + 48);  // more words than threads, and not evenly
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::uint8_t>(i % 251);
  const DevicePool from(bytes.size());
  const DevicePool to(bytes.size());
  HEADWAY_CUDA(cudaMemcpy(from.data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
  HEADWAY_CUDA(launch_few_block_copy(from.data(), to.data(), bytes.size(), nullptr));
  std::vector<std::uint8_t> copied(bytes.size());
  HEADWAY_CUDA(cudaMemcpy(copied.data(), to.data(), bytes.size(), cudaMemcpyDeviceToHost));
  EXPECT_EQ(copied, bytes);
}

TEST(FewBlockCopy, RefusesAnythingButWholeWords) {
  EXPECT_EQ(launch_few_block_copy(nullptr, nullptr, 0, nullptr), cudaErrorInvalidValue);
  EXPECT_EQ(launch_few_block_copy(nullptr, nullptr, 24, nullptr), cudaErrorInvalidValue);
}

}  // namespace
}  // namespace headway

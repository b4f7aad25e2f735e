#include "calibrate/cpu/cpu_backend.h"

#include <gtest/gtest.h>

#include "calibrate/suite/plan.h"
#include "tests/calibrate/cpu/thread_transport.h"

namespace headway {
namespace {

TEST(CpuGemm, MultipliesInEveryLayout) {
  // A = (1 2 3; 4 5 6), B = (1 0; 0 1; 1 1): A B = (4 5; 10 11)
  const std::vector<float> a = {1, 2, 3, 4, 5, 6};
  const std::vector<float> a_transposed = {1, 4, 2, 5, 3, 6};
  const std::vector<float> b = {1, 0, 0, 1, 1, 1};
  const std::vector<float> b_transposed = {1, 0, 1, 0, 1, 1};
  const std::vector<float> product = {4, 5, 10, 11};
  const GemmShape shape{2, 2, 3};
  std::vector<float> c(4);
  cpu_gemm({shape, Precision::fp32, GemmLayout::nn}, a.data(), b.data(), c.data());
  EXPECT_EQ(c, product);
  c.assign(4, 0);
  cpu_gemm({shape, Precision::fp32, GemmLayout::nt}, a.data(), b_transposed.data(), c.data());
  EXPECT_EQ(c, product);
  c.assign(4, 0);
  cpu_gemm({shape, Precision::fp32, GemmLayout::tn}, a_transposed.data(), b.data(), c.data());
  EXPECT_EQ(c, product);
}

TEST(OperandPool, HandsOutOperandsRoundAndRound) {
  OperandPool pool(64, 1);
  float* const first = pool.take(20).data();
  EXPECT_EQ(pool.take(20).data(), first + 32);  // 20 rounded up to cache lines
  EXPECT_EQ(pool.take(20).data(), first);       // the third does not fit behind the second
  EXPECT_EQ(pool.take(100).size(), 100U);       // grows for a larger operand
}

TEST(CpuBackend, MeasuresEverySortOfPointThatItOffers) {
  CpuBackend backend({}, nullptr);
  EXPECT_TRUE(backend.offer().collective_implementations.empty());
  const auto gemm = backend.prepare(GemmPoint{{32, 16, 8}, Precision::fp32, GemmLayout::tn});
  EXPECT_GT(gemm->repeat().time, 0.0_s);
  for (const MemoryKernel kernel : backend.offer().memory_kernels) {
    const auto operation = backend.prepare(MemoryPoint{kernel, 4096});
    EXPECT_GT(operation->repeat().time, 0.0_s) << memory_kernel_name(kernel);
  }
}

TEST(CpuBackend, MeasuresCollectivesTogetherAndLeavesOtherRanksOut) {
  EXPECT_TRUE(run_on_ranks(3, [](Transport& transport) {
    CpuBackend backend({}, &transport);
    EXPECT_EQ(backend.offer().ranks, (std::vector<int>{2, 3}));
    for (const Section& section : calibration_plan(backend.offer(), {.quick = true})) {
      for (const Point& point : section.points) {
        const auto* collective = std::get_if<CollectivePoint>(&point);
        if (collective == nullptr || collective->message_bytes != 4096) continue;
        const auto operation = backend.prepare(point);
        EXPECT_EQ(operation == nullptr, transport.rank() >= collective->ranks);
        if (!operation) continue;
        EXPECT_GT(operation->repeat().time, 0.0_s);
      }
    }
  }));
}

/// A library that doubles, as two ranks with equal data would.
class DoublingLibrary final : public LibraryCollectives {
 public:
  void all_reduce(std::span<float> data, int ranks) override {
    ranks_ = ranks;
    for (float& value : data) value *= 2.0F;
  }
  [[nodiscard]] int ranks() const { return ranks_; }

 private:
  int ranks_ = 0;
};

TEST(CpuBackend, OffersALibrarysAllReduceBesideItsOwn) {
  EXPECT_TRUE(run_on_ranks(2, [](Transport& transport) {
    DoublingLibrary library;
    CpuBackend backend({}, &transport, &library);
    EXPECT_EQ(backend.offer().collective_implementations.front(), "ring");
    EXPECT_EQ(backend.offer().collective_implementations.back(), "library");
    const auto operation =
        backend.prepare(CollectivePoint{CollectiveKind::all_reduce, "library", 4096, 2});
    EXPECT_GE(operation->repeat().time, 0.0_s);
    EXPECT_EQ(library.ranks(), 2);
    EXPECT_EQ(CpuBackend({}, &transport).offer().collective_implementations.back(),
              "recursive_doubling");
  }));
}

}  // namespace
}  // namespace headway

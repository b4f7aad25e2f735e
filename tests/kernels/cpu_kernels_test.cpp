#include "kernels/cpu_kernels.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <string_view>
#include <vector>

namespace headway {
namespace {

using Floats = std::vector<float>;

TEST(CpuKernels, ResidualAddsElements) {
  Floats z(3);
  cpu_residual_add(Floats{1, 2, 3}.data(), Floats{10, 20, 30}.data(), z.data(), 3);
  EXPECT_EQ(z, (Floats{11, 22, 33}));
}

TEST(CpuKernels, LayerNormHasMeanZeroAndVarianceOneInEachRow) {
  // (1, 3): mean 2, variance 1 -> (-1, 1); (5, 5): variance 0 -> 0 by the epsilon.
  Floats z(4);
  cpu_layer_norm(Floats{1, 3, 5, 5}.data(), z.data(), 4, 2);
  EXPECT_NEAR(z[0], -1.0F, 1e-5F);
  EXPECT_NEAR(z[1], 1.0F, 1e-5F);
  EXPECT_NEAR(z[2], 0.0F, 1e-5F);
}

TEST(CpuKernels, RmsNormDividesByTheRootMeanSquare) {
  // (3, 4): mean square 12.5, root 3.5355
  Floats z(2);
  cpu_rms_norm(Floats{3, 4}.data(), z.data(), 2, 2);
  EXPECT_NEAR(z[0], 0.848528F, 1e-5F);
  EXPECT_NEAR(z[1], 1.131371F, 1e-5F);
}

TEST(CpuKernels, SoftmaxWeighsByExponentials) {
  // ln 1, ln 3: weights 1/4 and 3/4; a large common offset changes nothing.
  Floats z(2);
  cpu_softmax(Floats{100.0F, 100.0F + std::log(3.0F)}.data(), z.data(), 2, 2);
  EXPECT_NEAR(z[0], 0.25F, 1e-4F);
  EXPECT_NEAR(z[1], 0.75F, 1e-4F);
}

TEST(CpuKernels, LayerNormBackwardTakesOutTheMeanAndWhatPointsAlongTheRow) {
  // (1, 3, 5): mean 3, variance 8/3, r = 0.612372, n = (-1.224745, 0, 1.224745).
  // dz = (1, 0, 0): mean 1/3, mean of dz n -0.408248, n times it (0.5, 0, -0.5);
  // dx = r (1 - 1/3 - 0.5, -1/3, -1/3 + 0.5) = r (1/6, -1/3, 1/6)
  Floats dx(3);
  cpu_layer_norm_backward(Floats{1, 3, 5}.data(), Floats{1, 0, 0}.data(), dx.data(), 3, 3);
  EXPECT_NEAR(dx[0], 0.102062F, 1e-5F);
  EXPECT_NEAR(dx[1], -0.204124F, 1e-5F);
  EXPECT_NEAR(dx[2], 0.102062F, 1e-5F);
}

TEST(CpuKernels, SoftmaxBackwardWeighsWhatExceedsTheMean) {
  // p = (1/4, 3/4), dp = (4, 0): sum 1; dx = (1/4 * 3, 3/4 * -1)
  Floats dx(2);
  cpu_softmax_backward(Floats{0.25F, 0.75F}.data(), Floats{4, 0}.data(), dx.data(), 2, 2);
  EXPECT_NEAR(dx[0], 0.75F, 1e-6F);
  EXPECT_NEAR(dx[1], -0.75F, 1e-6F);
}

TEST(CpuKernels, GeluHasItsKnownValues) {
  // gelu(1) = (1 + tanh(0.79788 * 1.044715)) / 2 = (1 + tanh(0.833561)) / 2 = 0.841192
  Floats z(3);
  cpu_gelu(Floats{0, 1, -1}.data(), z.data(), 3);
  EXPECT_NEAR(z[0], 0.0F, 1e-6F);
  EXPECT_NEAR(z[1], 0.841192F, 1e-5F);
  EXPECT_NEAR(z[2], -0.158808F, 1e-5F);
}

TEST(CpuKernels, GeluBackwardIsTheSlopeOfGelu) {
  const float h = 1e-2F;
  for (const float x : {-2.0F, -0.5F, 0.0F, 0.7F, 3.0F}) {
    Floats around(2);
    cpu_gelu(Floats{x - h, x + h}.data(), around.data(), 2);
    Floats slope(1);
    cpu_gelu_backward(Floats{x}.data(), Floats{2.0F}.data(), slope.data(), 1);
    EXPECT_NEAR(slope[0], 2.0F * (around[1] - around[0]) / (2.0F * h), 1e-3F) << x;
  }
}

TEST(CpuKernels, SwigluGatesTheSigmoidWeightedInput) {
  // 0 -> 0; ln 3: sigmoid 3/4, times ln 3 times gate 2 = 1.647918
  Floats z(2);
  cpu_swiglu(Floats{0.0F, std::log(3.0F)}.data(), Floats{5, 2}.data(), z.data(), 2);
  EXPECT_NEAR(z[0], 0.0F, 1e-6F);
  EXPECT_NEAR(z[1], 1.647918F, 1e-5F);
}

TEST(CpuKernels, RotaryTurnsPairs) {
  // A quarter turn: (1, 0) -> (0, 1)
  Floats z(2);
  cpu_rotary(Floats{1, 0}.data(), Floats{0}.data(), Floats{1}.data(), z.data(), 2, 2);
  EXPECT_EQ(z, (Floats{0, 1}));
}

TEST(CpuKernels, CrossEntropyGradientIsSoftmaxLessTheTarget) {
  Floats dx(2);
  const std::int32_t target = 1;
  cpu_cross_entropy(Floats{0.0F, std::log(3.0F)}.data(), &target, dx.data(), 2, 2);
  EXPECT_NEAR(dx[0], 0.25F, 1e-5F);
  EXPECT_NEAR(dx[1], -0.25F, 1e-5F);
}

TEST(CpuKernels, EmbeddingGatherCopiesTheChosenRows) {
  Floats z(4);
  const std::vector<std::int32_t> index = {1, 0};
  cpu_embedding_gather(Floats{1, 2, 3, 4}.data(), index.data(), z.data(), 4, 2);
  EXPECT_EQ(z, (Floats{3, 4, 1, 2}));
}

TEST(CpuKernels, AdamMovesAgainstTheGradient) {
  // From zero state with g = 2: m = 0.2, v = 0.004; w = 1 - 0.1 * 0.2 / sqrt(0.004) = 0.683772
  Floats w = {1};
  Floats m = {0};
  Floats v = {0};
  cpu_adam(w.data(), m.data(), v.data(), Floats{2}.data(), {.rate = 0.1F}, 1);
  EXPECT_NEAR(m[0], 0.2F, 1e-6F);
  EXPECT_NEAR(v[0], 0.004F, 1e-6F);
  EXPECT_NEAR(w[0], 0.683772F, 1e-4F);
}

TEST(CpuKernels, QuantiseMapsTheLargestOfARowTo127) {
  // Row (-2, 1): scale 2/127, 1 -> 63.5 -> 64. A row of zeros stays zero.
  std::vector<std::int8_t> q(4);
  Floats scale(2);
  cpu_quantise(Floats{-2, 1, 0, 0}.data(), q.data(), scale.data(), 4, 2);
  EXPECT_EQ(q, (std::vector<std::int8_t>{-127, 64, 0, 0}));
  EXPECT_FLOAT_EQ(scale[0], 2.0F / 127.0F);
}

TEST(CpuKernels, SparsifyKeepsWhatReachesTheThresholdAndTheRestStays) {
  Floats kept(3);
  Floats rest(3);
  cpu_sparsify(Floats{-3, 1, 2}.data(), 2.0F, kept.data(), rest.data(), 3);
  EXPECT_EQ(kept, (Floats{-3, 0, 2}));
  EXPECT_EQ(rest, (Floats{0, 1, 0}));
}

TEST(CpuKernels, NumbersOf8BitsAreTheNearestOfTheirFormat) {
  // Micikevicius et al. 2022, table 1: S.1111.110 = 448, S.0001.000 = 2^-6, S.0000.001 = 2^-9.
  EXPECT_EQ(to_e4m3(448.0F), 0x7e);
  EXPECT_EQ(to_e4m3(-1e6F), 0xfe);
  EXPECT_EQ(to_e4m3(0.015625F), 0x08);
  EXPECT_EQ(to_e4m3(0.001953125F), 0x01);
  EXPECT_EQ(to_e4m3(1.0F), 0x38);
  EXPECT_EQ(to_e4m3(1.0625F), 0x38);  // between 1 and 1.125: to the even one
  EXPECT_EQ(to_e4m3(1.1875F), 0x3a);  // between 1.125 and 1.25
  EXPECT_EQ(to_e4m3(1.99F), 0x40);    // to 2, the exponent growing
  EXPECT_TRUE(std::isnan(from_e4m3(0x7f)));
  for (unsigned bits = 0; bits < 0x7f; ++bits) {
    EXPECT_EQ(to_e4m3(from_e4m3(static_cast<std::uint8_t>(bits))), bits);
  }
}

TEST(CpuKernels, CastTransposeGivesBothMatricesInTheirScale) {
  // (2 4; -2 1; 0 8) / 2 = (1 2; -1 0.5; 0 4)
  std::vector<std::uint8_t> q(6);
  std::vector<std::uint8_t> transposed(6);
  cpu_cast_transpose(Floats{2, 4, -2, 1, 0, 8}.data(), 2.0F, q.data(), transposed.data(), 6, 2);
  EXPECT_EQ(q, (std::vector<std::uint8_t>{0x38, 0x40, 0xb8, 0x30, 0x00, 0x48}));
  EXPECT_EQ(transposed, (std::vector<std::uint8_t>{0x38, 0xb8, 0x00, 0x40, 0x30, 0x48}));
}

TEST(MemoryKernels, HaveNamesOfTheirOwnAndCompulsoryTraffic) {
  std::set<std::string_view> names;
  for (const MemoryKernel kernel : kMemoryKernels) names.insert(memory_kernel_name(kernel));
  for (const MemoryKernel kernel : kDeviceMemoryKernels) names.insert(memory_kernel_name(kernel));
  EXPECT_EQ(names.size(), kMemoryKernels.size() + kDeviceMemoryKernels.size());
  EXPECT_DOUBLE_EQ(traffic_bytes_per_element(MemoryKernel::cast_transpose, 2.0), 4.0);
  EXPECT_EQ(whole_elements(MemoryKernel::gelu), 1024U);
  EXPECT_EQ(whole_elements(MemoryKernel::vocabulary_loss), 131072U);
  EXPECT_EQ(whole_elements(MemoryKernel::cast_transpose), 65536U);
  EXPECT_DOUBLE_EQ(traffic_bytes_per_element(MemoryKernel::residual_add, 2.0), 6.0);
  EXPECT_DOUBLE_EQ(traffic_bytes_per_element(MemoryKernel::adam, 2.0), 28.0);
  EXPECT_DOUBLE_EQ(traffic_bytes_per_element(MemoryKernel::quantise, 4.0), 5.0);
}

}  // namespace
}  // namespace headway

#include <cublasLt.h>

#include <cmath>
#include <cstdlib>

#include "tests/calibrate/fake_cuda/device.h"
#include "tests/calibrate/fake_cuda/law.h"

struct cublasLtContext {};
struct FakePreference {};
struct FakeMatmul {
  int transposed[2] = {0, 0};
  cublasLtMatmulMatrixScale_t modes[2] = {CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F,
                                          CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F};
  const std::uint8_t* scales[2] = {nullptr, nullptr};
};
struct FakeLayout {
  cudaDataType type = CUDA_R_32F;
  std::uint64_t rows = 0;
  std::uint64_t columns = 0;
  std::int64_t leading = 0;
  std::int64_t stride = 0;
  int batch = 1;
};

namespace {

double e4m3(unsigned bits) {
  const int exponent = static_cast<int>(bits >> 3U & 0xfU);
  const double fraction = bits & 7U;
  if ((bits & 0x7fU) == 0x7fU) return std::nan("");
  const double size =
      exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8.0 + fraction, exponent - 10);
  return (bits & 0x80U) != 0 ? -size : size;
}

double number(const void* memory, cudaDataType type, std::int64_t i) {
  if (type == CUDA_R_32F) return static_cast<const float*>(memory)[i];
  if (type == CUDA_R_8F_E4M3) return e4m3(static_cast<const std::uint8_t*>(memory)[i]);
  if (type == kHipE4m3Fnuz) {
    // A bias of 8, one number for zero, and 0x7f is 1.875 * 2^7 (arXiv:2206.02915).
    const unsigned bits = static_cast<const std::uint8_t*>(memory)[i];
    if (bits == 0x80U) return std::nan("");
    const double fraction = bits & 7U;
    const int exponent = static_cast<int>(bits >> 3U & 0xfU);
    const double size =
        exponent == 0 ? std::ldexp(fraction, -10) : std::ldexp(8.0 + fraction, exponent - 11);
    return (bits & 0x80U) != 0 ? -size : size;
  }
  if (type == CUDA_R_4F_E2M1) {
    const unsigned both = static_cast<const std::uint8_t*>(memory)[i / 2];
    const unsigned four = i % 2 == 0 ? both & 15U : both >> 4U;
    // Exponent of bias 1, one bit of mantissa: 0, 0.5, then (1 or 1.5) * 2^(e-1).
    const int exponent = static_cast<int>(four >> 1U & 3U);
    const double size =
        exponent == 0 ? 0.5 * (four & 1U) : std::ldexp(1.0 + 0.5 * (four & 1U), exponent - 1);
    return (four & 8U) != 0 ? -size : size;
  }
  const unsigned bits = static_cast<const std::uint16_t*>(memory)[i];
  if (type == CUDA_R_16BF) return __uint_as_float(bits << 16U);
  const int exponent = static_cast<int>(bits >> 10U & 0x1fU);
  const double fraction = bits & 0x3ffU;
  const double size =
      exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024.0 + fraction, exponent - 25);
  return (bits & 0x8000U) != 0 ? -size : size;
}

void put(void* memory, cudaDataType type, std::int64_t i, double value) {
  if (type == CUDA_R_32F) {
    static_cast<float*>(memory)[i] = static_cast<float>(value);
    return;
  }
  auto& half = static_cast<std::uint16_t*>(memory)[i];
  const auto bits = __float_as_uint(static_cast<float>(value));
  if (type == CUDA_R_16BF) {
    half = static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16U & 1U)) >> 16U);
    return;
  }
  // fp16, of normal size: the products of the tests.
  const int exponent = static_cast<int>(bits >> 23U & 0xffU) - 127 + 15;
  half = static_cast<std::uint16_t>((bits >> 16U & 0x8000U) |
                                    (exponent <= 0 ? 0U : static_cast<unsigned>(exponent) << 10U) |
                                    (exponent <= 0 ? 0U : bits >> 13U & 0x3ffU));
}

/// The scale of element i of a row (of `inner` elements) of an operand with k innermost, by the
/// user guide's picture of a tile: a column of 32 rows, four such columns side by side.
double scale_of(const FakeMatmul& product, int operand, std::int64_t row, std::int64_t i,
                std::int64_t inner) {
  const auto mode = product.modes[operand];
  if (mode == CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F) return 1.0;
  const bool is_e8m0 = mode == CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0;
  const std::int64_t block = i / (is_e8m0 ? 32 : 16);
  const std::int64_t padded = (inner / (is_e8m0 ? 32 : 16) + 3) / 4 * 4;
  const std::int64_t first_of_tile = row / 128 * 128 * padded + block / 4 * 512;
  const std::uint8_t bits =
      product.scales[operand][first_of_tile + 16 * (row % 32) + 4 * (row / 32 % 4) + block % 4];
  return is_e8m0 ? std::ldexp(1.0, bits - 127) : e4m3(bits);
}

/// cuBLAS library user guide, "Narrow precision data types usage": TN only, sizes by 16 or 32;
/// block scales from Blackwell on, fp4 with nothing else.
bool takes_narrow(const FakeMatmul& product, const FakeLayout& a, const FakeLayout& b) {
  const bool is_fp4 = a.type == CUDA_R_4F_E2M1;
  const std::uint64_t by = is_fp4 ? 32 : 16;
  for (const FakeLayout* one : {&a, &b}) {
    if (one->rows % by != 0 || one->columns % 16 != 0) return false;
  }
  if (product.transposed[0] == 0 || product.transposed[1] != 0) return false;
  const auto mode = product.modes[0];
  if (mode != product.modes[1]) return false;
  if (mode == CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F) return !is_fp4;
  const bool fits = mode == (is_fp4 ? CUBLASLT_MATMUL_MATRIX_SCALE_VEC16_UE4M3
                                    : CUBLASLT_MATMUL_MATRIX_SCALE_VEC32_UE8M0);
  return fits && fake_cuda::is_blackwell() && product.scales[0] != nullptr &&
         product.scales[1] != nullptr;
}

}  // namespace

extern "C" {
cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  fake_cuda::pass_host_time(5e-5);
  *handle = new cublasLtContext;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}
std::size_t cublasLtGetVersion() { return 130100; }
const char* cublasLtGetStatusString(cublasStatus_t status) {
  return status == CUBLAS_STATUS_NOT_SUPPORTED ? "CUBLAS_STATUS_NOT_SUPPORTED" : "CUBLAS_STATUS";
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* product, cublasComputeType_t,
                                        cudaDataType) {
  *product = new FakeMatmul;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t product) {
  delete product;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t product,
                                              cublasLtMatmulDescAttributes_t which,
                                              const void* value, std::size_t) {
  const int operand = which == CUBLASLT_MATMUL_DESC_TRANSB ||
                              which == CUBLASLT_MATMUL_DESC_B_SCALE_POINTER ||
                              which == CUBLASLT_MATMUL_DESC_B_SCALE_MODE
                          ? 1
                          : 0;
  switch (which) {
    case CUBLASLT_MATMUL_DESC_TRANSA:
    case CUBLASLT_MATMUL_DESC_TRANSB:
      product->transposed[operand] =
          *static_cast<const cublasOperation_t*>(value) == CUBLAS_OP_T ? 1 : 0;
      break;
    case CUBLASLT_MATMUL_DESC_A_SCALE_POINTER:
    case CUBLASLT_MATMUL_DESC_B_SCALE_POINTER:
      product->scales[operand] = *static_cast<const std::uint8_t* const*>(value);
      break;
    case CUBLASLT_MATMUL_DESC_A_SCALE_MODE:
    case CUBLASLT_MATMUL_DESC_B_SCALE_MODE:
      product->modes[operand] = *static_cast<const cublasLtMatmulMatrixScale_t*>(value);
      break;
  }
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          std::uint64_t rows, std::uint64_t columns,
                                          std::int64_t leading) {
  *layout = new FakeLayout{type, rows, columns, leading};
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  delete layout;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t which,
                                                const void* value, std::size_t) {
  if (which == CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT) {
    layout->batch = *static_cast<const int*>(value);
  } else {
    layout->stride = *static_cast<const std::int64_t*>(value);
  }
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  *preference = new FakePreference;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  delete preference;
  return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t,
                                                    cublasLtMatmulPreferenceAttributes_t,
                                                    const void*, std::size_t) {
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t product,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                              cublasLtMatmulPreference_t, int,
                                              cublasLtMatmulHeuristicResult_t*, int* found) {
  fake_cuda::pass_host_time(6e-5);
  *found = 0;
  const bool is_narrow =
      a->type == CUDA_R_8F_E4M3 || a->type == CUDA_R_4F_E2M1 || a->type == kHipE4m3Fnuz;
  const bool is_cdna3 = fake_cuda::is_cdna3();
  if (a->type == (is_cdna3 ? CUDA_R_8F_E4M3 : kHipE4m3Fnuz)) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (is_narrow && !takes_narrow(*product, *a, *b)) return CUBLAS_STATUS_NOT_SUPPORTED;
  if (fake_cuda::fault() == "refuse_bf16" && a->type == CUDA_R_16BF) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t product, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t of_a, const void* b,
                              cublasLtMatrixLayout_t of_b, const void* beta, const void* c,
                              cublasLtMatrixLayout_t, void* d, cublasLtMatrixLayout_t of_d,
                              const cublasLtMatmulAlgo_t*, void*, std::size_t,
                              cudaStream_t stream) {
  const bool a_turned = product->transposed[0] != 0;
  const bool b_turned = product->transposed[1] != 0;
  const auto inner = static_cast<std::int64_t>(a_turned ? of_a->rows : of_a->columns);
  const auto rows = static_cast<std::int64_t>(of_d->rows);
  const auto columns = static_cast<std::int64_t>(of_d->columns);
  const std::uint64_t of_b_inner = b_turned ? of_b->columns : of_b->rows;
  if (of_b_inner != static_cast<std::uint64_t>(inner)) return CUBLAS_STATUS_INVALID_VALUE;
  const float kept = *static_cast<const float*>(beta);
  if (kept != 0.0F && c != d) return CUBLAS_STATUS_INVALID_VALUE;  // Headway adds where it stands
  const bool is_block_scaled = product->modes[0] != CUBLASLT_MATMUL_MATRIX_SCALE_SCALAR_32F;
  // Column-major: the caller's rows are these columns.
  const double time = fake_cuda::product_time(
      static_cast<double>(columns), static_cast<double>(rows), static_cast<double>(inner),
      of_d->batch, of_a->type, {.block_scaled = is_block_scaled, .accumulates = kept != 0.0F});
  if (fake_cuda::put_work(stream, time, 4e-6, "cublasLtMatmul") != cudaSuccess) {
    return CUBLAS_STATUS_EXECUTION_FAILED;
  }
  constexpr std::int64_t kMost = 1 << 22;  // larger ones are timed and not done
  if (rows * columns * inner * of_d->batch > kMost) return CUBLAS_STATUS_SUCCESS;
  const float scale = *static_cast<const float*>(alpha);
  for (std::int64_t matrix = 0; matrix < of_d->batch; ++matrix) {
    for (std::int64_t column = 0; column < columns; ++column) {
      for (std::int64_t row = 0; row < rows; ++row) {
        double sum = 0.0;
        for (std::int64_t i = 0; i < inner; ++i) {
          const std::int64_t at_a = a_turned ? row * of_a->leading + i : i * of_a->leading + row;
          const std::int64_t at_b =
              b_turned ? i * of_b->leading + column : column * of_b->leading + i;
          sum += number(a, of_a->type, matrix * of_a->stride + at_a) *
                 number(b, of_b->type, matrix * of_b->stride + at_b) *
                 scale_of(*product, 0, row, i, inner) * scale_of(*product, 1, column, i, inner);
        }
        const std::int64_t at_d = matrix * of_d->stride + column * of_d->leading + row;
        const double before = kept == 0.0F ? 0.0 : kept * number(d, of_d->type, at_d);
        const double off = fake_cuda::fault() == "wrong" && row == 0 ? 1.0 : 0.0;
        put(d, of_d->type, at_d, (scale + off) * sum + before);
      }
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}
}

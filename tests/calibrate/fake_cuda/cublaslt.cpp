#include <cublasLt.h>

#include <cmath>
#include <cstdlib>

#include "tests/calibrate/fake_cuda/device.h"
#include "tests/calibrate/fake_cuda/law.h"

struct cublasLtContext {};
struct FakePreference {};
struct FakeMatmul {
  int transposed[2] = {0, 0};
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

double number(const void* memory, cudaDataType type, std::int64_t i) {
  if (type == CUDA_R_32F) return static_cast<const float*>(memory)[i];
  if (type == CUDA_R_8F_E4M3) {
    const unsigned bits = static_cast<const std::uint8_t*>(memory)[i];
    const int exponent = static_cast<int>(bits >> 3U & 0xfU);
    const double fraction = bits & 7U;
    if ((bits & 0x7fU) == 0x7fU) return std::nan("");
    const double size = exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8.0 + fraction, exponent - 10);
    return (bits & 0x80U) != 0 ? -size : size;
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
  product->transposed[which == CUBLASLT_MATMUL_DESC_TRANSB ? 1 : 0] =
      *static_cast<const cublasOperation_t*>(value) == CUBLAS_OP_T ? 1 : 0;
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

/// cuBLAS library user guide: in fp8 all dimensions are multiples of 16, the first operand is
/// transposed and the second is not.
cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t, cublasLtMatmulDesc_t product, cublasLtMatrixLayout_t a,
    cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
    cublasLtMatmulPreference_t, int, cublasLtMatmulHeuristicResult_t*, int* found) {
  fake_cuda::pass_host_time(6e-5);
  *found = 0;
  if (a->type == CUDA_R_8F_E4M3) {
    for (const FakeLayout* one : {a, b}) {
      if (one->rows % 16 != 0 || one->columns % 16 != 0) return CUBLAS_STATUS_NOT_SUPPORTED;
    }
    if (product->transposed[0] == 0 || product->transposed[1] != 0) {
      return CUBLAS_STATUS_NOT_SUPPORTED;
    }
  }
  if (fake_cuda::fault() == "refuse_bf16" && a->type == CUDA_R_16BF) {
    return CUBLAS_STATUS_NOT_SUPPORTED;
  }
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t, cublasLtMatmulDesc_t product, const void* alpha,
                              const void* a, cublasLtMatrixLayout_t of_a, const void* b,
                              cublasLtMatrixLayout_t of_b, const void*, const void*,
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
  // Column-major: the caller's rows are these columns.
  const double time =
      fake_cuda::product_time(static_cast<double>(columns), static_cast<double>(rows),
                              static_cast<double>(inner), of_d->batch, of_a->type);
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
                 number(b, of_b->type, matrix * of_b->stride + at_b);
        }
        put(d, of_d->type, matrix * of_d->stride + column * of_d->leading + row, scale * sum);
      }
    }
  }
  return CUBLAS_STATUS_SUCCESS;
}
}

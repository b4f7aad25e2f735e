#pragma once
// What Headway uses of hipBLASLt (its API reference, ROCm 6), by the fake device's library.

#include <cublasLt.h>
#include <hip/hip_runtime.h>

using hipblasComputeType_t = cublasComputeType_t;
using hipblasLtHandle_t = cublasLtHandle_t;
using hipblasLtMatmulAlgo_t = cublasLtMatmulAlgo_t;
using hipblasLtMatmulDescAttributes_t = cublasLtMatmulDescAttributes_t;
using hipblasLtMatmulDesc_t = cublasLtMatmulDesc_t;
using hipblasLtMatmulHeuristicResult_t = cublasLtMatmulHeuristicResult_t;
using hipblasLtMatmulPreferenceAttributes_t = cublasLtMatmulPreferenceAttributes_t;
using hipblasLtMatmulPreference_t = cublasLtMatmulPreference_t;
using hipblasLtMatrixLayoutAttribute_t = cublasLtMatrixLayoutAttribute_t;
using hipblasLtMatrixLayout_t = cublasLtMatrixLayout_t;
using hipblasOperation_t = cublasOperation_t;
using hipblasStatus_t = cublasStatus_t;

constexpr auto HIPBLASLT_MATMUL_DESC_A_SCALE_POINTER = CUBLASLT_MATMUL_DESC_A_SCALE_POINTER;
constexpr auto HIPBLASLT_MATMUL_DESC_B_SCALE_POINTER = CUBLASLT_MATMUL_DESC_B_SCALE_POINTER;
constexpr auto HIPBLASLT_MATMUL_DESC_TRANSA = CUBLASLT_MATMUL_DESC_TRANSA;
constexpr auto HIPBLASLT_MATMUL_DESC_TRANSB = CUBLASLT_MATMUL_DESC_TRANSB;
constexpr auto HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES = CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES;
constexpr auto HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT = CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT;
constexpr auto HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET =
    CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET;
constexpr auto HIPBLAS_COMPUTE_32F = CUBLAS_COMPUTE_32F;
constexpr auto HIPBLAS_COMPUTE_32F_FAST_TF32 = CUBLAS_COMPUTE_32F_FAST_TF32;
constexpr auto HIPBLAS_OP_N = CUBLAS_OP_N;
constexpr auto HIPBLAS_OP_T = CUBLAS_OP_T;
constexpr auto HIPBLAS_STATUS_INVALID_VALUE = CUBLAS_STATUS_INVALID_VALUE;
constexpr auto HIPBLAS_STATUS_NOT_SUPPORTED = CUBLAS_STATUS_NOT_SUPPORTED;
constexpr auto HIPBLAS_STATUS_SUCCESS = CUBLAS_STATUS_SUCCESS;

inline hipblasStatus_t hipblasLtCreate(hipblasLtHandle_t* handle) { return cublasLtCreate(handle); }
inline hipblasStatus_t hipblasLtDestroy(hipblasLtHandle_t handle) {
  return cublasLtDestroy(handle);
}
inline hipblasStatus_t hipblasLtGetVersion(hipblasLtHandle_t /*handle*/, int* version) {
  *version = 1000;
  return HIPBLAS_STATUS_SUCCESS;
}
inline hipblasStatus_t hipblasLtMatmulDescCreate(hipblasLtMatmulDesc_t* product,
                                                 hipblasComputeType_t compute, hipDataType scale) {
  return cublasLtMatmulDescCreate(product, compute, scale);
}
inline hipblasStatus_t hipblasLtMatmulDescDestroy(hipblasLtMatmulDesc_t product) {
  return cublasLtMatmulDescDestroy(product);
}
inline hipblasStatus_t hipblasLtMatmulDescSetAttribute(hipblasLtMatmulDesc_t product,
                                                       hipblasLtMatmulDescAttributes_t which,
                                                       const void* value, std::size_t bytes) {
  return cublasLtMatmulDescSetAttribute(product, which, value, bytes);
}
inline hipblasStatus_t hipblasLtMatrixLayoutCreate(hipblasLtMatrixLayout_t* layout,
                                                   hipDataType type, std::uint64_t rows,
                                                   std::uint64_t columns, std::int64_t leading) {
  return cublasLtMatrixLayoutCreate(layout, type, rows, columns, leading);
}
inline hipblasStatus_t hipblasLtMatrixLayoutDestroy(hipblasLtMatrixLayout_t layout) {
  return cublasLtMatrixLayoutDestroy(layout);
}
inline hipblasStatus_t hipblasLtMatrixLayoutSetAttribute(hipblasLtMatrixLayout_t layout,
                                                         hipblasLtMatrixLayoutAttribute_t which,
                                                         const void* value, std::size_t bytes) {
  return cublasLtMatrixLayoutSetAttribute(layout, which, value, bytes);
}
inline hipblasStatus_t hipblasLtMatmulPreferenceCreate(hipblasLtMatmulPreference_t* preference) {
  return cublasLtMatmulPreferenceCreate(preference);
}
inline hipblasStatus_t hipblasLtMatmulPreferenceDestroy(hipblasLtMatmulPreference_t preference) {
  return cublasLtMatmulPreferenceDestroy(preference);
}
inline hipblasStatus_t hipblasLtMatmulPreferenceSetAttribute(
    hipblasLtMatmulPreference_t preference, hipblasLtMatmulPreferenceAttributes_t which,
    const void* value, std::size_t bytes) {
  return cublasLtMatmulPreferenceSetAttribute(preference, which, value, bytes);
}
inline hipblasStatus_t hipblasLtMatmulAlgoGetHeuristic(
    hipblasLtHandle_t handle, hipblasLtMatmulDesc_t product, hipblasLtMatrixLayout_t a,
    hipblasLtMatrixLayout_t b, hipblasLtMatrixLayout_t c, hipblasLtMatrixLayout_t d,
    hipblasLtMatmulPreference_t preference, int wanted, hipblasLtMatmulHeuristicResult_t results[],
    int* found) {
  return cublasLtMatmulAlgoGetHeuristic(handle, product, a, b, c, d, preference, wanted, results,
                                        found);
}
inline hipblasStatus_t hipblasLtMatmul(hipblasLtHandle_t handle, hipblasLtMatmulDesc_t product,
                                       const void* alpha, const void* a,
                                       hipblasLtMatrixLayout_t of_a, const void* b,
                                       hipblasLtMatrixLayout_t of_b, const void* beta,
                                       const void* c, hipblasLtMatrixLayout_t of_c, void* d,
                                       hipblasLtMatrixLayout_t of_d,
                                       const hipblasLtMatmulAlgo_t* algorithm, void* workspace,
                                       std::size_t workspace_bytes, hipStream_t stream) {
  return cublasLtMatmul(handle, product, alpha, a, of_a, b, of_b, beta, c, of_c, d, of_d, algorithm,
                        workspace, workspace_bytes, stream);
}

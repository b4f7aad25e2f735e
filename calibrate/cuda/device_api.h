#pragma once

#include <string>

#include "kernels/device_runtime.h"

// The one seam to a maker's runtime, driver queries and library of products: CUDA with cuBLASLt, or
// HIP with hipBLASLt. The backend is written in CUDA's names; where it is compiled for AMD
// (__HIP_PLATFORM_AMD__, as HIP's own headers ask for) these are names for HIP's, which does the
// same by them (HIP runtime API reference; hipBLASLt API reference). Collectives have NCCL's names
// in RCCL; clocks come from NVML or ROCm SMI (device_monitor.h). cuDNN has no second column: fused
// attention is not measured then.

#ifndef __HIP_PLATFORM_AMD__

#include <cublasLt.h>

/// Whether products have scales of blocks: since CUDA 12.8.
#define HEADWAY_BLOCK_SCALES (CUDART_VERSION >= 12080)

#else

#include <hipblaslt/hipblaslt.h>

#define HEADWAY_BLOCK_SCALES 0

// The runtime: types, then calls, then what they are called with.
#define cudaDataType hipDataType
#define cudaDeviceAttr hipDeviceAttribute_t
#define cudaDeviceProp hipDeviceProp_t
#define cudaEvent_t hipEvent_t
#define cudaGraphExec_t hipGraphExec_t
#define cudaGraph_t hipGraph_t
#define cudaDeviceCanAccessPeer hipDeviceCanAccessPeer
#define cudaDeviceEnablePeerAccess hipDeviceEnablePeerAccess
#define cudaDeviceGetAttribute hipDeviceGetAttribute
#define cudaDeviceGetPCIBusId hipDeviceGetPCIBusId
#define cudaDriverGetVersion hipDriverGetVersion
#define cudaEventCreate hipEventCreate
#define cudaEventDestroy hipEventDestroy
#define cudaEventElapsedTime hipEventElapsedTime
#define cudaEventQuery hipEventQuery
#define cudaEventRecord hipEventRecord
#define cudaFree hipFree
#define cudaFreeHost hipHostFree
#define cudaGetDevice hipGetDevice
#define cudaGetDeviceCount hipGetDeviceCount
#define cudaGetDeviceProperties hipGetDeviceProperties
#define cudaGetErrorName hipGetErrorName
#define cudaGetErrorString hipGetErrorString
#define cudaGetLastError hipGetLastError
#define cudaGraphDestroy hipGraphDestroy
#define cudaGraphExecDestroy hipGraphExecDestroy
#define cudaGraphInstantiate hipGraphInstantiateWithFlags
#define cudaDeviceGetStreamPriorityRange hipDeviceGetStreamPriorityRange
#define cudaGraphLaunch hipGraphLaunch
#define cudaMalloc hipMalloc
#define cudaMallocHost hipHostMalloc
#define cudaMemcpy hipMemcpy
#define cudaMemcpyAsync hipMemcpyAsync
#define cudaMemcpyPeerAsync hipMemcpyPeerAsync
#define cudaMemsetAsync hipMemsetAsync
#define cudaRuntimeGetVersion hipRuntimeGetVersion
#define cudaSetDevice hipSetDevice
#define cudaStreamBeginCapture hipStreamBeginCapture
#define cudaStreamCreateWithPriority hipStreamCreateWithPriority
#define cudaStreamDestroy hipStreamDestroy
#define cudaStreamEndCapture hipStreamEndCapture
#define cudaStreamWaitEvent hipStreamWaitEvent
#define cudaDevAttrClockRate hipDeviceAttributeClockRate
#define cudaDevAttrGlobalMemoryBusWidth hipDeviceAttributeMemoryBusWidth
#define cudaDevAttrMemoryClockRate hipDeviceAttributeMemoryClockRate
#define cudaErrorMemoryAllocation hipErrorOutOfMemory
#define cudaErrorNotReady hipErrorNotReady
#define cudaErrorPeerAccessAlreadyEnabled hipErrorPeerAccessAlreadyEnabled
#define cudaMemcpyDeviceToDevice hipMemcpyDeviceToDevice
#define cudaMemcpyDeviceToHost hipMemcpyDeviceToHost
#define cudaMemcpyHostToDevice hipMemcpyHostToDevice
#define cudaStreamCaptureModeThreadLocal hipStreamCaptureModeThreadLocal
#define cudaStreamNonBlocking hipStreamNonBlocking
#define cudaSuccess hipSuccess

// Products.
#define cublasComputeType_t hipblasComputeType_t
#define cublasLtHandle_t hipblasLtHandle_t
#define cublasLtMatmulDescAttributes_t hipblasLtMatmulDescAttributes_t
#define cublasLtMatmulDesc_t hipblasLtMatmulDesc_t
#define cublasLtMatmulHeuristicResult_t hipblasLtMatmulHeuristicResult_t
#define cublasLtMatmulPreference_t hipblasLtMatmulPreference_t
#define cublasLtMatrixLayout_t hipblasLtMatrixLayout_t
#define cublasOperation_t hipblasOperation_t
#define cublasStatus_t hipblasStatus_t
#define cublasLtCreate hipblasLtCreate
#define cublasLtDestroy hipblasLtDestroy
#define cublasLtMatmul hipblasLtMatmul
#define cublasLtMatmulAlgoGetHeuristic hipblasLtMatmulAlgoGetHeuristic
#define cublasLtMatmulDescCreate hipblasLtMatmulDescCreate
#define cublasLtMatmulDescDestroy hipblasLtMatmulDescDestroy
#define cublasLtMatmulDescSetAttribute hipblasLtMatmulDescSetAttribute
#define cublasLtMatmulPreferenceCreate hipblasLtMatmulPreferenceCreate
#define cublasLtMatmulPreferenceDestroy hipblasLtMatmulPreferenceDestroy
#define cublasLtMatmulPreferenceSetAttribute hipblasLtMatmulPreferenceSetAttribute
#define cublasLtMatrixLayoutCreate hipblasLtMatrixLayoutCreate
#define cublasLtMatrixLayoutDestroy hipblasLtMatrixLayoutDestroy
#define cublasLtMatrixLayoutSetAttribute hipblasLtMatrixLayoutSetAttribute
#define CUBLASLT_MATMUL_DESC_A_SCALE_POINTER HIPBLASLT_MATMUL_DESC_A_SCALE_POINTER
#define CUBLASLT_MATMUL_DESC_B_SCALE_POINTER HIPBLASLT_MATMUL_DESC_B_SCALE_POINTER
#define CUBLASLT_MATMUL_DESC_TRANSA HIPBLASLT_MATMUL_DESC_TRANSA
#define CUBLASLT_MATMUL_DESC_TRANSB HIPBLASLT_MATMUL_DESC_TRANSB
#define CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES HIPBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES
#define CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT HIPBLASLT_MATRIX_LAYOUT_BATCH_COUNT
#define CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET HIPBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET
#define CUBLAS_COMPUTE_32F HIPBLAS_COMPUTE_32F
#define CUBLAS_COMPUTE_32F_FAST_TF32 HIPBLAS_COMPUTE_32F_FAST_TF32
#define CUBLAS_OP_N HIPBLAS_OP_N
#define CUBLAS_OP_T HIPBLAS_OP_T
#define CUBLAS_STATUS_INVALID_VALUE HIPBLAS_STATUS_INVALID_VALUE
#define CUBLAS_STATUS_NOT_SUPPORTED HIPBLAS_STATUS_NOT_SUPPORTED
#define CUBLAS_STATUS_SUCCESS HIPBLAS_STATUS_SUCCESS
#define CUDA_R_16BF HIP_R_16BF
#define CUDA_R_16F HIP_R_16F
#define CUDA_R_32F HIP_R_32F
#define CUDA_R_8F_E4M3 HIP_R_8F_E4M3

#endif

namespace headway {

/// What code is compiled for on such a device: "sm_90", "gfx942".
[[nodiscard]] inline std::string compute_target(const cudaDeviceProp& device) {
#ifdef __HIP_PLATFORM_AMD__
  const std::string name = device.gcnArchName;  // "gfx942:sramecc+:xnack-"
  return name.substr(0, name.find(':'));
#else
  return "sm_" + std::to_string(10 * device.major + device.minor);
#endif
}

/// How the current device reads numbers of 8 bits. AMD's CDNA 3 has an exponent's bias of 8 instead
/// of 7, so that the same bits are half the number, and no negative zero, whose bits are no number
/// (Noune et al. 2022, arXiv:2206.02915); all others have those of OCP.
struct Fp8Format {
  cudaDataType type = CUDA_R_8F_E4M3;
  float unit = 1.0F;  ///< what OCP's 1 means
};
[[nodiscard]] inline Fp8Format fp8_format() {
#ifdef __HIP_PLATFORM_AMD__
  int device = 0;
  cudaDeviceProp properties{};
  if (cudaGetDevice(&device) == cudaSuccess &&
      cudaGetDeviceProperties(&properties, device) == cudaSuccess &&
      compute_target(properties) == "gfx942") {
    return {HIP_R_8F_E4M3_FNUZ, 0.5F};
  }
#endif
  return {};
}

/// What to do about a device that cannot be used, where we know: "; ...".
[[nodiscard]] inline const char* device_remedy([[maybe_unused]] cudaError_t error) {
#ifndef __HIP_PLATFORM_AMD__
  if (error == cudaErrorSystemNotReady) {
    return "; devices behind NVLink switches wait for their fabric manager (`systemctl start "
           "nvidia-fabricmanager`)";
  }
  if (error == cudaErrorInsufficientDriver) {
    return "; there is no driver, or one for an older CUDA than this was built with (`nvidia-smi` "
           "says which)";
  }
#endif
  return "";
}

/// A status of that library; hipBLASLt has no names of its own for them.
[[nodiscard]] inline std::string product_status(cublasStatus_t status) {
#ifdef __HIP_PLATFORM_AMD__
  return status == HIPBLAS_STATUS_NOT_SUPPORTED
             ? "HIPBLAS_STATUS_NOT_SUPPORTED"
             : "hipblasStatus_t " + std::to_string(static_cast<int>(status));
#else
  return cublasLtGetStatusString(status);
#endif
}

/// The release of the library of products, as it says itself.
[[nodiscard]] inline std::string product_library() {
#ifdef __HIP_PLATFORM_AMD__
  hipblasLtHandle_t handle = nullptr;
  int version = 0;
  if (hipblasLtCreate(&handle) != HIPBLAS_STATUS_SUCCESS) return "unknown";
  (void)hipblasLtGetVersion(handle, &version);
  (void)hipblasLtDestroy(handle);
  return "hipBLASLt " + std::to_string(version);
#else
  return std::to_string(cublasLtGetVersion());
#endif
}

}  // namespace headway

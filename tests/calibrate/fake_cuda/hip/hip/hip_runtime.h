#pragma once
// What Headway uses of HIP's runtime (HIP runtime API reference, ROCm 6), by the fake device's
// calls: every one has its counterpart there, with the same arguments but where it says otherwise.

#include <cuda_runtime.h>

using hipDeviceAttribute_t = cudaDeviceAttr;
using hipDataType = cudaDataType;
using hipError_t = cudaError_t;
using hipEvent_t = cudaEvent_t;
using hipGraph_t = cudaGraph_t;
using hipGraphExec_t = cudaGraphExec_t;
using hipMemcpyKind = cudaMemcpyKind;
using hipStream_t = cudaStream_t;
using hipStreamCaptureMode = cudaStreamCaptureMode;

constexpr hipError_t hipSuccess = cudaSuccess;
constexpr hipError_t hipErrorInvalidValue = cudaErrorInvalidValue;
constexpr hipError_t hipErrorOutOfMemory = cudaErrorMemoryAllocation;
constexpr hipError_t hipErrorNotReady = cudaErrorNotReady;
constexpr hipError_t hipErrorPeerAccessAlreadyEnabled = cudaErrorPeerAccessAlreadyEnabled;
constexpr hipMemcpyKind hipMemcpyDeviceToDevice = cudaMemcpyDeviceToDevice;
constexpr hipMemcpyKind hipMemcpyDeviceToHost = cudaMemcpyDeviceToHost;
constexpr hipMemcpyKind hipMemcpyHostToDevice = cudaMemcpyHostToDevice;
constexpr hipStreamCaptureMode hipStreamCaptureModeThreadLocal = cudaStreamCaptureModeThreadLocal;
constexpr unsigned hipStreamNonBlocking = cudaStreamNonBlocking;
constexpr hipDeviceAttribute_t hipDeviceAttributeClockRate = cudaDevAttrClockRate;
constexpr hipDeviceAttribute_t hipDeviceAttributeMemoryClockRate = cudaDevAttrMemoryClockRate;
constexpr hipDeviceAttribute_t hipDeviceAttributeMemoryBusWidth = cudaDevAttrGlobalMemoryBusWidth;
constexpr hipDataType HIP_R_16BF = CUDA_R_16BF;
constexpr hipDataType HIP_R_16F = CUDA_R_16F;
constexpr hipDataType HIP_R_32F = CUDA_R_32F;
constexpr hipDataType HIP_R_8F_E4M3 = CUDA_R_8F_E4M3;
constexpr hipDataType HIP_R_8F_E4M3_FNUZ = kHipE4m3Fnuz;

struct hipDeviceProp_t : cudaDeviceProp {
  char gcnArchName[256];
};

inline hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int device) {
  *properties = {};
  std::strcpy(properties->gcnArchName, "gfx942:sramecc+:xnack-");
  return cudaGetDeviceProperties(properties, device);
}
inline hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int device) {
  return cudaDeviceGetAttribute(value, attribute, device);
}
inline hipError_t hipDeviceCanAccessPeer(int* can, int device, int peer) {
  return cudaDeviceCanAccessPeer(can, device, peer);
}
inline hipError_t hipDeviceEnablePeerAccess(int peer, unsigned flags) {
  return cudaDeviceEnablePeerAccess(peer, flags);
}
inline hipError_t hipDeviceGetPCIBusId(char* text, int length, int device) {
  return cudaDeviceGetPCIBusId(text, length, device);
}
inline hipError_t hipDriverGetVersion(int* version) { return cudaDriverGetVersion(version); }
inline hipError_t hipRuntimeGetVersion(int* version) { return cudaRuntimeGetVersion(version); }
inline hipError_t hipGetDevice(int* device) { return cudaGetDevice(device); }
inline hipError_t hipSetDevice(int device) { return cudaSetDevice(device); }
inline hipError_t hipGetDeviceCount(int* count) { return cudaGetDeviceCount(count); }
inline hipError_t hipGetLastError() { return cudaGetLastError(); }
inline const char* hipGetErrorName(hipError_t error) { return cudaGetErrorName(error); }
inline const char* hipGetErrorString(hipError_t error) { return cudaGetErrorString(error); }

template <class T>
hipError_t hipMalloc(T** memory, std::size_t bytes) {
  return cudaMalloc(memory, bytes);
}
/// With flags, which CUDA's has not.
template <class T>
hipError_t hipHostMalloc(T** memory, std::size_t bytes, unsigned /*flags*/ = 0) {
  return cudaMallocHost(memory, bytes);
}
inline hipError_t hipFree(void* memory) { return cudaFree(memory); }
inline hipError_t hipHostFree(void* memory) { return cudaFreeHost(memory); }
inline hipError_t hipMemcpy(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind) {
  return cudaMemcpy(to, from, bytes, kind);
}
inline hipError_t hipMemcpyAsync(void* to, const void* from, std::size_t bytes, hipMemcpyKind kind,
                                 hipStream_t stream = nullptr) {
  return cudaMemcpyAsync(to, from, bytes, kind, stream);
}
inline hipError_t hipMemcpyPeerAsync(void* to, int to_device, const void* from, int from_device,
                                     std::size_t bytes, hipStream_t stream) {
  return cudaMemcpyPeerAsync(to, to_device, from, from_device, bytes, stream);
}
inline hipError_t hipMemsetAsync(void* memory, int value, std::size_t bytes,
                                 hipStream_t stream = nullptr) {
  return cudaMemsetAsync(memory, value, bytes, stream);
}

/// Of kernels whose types are forgotten; the fake device runs those of cudaLaunchKernel.
hipError_t hipLaunchKernel(const void* kernel, dim3 grid, dim3 threads, void** arguments,
                           std::size_t shared, hipStream_t stream);

inline hipError_t hipDeviceGetStreamPriorityRange(int* least, int* most) {
  return cudaDeviceGetStreamPriorityRange(least, most);
}
inline hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned flags, int priority) {
  return cudaStreamCreateWithPriority(stream, flags, priority);
}
inline hipError_t hipStreamDestroy(hipStream_t stream) { return cudaStreamDestroy(stream); }
inline hipError_t hipStreamWaitEvent(hipStream_t stream, hipEvent_t event, unsigned flags = 0) {
  return cudaStreamWaitEvent(stream, event, flags);
}
inline hipError_t hipStreamBeginCapture(hipStream_t stream, hipStreamCaptureMode mode) {
  return cudaStreamBeginCapture(stream, mode);
}
inline hipError_t hipStreamEndCapture(hipStream_t stream, hipGraph_t* graph) {
  return cudaStreamEndCapture(stream, graph);
}
/// CUDA's with three arguments; hipGraphInstantiate has five.
inline hipError_t hipGraphInstantiateWithFlags(hipGraphExec_t* executable, hipGraph_t graph,
                                               unsigned long long flags) {
  return cudaGraphInstantiate(executable, graph, flags);
}
inline hipError_t hipGraphDestroy(hipGraph_t graph) { return cudaGraphDestroy(graph); }
inline hipError_t hipGraphExecDestroy(hipGraphExec_t executable) {
  return cudaGraphExecDestroy(executable);
}
inline hipError_t hipGraphLaunch(hipGraphExec_t executable, hipStream_t stream) {
  return cudaGraphLaunch(executable, stream);
}
inline hipError_t hipEventCreate(hipEvent_t* event) { return cudaEventCreate(event); }
inline hipError_t hipEventDestroy(hipEvent_t event) { return cudaEventDestroy(event); }
inline hipError_t hipEventRecord(hipEvent_t event, hipStream_t stream = nullptr) {
  return cudaEventRecord(event, stream);
}
inline hipError_t hipEventQuery(hipEvent_t event) { return cudaEventQuery(event); }
inline hipError_t hipEventElapsedTime(float* milliseconds, hipEvent_t start, hipEvent_t end) {
  return cudaEventElapsedTime(milliseconds, start, end);
}

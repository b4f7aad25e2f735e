#pragma once
// What the kernels use of HIP, for compilers without ROCm: declarations by AMD's HIP runtime API
// reference, "HIP C++ language extensions" and "Modules".

#include <cmath>
#include <cstddef>
#include <cstdint>

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))

struct uint2 {
  unsigned x, y;
};
struct uint4 {
  unsigned x, y, z, w;
};
struct float4 {
  float x, y, z, w;
};
struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr __host__ __device__ explicit dim3(unsigned of_x = 1, unsigned of_y = 1, unsigned of_z = 1)
      : x(of_x), y(of_y), z(of_z) {}
};
enum hipError_t { hipSuccess = 0, hipErrorInvalidValue = 1 };
using hipStream_t = struct ihipStream_t*;
extern "C" {
hipError_t hipLaunchKernel(const void* kernel, dim3 grid, dim3 threads, void** arguments,
                           std::size_t shared, hipStream_t stream);
hipError_t __hipPushCallConfiguration(dim3 grid, dim3 threads, std::size_t shared, hipStream_t stream);
hipError_t hipGetLastError();
}

// Work-items by the compiler's builtins, as HIP's own headers have them.
struct HipThreadIndex {
  __device__ operator unsigned() const { return __builtin_amdgcn_workitem_id_x(); }
};
struct HipBlockIndex {
  __device__ operator unsigned() const { return __builtin_amdgcn_workgroup_id_x(); }
};
struct HipBlockSize {
  __device__ operator unsigned() const { return __builtin_amdgcn_workgroup_size_x(); }
};
struct HipGridSize {
  __device__ operator unsigned() const {
    return __builtin_amdgcn_grid_size_x() / __builtin_amdgcn_workgroup_size_x();
  }
};
struct {
  HipThreadIndex x;
} static const __device__ threadIdx;
struct {
  HipBlockIndex x;
} static const __device__ blockIdx;
struct {
  HipBlockSize x;
} static const __device__ blockDim;
struct {
  HipGridSize x;
} static const __device__ gridDim;

__device__ inline float __shfl_xor(float value, int lanes_apart, int /*width*/) {
  const int lane = __builtin_amdgcn_mbcnt_hi(~0U, __builtin_amdgcn_mbcnt_lo(~0U, 0U));
  const int got = __builtin_amdgcn_ds_bpermute(4 * (lane ^ lanes_apart), __builtin_bit_cast(int, value));
  return __builtin_bit_cast(float, got);
}
__device__ inline void __syncthreads() {
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, "workgroup");
}
__device__ inline long long clock64() { return static_cast<long long>(__builtin_readcyclecounter()); }
__device__ inline unsigned long long wall_clock64() { return __builtin_readcyclecounter(); }
__device__ inline float __uint_as_float(unsigned bits) { return __builtin_bit_cast(float, bits); }
__device__ inline unsigned __float_as_uint(float value) { return __builtin_bit_cast(unsigned, value); }
__device__ inline float __expf(float x) { return __builtin_exp2f(1.442695041F * x); }
__device__ inline float rsqrtf(float x) { return __builtin_amdgcn_rsqf(x); }
__device__ inline float fmaxf(float a, float b) { return __builtin_fmaxf(a, b); }
__device__ inline float exp2f(float x) { return __builtin_exp2f(x); }
__device__ inline float sqrtf(float x) { return __builtin_sqrtf(x); }
__device__ inline float roundf(float x) { return __builtin_roundf(x); }
__device__ inline float rintf(float x) { return __builtin_rintf(x); }
__device__ inline float logf(float x) { return __builtin_logf(x); }
__device__ inline float fabsf(float a) { return __builtin_fabsf(a); }
__device__ inline void __sincosf(float x, float* sine, float* cosine) {
  *sine = __builtin_amdgcn_sinf(0.159154943F * x);
  *cosine = __builtin_amdgcn_cosf(0.159154943F * x);
}

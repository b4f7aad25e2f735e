#pragma once

#include <dlfcn.h>

#include <string>

namespace headway {

/// An H100 SXM as cuDNN describes devices; figures of NVIDIA's "H100 Tensor Core GPU Architecture"
/// and of compute capability 9.0 in the "CUDA C++ Programming Guide".
inline std::string h100_text() {
  return R"({"maxGridSize":[2147483647,65535,65535],"maxBlockSize":[1024,1024,64],
"regsPerBlock":65536,"multiProcessorCount":132,"warpSize":32,"maxSharedMemoryPerBlock":49152,
"maxSharedMemoryPerBlockOptin":232448,"reservedSharedMemoryPerBlock":1024,
"maxRegistersPerSM":65536,"maxCtasPerSM":32,"maxThreadsPerBlock":1024,"maxThreadsPerSM":2048,
"pciDeviceId":0,"isTccDriver":0,"supportCoopLaunch":1,"totalGlobalMem":85014413312,
"smClockRateKHz":1980000,"memClockRateKHz":2619000,"l2CacheSize":52428800,"cudaDeviceId":0,
"deviceVer":900,"driverVer":13000,"deviceName":"NVIDIA H100 80GB HBM3"})";
}

/// cuDNN compiles for a device only where it finds the driver's library by this name: the driver's
/// own, or the one that the toolkit links against in its place, which every later search then finds
/// loaded.
inline bool has_driver_library() {
  if (dlopen("libcuda.so.1", RTLD_NOW) != nullptr) return true;
#ifdef HEADWAY_DRIVER_LINK_LIBRARY
  return dlopen(HEADWAY_DRIVER_LINK_LIBRARY, RTLD_NOW) != nullptr;
#else
  return false;
#endif
}

}  // namespace headway

#pragma once

#include "calibrate/cuda/device_monitor.h"

namespace headway {

/// What we call of NVML (its API reference, "Device Queries"). Every call returns 0 for success.
struct NvmlCalls {
  using Device = void*;
  int (*initialise)() = nullptr;
  int (*shut_down)() = nullptr;
  int (*device_by_bus_id)(const char* bus_id, Device* device) = nullptr;
  int (*clock)(Device device, int kind, unsigned* megahertz) = nullptr;
  // Null: nobody tells.
  int (*throttle_reasons)(Device device, unsigned long long* reasons) = nullptr;
  int (*milliwatts)(Device device, unsigned* milliwatts) = nullptr;
  int (*processes)(Device device, unsigned* count, void* room_for_them) = nullptr;
};

/// Those of the driver that is installed; nothing where there is none.
[[nodiscard]] std::optional<NvmlCalls> installed_nvml();
/// Null where there are no calls, or they do not know the device.
[[nodiscard]] std::unique_ptr<DeviceMonitor> nvml_monitor(const std::optional<NvmlCalls>& calls,
                                                          const std::string& bus_id);

}  // namespace headway

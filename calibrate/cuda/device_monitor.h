#pragma once

#include <optional>
#include <string>

#include "calibrate/suite/backend.h"

namespace headway {

/// What we call of NVML, the driver's library of device states (its API reference, "Device
/// Queries"). Every call returns 0 for success. Declared here, as toolkits come without its header.
struct NvmlCalls {
  using Device = void*;
  int (*initialise)() = nullptr;
  int (*shut_down)() = nullptr;
  int (*device_by_bus_id)(const char* bus_id, Device* device) = nullptr;
  int (*clock)(Device device, int kind, unsigned* megahertz) = nullptr;
  int (*milliwatts)(Device device, unsigned* milliwatts) = nullptr;  ///< null: nobody tells
  int (*throttle_reasons)(Device device, unsigned long long* reasons) = nullptr;
};

/// Those of the driver that is installed; nothing where there is none.
[[nodiscard]] std::optional<NvmlCalls> installed_nvml();

/// Watches the clock of one device.
class DeviceMonitor {
 public:
  /// Watches nothing if there are no calls, or they do not know the device.
  DeviceMonitor(const std::optional<NvmlCalls>& calls, const std::string& bus_id);
  ~DeviceMonitor();
  DeviceMonitor(const DeviceMonitor&) = delete;
  DeviceMonitor& operator=(const DeviceMonitor&) = delete;

  [[nodiscard]] bool watches() const { return device_ != nullptr; }
  [[nodiscard]] DeviceState state() const;

 private:
  std::optional<NvmlCalls> calls_;
  NvmlCalls::Device device_ = nullptr;
};

}  // namespace headway

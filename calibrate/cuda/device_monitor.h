#pragma once

#include <dlfcn.h>

#include <memory>
#include <optional>
#include <string>

#include "calibrate/suite/backend.h"

namespace headway {

/// Watches one device by the library of its driver: NVML (nvml_monitor.h), or ROCm SMI
/// (rocm_monitor.h). Both are opened while the program runs, as toolkits come without them.
class DeviceMonitor {
 public:
  DeviceMonitor() = default;
  virtual ~DeviceMonitor() = default;
  DeviceMonitor(const DeviceMonitor&) = delete;
  DeviceMonitor& operator=(const DeviceMonitor&) = delete;

  /// Clock, power and what holds the clock down, as far as the library tells them.
  [[nodiscard]] virtual DeviceState state() const = 0;
  /// Processes that compute on the device, this one too once it does; nothing where nobody tells.
  [[nodiscard]] virtual std::optional<int> processes() const { return std::nullopt; }
};

/// The monitor of the device at that place of the PCI bus ("0000:1b:00.0"); null where there is no
/// library, or it does not know the device.
[[nodiscard]] std::unique_ptr<DeviceMonitor> installed_monitor(const std::string& bus_id);

/// A function of an open library; false where it has none of that name.
template <class Function>
[[nodiscard]] bool load(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace headway

#pragma once

#include <cstdint>

#include "calibrate/cuda/device_monitor.h"

namespace headway {

/// Clocks that a device has, and which of them it runs at: rsmi_frequencies_t of ROCm 6 and later.
struct RocmFrequencies {
  bool has_deep_sleep = false;
  std::uint32_t count = 0;
  std::uint32_t current = 0;
  std::uint64_t hertz[33] = {};
};

/// What we call of ROCm SMI (its rocm_smi.h). Every call returns 0 for success.
struct RocmSmiCalls {
  int (*initialise)(std::uint64_t flags) = nullptr;
  int (*shut_down)() = nullptr;
  int (*devices)(std::uint32_t* count) = nullptr;
  int (*place)(std::uint32_t device, std::uint64_t* bus_device_function) = nullptr;
  int (*clocks)(std::uint32_t device, int kind, RocmFrequencies* clocks) = nullptr;
  int (*microwatts)(std::uint32_t device, std::uint64_t* power, int* kind) = nullptr;  ///< or null
};

/// Those of ROCm 6 or later that is installed; nothing where there is none.
[[nodiscard]] std::optional<RocmSmiCalls> installed_rocm_smi();
/// Null where there are no calls, or they do not know the device. What holds a clock down these
/// calls do not tell.
[[nodiscard]] std::unique_ptr<DeviceMonitor> rocm_monitor(const std::optional<RocmSmiCalls>& calls,
                                                          const std::string& bus_id);

}  // namespace headway

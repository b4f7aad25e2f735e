#include "calibrate/cuda/device_monitor.h"

#include <dlfcn.h>

#include <array>
#include <utility>

namespace headway {
namespace {

constexpr int kMultiprocessorClock = 1;  // NVML_CLOCK_SM

/// nvmlClocksThrottleReasons, those that slow a busy device down.
constexpr std::array<std::pair<unsigned long long, const char*>, 7> kReasons = {
    {{0x2, "clocks that were set"},
     {0x4, "power cap"},
     {0x8, "hardware slowdown"},
     {0x10, "sync boost"},
     {0x20, "temperature"},
     {0x40, "temperature (hardware)"},
     {0x80, "power brake"}}};

template <class Function>
bool load(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

}  // namespace

std::optional<NvmlCalls> installed_nvml() {
  // Never closed: the driver keeps threads of its own.
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  NvmlCalls calls;
  const bool is_whole =
      load(library, "nvmlInit_v2", calls.initialise) &&
      load(library, "nvmlShutdown", calls.shut_down) &&
      load(library, "nvmlDeviceGetHandleByPciBusId_v2", calls.device_by_bus_id) &&
      load(library, "nvmlDeviceGetClockInfo", calls.clock) &&
      load(library, "nvmlDeviceGetCurrentClocksThrottleReasons", calls.throttle_reasons);
  (void)load(library, "nvmlDeviceGetPowerUsage", calls.milliwatts);
  return is_whole ? std::optional(calls) : std::nullopt;
}

DeviceMonitor::DeviceMonitor(const std::optional<NvmlCalls>& calls, const std::string& bus_id) {
  if (!calls || calls->initialise() != 0) return;
  calls_ = calls;
  if (calls_->device_by_bus_id(bus_id.c_str(), &device_) != 0) device_ = nullptr;
}

DeviceMonitor::~DeviceMonitor() {
  if (calls_) (void)calls_->shut_down();
}

DeviceState DeviceMonitor::state() const {
  DeviceState state;
  if (!watches()) return state;
  unsigned megahertz = 0;
  if (calls_->clock(device_, kMultiprocessorClock, &megahertz) == 0) {
    state.clock_hz = 1e6 * megahertz;
  }
  unsigned milliwatts = 0;
  if (calls_->milliwatts != nullptr && calls_->milliwatts(device_, &milliwatts) == 0) {
    state.watts = 1e-3 * milliwatts;
  }
  unsigned long long reasons = 0;
  if (calls_->throttle_reasons(device_, &reasons) != 0) return state;
  for (const auto& [bit, name] : kReasons) {
    if ((reasons & bit) != 0) state.throttled_by.insert(name);
  }
  return state;
}

}  // namespace headway

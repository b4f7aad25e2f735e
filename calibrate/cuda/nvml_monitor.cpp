#include "calibrate/cuda/nvml_monitor.h"

#include <array>
#include <utility>

namespace headway {
namespace {

constexpr int kMultiprocessorClock = 1;  // NVML_CLOCK_SM
constexpr int kTooLittleRoom = 7;        // NVML_ERROR_INSUFFICIENT_SIZE

/// nvmlClocksThrottleReasons, those that slow a busy device down.
constexpr std::array<std::pair<unsigned long long, const char*>, 7> kReasons = {
    {{0x2, "clocks that were set"},
     {0x4, "power cap"},
     {0x8, "hardware slowdown"},
     {0x10, "sync boost"},
     {0x20, "temperature"},
     {0x40, "temperature (hardware)"},
     {0x80, "power brake"}}};

class NvmlMonitor final : public DeviceMonitor {
 public:
  NvmlMonitor(const NvmlCalls& calls, NvmlCalls::Device device) : calls_(calls), device_(device) {}
  ~NvmlMonitor() override { (void)calls_.shut_down(); }

  [[nodiscard]] DeviceState state() const override {
    DeviceState state;
    unsigned megahertz = 0;
    if (calls_.clock(device_, kMultiprocessorClock, &megahertz) == 0) {
      state.clock_hz = 1e6 * megahertz;
    }
    unsigned milliwatts = 0;
    if (calls_.milliwatts != nullptr && calls_.milliwatts(device_, &milliwatts) == 0) {
      state.watts = 1e-3 * milliwatts;
    }
    unsigned long long reasons = 0;
    if (calls_.throttle_reasons == nullptr || calls_.throttle_reasons(device_, &reasons) != 0) {
      return state;
    }
    for (const auto& [bit, name] : kReasons) {
      if ((reasons & bit) != 0) state.throttled_by.insert(name);
    }
    return state;
  }

  /// Without room for them it says only how many there are.
  [[nodiscard]] std::optional<int> processes() const override {
    unsigned count = 0;
    if (calls_.processes == nullptr) return std::nullopt;
    const int result = calls_.processes(device_, &count, nullptr);
    if (result != 0 && result != kTooLittleRoom) return std::nullopt;
    return static_cast<int>(count);
  }

 private:
  NvmlCalls calls_;
  NvmlCalls::Device device_;
};

}  // namespace

std::optional<NvmlCalls> installed_nvml() {
  // Never closed: the driver keeps threads of its own.
  void* const library = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return std::nullopt;
  NvmlCalls calls;
  const bool is_whole = load(library, "nvmlInit_v2", calls.initialise) &&
                        load(library, "nvmlShutdown", calls.shut_down) &&
                        load(library, "nvmlDeviceGetHandleByPciBusId_v2", calls.device_by_bus_id) &&
                        load(library, "nvmlDeviceGetClockInfo", calls.clock);
  // The second is what older drivers call it.
  (void)(load(library, "nvmlDeviceGetCurrentClocksEventReasons", calls.throttle_reasons) ||
         load(library, "nvmlDeviceGetCurrentClocksThrottleReasons", calls.throttle_reasons));
  (void)load(library, "nvmlDeviceGetPowerUsage", calls.milliwatts);
  (void)load(library, "nvmlDeviceGetComputeRunningProcesses_v3", calls.processes);
  return is_whole ? std::optional(calls) : std::nullopt;
}

std::unique_ptr<DeviceMonitor> nvml_monitor(const std::optional<NvmlCalls>& calls,
                                            const std::string& bus_id) {
  if (!calls || calls->initialise() != 0) return nullptr;
  NvmlCalls::Device device = nullptr;
  if (calls->device_by_bus_id(bus_id.c_str(), &device) == 0) {
    return std::make_unique<NvmlMonitor>(*calls, device);
  }
  (void)calls->shut_down();
  return nullptr;
}

}  // namespace headway

#include "calibrate/cuda/rocm_monitor.h"

#include <cstdio>

namespace headway {
namespace {

constexpr int kSystemClock = 0;  // RSMI_CLK_TYPE_SYS, that of the compute units

class RocmMonitor final : public DeviceMonitor {
 public:
  RocmMonitor(const RocmSmiCalls& calls, std::uint32_t device) : calls_(calls), device_(device) {}
  ~RocmMonitor() override { (void)calls_.shut_down(); }

  [[nodiscard]] DeviceState state() const override {
    DeviceState state;
    RocmFrequencies clocks;
    if (calls_.clocks(device_, kSystemClock, &clocks) == 0 && clocks.current < clocks.count &&
        clocks.current < std::size(clocks.hertz)) {
      state.clock_hz = static_cast<double>(clocks.hertz[clocks.current]);
    }
    std::uint64_t microwatts = 0;
    int kind = 0;  // of the moment, or averaged, as the device has it
    if (calls_.microwatts != nullptr && calls_.microwatts(device_, &microwatts, &kind) == 0) {
      state.watts = 1e-6 * static_cast<double>(microwatts);
    }
    return state;
  }

 private:
  RocmSmiCalls calls_;
  std::uint32_t device_;
};

/// Domain, bus, device and function as rsmi_dev_pci_id_get packs them; nothing for another text.
std::optional<std::uint64_t> packed_place(const std::string& bus_id) {
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned function = 0;
  if (std::sscanf(bus_id.c_str(), "%x:%x:%x.%x", &domain, &bus, &device, &function) != 4) {
    return std::nullopt;
  }
  return std::uint64_t{domain} << 32U | (bus & 0xffU) << 8U | (device & 0x1fU) << 3U |
         (function & 7U);
}

std::optional<std::uint32_t> device_at(const RocmSmiCalls& calls, const std::string& bus_id) {
  // Bits 16 to 31 are which part of a device it is.
  constexpr std::uint64_t kPlace = 0xffffffff0000ffffU;
  const auto wanted = packed_place(bus_id);
  std::uint32_t count = 0;
  if (!wanted || calls.devices(&count) != 0) return std::nullopt;
  for (std::uint32_t device = 0; device < count; ++device) {
    std::uint64_t place = 0;
    if (calls.place(device, &place) == 0 && (place & kPlace) == *wanted) return device;
  }
  return std::nullopt;
}

}  // namespace

std::optional<RocmSmiCalls> installed_rocm_smi() {
  // Not release 5, whose frequencies are laid out otherwise. Never closed, as NVML.
  void* library = nullptr;
  for (const char* const name : {"librocm_smi64.so.7", "librocm_smi64.so.6"}) {
    if (library == nullptr) library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  if (library == nullptr) return std::nullopt;
  RocmSmiCalls calls;
  const bool is_whole = load(library, "rsmi_init", calls.initialise) &&
                        load(library, "rsmi_shut_down", calls.shut_down) &&
                        load(library, "rsmi_num_monitor_devices", calls.devices) &&
                        load(library, "rsmi_dev_pci_id_get", calls.place) &&
                        load(library, "rsmi_dev_gpu_clk_freq_get", calls.clocks);
  (void)load(library, "rsmi_dev_power_get", calls.microwatts);
  return is_whole ? std::optional(calls) : std::nullopt;
}

std::unique_ptr<DeviceMonitor> rocm_monitor(const std::optional<RocmSmiCalls>& calls,
                                            const std::string& bus_id) {
  if (!calls || calls->initialise(0) != 0) return nullptr;
  if (const auto device = device_at(*calls, bus_id)) {
    return std::make_unique<RocmMonitor>(*calls, *device);
  }
  (void)calls->shut_down();
  return nullptr;
}

}  // namespace headway

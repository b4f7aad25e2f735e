// librocm_smi64.so.6 of the fake device, which the calibrator opens as it opens ROCm's.
#include <cstdint>

extern "C" {
double fake_cuda_clock_hz(int device);  // of the program that opens this
double fake_cuda_watts(int device);

int rsmi_init(std::uint64_t) { return 0; }
int rsmi_shut_down() { return 0; }
int rsmi_num_monitor_devices(std::uint32_t* count) {
  *count = 8;
  return 0;
}
/// The fake device's bus is its number.
int rsmi_dev_pci_id_get(std::uint32_t device, std::uint64_t* place) {
  *place = std::uint64_t{device} << 8U;
  return 0;
}
struct Frequencies {
  bool has_deep_sleep;
  std::uint32_t num_supported;
  std::uint32_t current;
  std::uint64_t frequency[33];
};
int rsmi_dev_gpu_clk_freq_get(std::uint32_t device, int kind, Frequencies* clocks) {
  if (kind != 0) return 2;  // RSMI_STATUS_NOT_SUPPORTED
  clocks->num_supported = 2;
  clocks->current = 1;
  clocks->frequency[0] = 132'000'000;
  clocks->frequency[1] =
      static_cast<std::uint64_t>(fake_cuda_clock_hz(static_cast<int>(device)) + 0.5);
  return 0;
}
int rsmi_dev_power_get(std::uint32_t device, std::uint64_t* microwatts, int* kind) {
  *microwatts = static_cast<std::uint64_t>(1e6 * fake_cuda_watts(static_cast<int>(device)));
  *kind = 1;  // RSMI_CURRENT_POWER
  return 0;
}
}

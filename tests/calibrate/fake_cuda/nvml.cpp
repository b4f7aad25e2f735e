// libnvidia-ml.so.1 of the fake device, which the calibrator opens as it opens the driver's.
#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C" {
double fake_cuda_clock_hz(int device);  // of the program that opens this
double fake_cuda_watts(int device);

int nvmlInit_v2() { return 0; }
int nvmlShutdown() { return 0; }
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus_id, void** device) {
  unsigned bus = 0;
  if (std::sscanf(bus_id, "0000:%x:", &bus) != 1) return 6;  // NVML_ERROR_NOT_FOUND
  const char* const first = std::getenv("FAKE_CUDA_FIRST");
  const auto number = bus - static_cast<unsigned>(first == nullptr ? 0 : std::atoi(first));
  *device = reinterpret_cast<void*>(std::uintptr_t{number} + 1);
  return 0;
}
int nvmlDeviceGetClockInfo(void* device, int kind, unsigned* megahertz) {
  const int number = static_cast<int>(reinterpret_cast<std::uintptr_t>(device)) - 1;
  *megahertz = kind == 1 ? static_cast<unsigned>(1e-6 * fake_cuda_clock_hz(number) + 0.5) : 0;
  return 0;
}
int nvmlDeviceGetPowerUsage(void* device, unsigned* milliwatts) {
  const int number = static_cast<int>(reinterpret_cast<std::uintptr_t>(device)) - 1;
  *milliwatts = static_cast<unsigned>(1e3 * fake_cuda_watts(number));
  return 0;
}
/// With no room for them, how many there are. FAKE_CUDA_OTHERS: processes of other programs.
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, void*) {
  const char* const others = std::getenv("FAKE_CUDA_OTHERS");
  *count = others == nullptr ? 0 : static_cast<unsigned>(std::atoi(others));
  return *count == 0 ? 0 : 7;  // NVML_ERROR_INSUFFICIENT_SIZE
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void* device, unsigned long long* reasons) {
  const int number = static_cast<int>(reinterpret_cast<std::uintptr_t>(device)) - 1;
  *reasons = fake_cuda_clock_hz(number) < 1.9e9 ? 0x4 : 0x1;  // the power cap; idle
  return 0;
}
}

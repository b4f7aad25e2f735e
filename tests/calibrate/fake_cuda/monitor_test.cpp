// What drivers' libraries tell of a device, and what is made of it.
#include <gtest/gtest.h>

#include "calibrate/cuda/nvml_monitor.h"
#include "calibrate/cuda/rocm_monitor.h"

namespace headway {
namespace {

/// A driver that knows one device, at 1500 MHz under its power cap, with two processes on it.
NvmlCalls fake_nvml() {
  NvmlCalls calls;
  calls.initialise = [] { return 0; };
  calls.shut_down = [] { return 0; };
  calls.device_by_bus_id = [](const char* bus_id, NvmlCalls::Device* device) {
    static int one = 0;
    *device = &one;
    return std::string(bus_id) == "0000:01:00.0" ? 0 : 6;  // NVML_ERROR_NOT_FOUND
  };
  calls.clock = [](NvmlCalls::Device, int kind, unsigned* megahertz) {
    *megahertz = kind == 1 ? 1500 : 0;
    return 0;
  };
  calls.throttle_reasons = [](NvmlCalls::Device, unsigned long long* reasons) {
    *reasons = 0x1 | 0x4;  // idle, which slows nothing down, and software power cap
    return 0;
  };
  calls.processes = [](NvmlCalls::Device, unsigned* count, void*) {
    *count = 2;
    return 7;  // NVML_ERROR_INSUFFICIENT_SIZE: there was room for none
  };
  return calls;
}

TEST(NvmlMonitor, TellsTheClockAndWhatHoldsItDownAndWhoComputes) {
  const auto monitor = nvml_monitor(fake_nvml(), "0000:01:00.0");
  ASSERT_NE(monitor, nullptr);
  EXPECT_EQ(monitor->state().clock_hz, 1.5e9);
  EXPECT_EQ(monitor->state().watts, 0.0);  // nobody tells
  EXPECT_EQ(monitor->state().throttled_by, std::set<std::string>({"power cap"}));
  EXPECT_EQ(monitor->processes(), 2);
}

TEST(NvmlMonitor, IsNotThereWithoutADriverOrForAnUnknownDevice) {
  EXPECT_EQ(nvml_monitor(std::nullopt, "0000:01:00.0"), nullptr);
  EXPECT_EQ(nvml_monitor(fake_nvml(), "0000:02:00.0"), nullptr);
}

/// Two devices, 0001:41:00.0 and 0001:c1:00.0 of which it is the third part, at 2100 and 1700 MHz.
RocmSmiCalls fake_rocm_smi() {
  RocmSmiCalls calls;
  calls.initialise = [](std::uint64_t) { return 0; };
  calls.shut_down = [] { return 0; };
  calls.devices = [](std::uint32_t* count) {
    *count = 2;
    return 0;
  };
  // The domain in the upper half, the bus in bits 8 to 15, the part in bits 28 to 31.
  calls.place = [](std::uint32_t device, std::uint64_t* place) {
    *place = device == 0 ? 0x0000000100004100U : 0x000000013000c100U;
    return 0;
  };
  calls.clocks = [](std::uint32_t device, int kind, RocmFrequencies* clocks) {
    if (kind != 0) return 2;  // RSMI_STATUS_NOT_SUPPORTED
    clocks->count = 3;
    clocks->current = device == 0 ? 2 : 1;
    clocks->hertz[0] = 132'000'000;
    clocks->hertz[1] = 1'700'000'000;
    clocks->hertz[2] = 2'100'000'000;
    return 0;
  };
  calls.microwatts = [](std::uint32_t, std::uint64_t* power, int*) {
    *power = 742'500'000;
    return 0;
  };
  return calls;
}

TEST(RocmMonitor, TellsTheClockAndThePowerOfTheDeviceAtThatPlace) {
  const auto first = rocm_monitor(fake_rocm_smi(), "0001:41:00.0");
  const auto second = rocm_monitor(fake_rocm_smi(), "0001:c1:00.0");
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  EXPECT_EQ(first->state().clock_hz, 2.1e9);
  EXPECT_EQ(second->state().clock_hz, 1.7e9);
  EXPECT_EQ(second->state().watts, 742.5);
  EXPECT_EQ(second->processes(), std::nullopt);
}

TEST(RocmMonitor, IsNotThereWithoutADriverOrForAnUnknownDevice) {
  EXPECT_EQ(rocm_monitor(std::nullopt, "0001:41:00.0"), nullptr);
  EXPECT_EQ(rocm_monitor(fake_rocm_smi(), "0000:41:00.0"), nullptr);  // another domain
  EXPECT_EQ(rocm_monitor(fake_rocm_smi(), "nowhere"), nullptr);
}

TEST(RocmMonitor, AClockBeyondThoseThatItKnowsIsNone) {
  RocmSmiCalls calls = fake_rocm_smi();
  calls.clocks = [](std::uint32_t, int, RocmFrequencies* clocks) {
    clocks->count = clocks->current = 33;
    return 0;
  };
  calls.microwatts = nullptr;
  const auto monitor = rocm_monitor(calls, "0001:41:00.0");
  ASSERT_NE(monitor, nullptr);
  EXPECT_EQ(monitor->state().clock_hz, 0.0);
  EXPECT_EQ(monitor->state().watts, 0.0);
}

}  // namespace
}  // namespace headway

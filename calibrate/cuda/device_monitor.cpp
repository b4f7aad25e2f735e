#include "calibrate/cuda/device_monitor.h"

#include "calibrate/cuda/nvml_monitor.h"
#include "calibrate/cuda/rocm_monitor.h"

namespace headway {

std::unique_ptr<DeviceMonitor> installed_monitor(const std::string& bus_id) {
#ifdef __HIP_PLATFORM_AMD__
  return rocm_monitor(installed_rocm_smi(), bus_id);
#else
  return nvml_monitor(installed_nvml(), bus_id);
#endif
}

}  // namespace headway

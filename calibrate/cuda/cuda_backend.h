#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "calibrate/cuda/device_monitor.h"
#include "calibrate/cuda/device_resources.h"
#include "calibrate/cuda/nccl_group.h"
#include "calibrate/suite/backend.h"

namespace headway {

/// The devices of this process: kernels and copies on the first of them, NCCL among all.
class CudaBackend final : public Backend {
 public:
  /// Throws EnvironmentError, in one line, where there is no device that can be used.
  explicit CudaBackend(std::uint64_t seed);
  ~CudaBackend() override;
  [[nodiscard]] const Offer& offer() const override { return offer_; }
  [[nodiscard]] std::unique_ptr<Operation> prepare(const Point& point) override;
  [[nodiscard]] DeviceState state() const override { return monitor_->state(); }

 private:
  struct Pools;
  void fill_at_random(const DevicePool& pool);
  [[nodiscard]] std::unique_ptr<Operation> gemm_operation(const GemmPoint& point);
  [[nodiscard]] std::unique_ptr<Operation> memory_operation(const MemoryPoint& point);
  [[nodiscard]] std::unique_ptr<Operation> copy_operation(const CopyPoint& point);
  [[nodiscard]] std::unique_ptr<Operation> collective_operation(const CollectivePoint& point);

  Offer offer_;
  std::uint32_t random_state_;
  std::unique_ptr<DeviceMonitor> monitor_;
  std::unique_ptr<Pools> pools_;
  std::map<int, std::unique_ptr<NcclGroup>> groups_;  ///< by ranks
};

}  // namespace headway

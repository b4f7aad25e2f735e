#pragma once

#include <cstdint>
#include <memory>

#include "calibrate/cuda/captured_work.h"
#include "calibrate/cuda/device_collectives.h"
#include "calibrate/cuda/device_monitor.h"
#include "calibrate/cuda/device_offer.h"
#include "calibrate/cuda/device_resources.h"
#include "calibrate/cuda/fused_attention.h"
#include "calibrate/suite/backend.h"
#include "kernels/device_kernels.h"

namespace headway {

/// A lone process: kernels and copies on its first device, collectives among all. One of several:
/// all that on the device that is its own, all processes at once, collectives among them.
class CudaBackend final : public Backend {
 public:
  /// Throws EnvironmentError, in one line, where there is no device that can be used.
  /// `local_rank` is this process's number on its node; `rendezvous` outlives this object.
  CudaBackend(std::uint64_t seed, Rendezvous& rendezvous, int local_rank);
  ~CudaBackend() override;
  [[nodiscard]] const Offer& offer() const override { return offer_; }
  [[nodiscard]] std::unique_ptr<Operation> prepare(const Point& point) override;
  /// The one that everything but collectives is measured on.
  [[nodiscard]] int device() const { return device_; }
  [[nodiscard]] DeviceState state() const override {
    return monitor_ == nullptr ? DeviceState{} : monitor_->state();
  }

 private:
  struct Pools;
  void warm_up();
  [[nodiscard]] Seconds measured_gap();
  void fill(RandomFormat format);
  [[nodiscard]] DevicePool* scales(std::size_t bytes, int byte);
  [[nodiscard]] Enqueue gemm_work(const BatchedGemmPoint& point);
  [[nodiscard]] Enqueue memory_work(const MemoryPoint& point);
  [[nodiscard]] FusedAttention& attention();
  [[nodiscard]] Enqueue copy_work(const CopyPoint& point);
  [[nodiscard]] Enqueue local_work(const ConcurrentPoint::Work& work);
  [[nodiscard]] std::unique_ptr<RepeatedWork> repeated(const ConcurrentPoint::Work& work,
                                                       Seconds time);
  [[nodiscard]] std::unique_ptr<Operation> concurrent(const ConcurrentPoint& point);

  int device_;
  DeviceGroup group_;
  Offer offer_;
  std::uint32_t random_state_;
  Seconds gap_;                             ///< between two kernels of a graph
  std::unique_ptr<DeviceMonitor> monitor_;  ///< null where the driver has no library for it
  std::unique_ptr<Pools> pools_;
  std::unique_ptr<FusedAttention> attention_;
  SingleRendezvous alone_;
  Rendezvous& rendezvous_;
  DeviceCollectives collectives_;
};

}  // namespace headway

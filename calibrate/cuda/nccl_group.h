#pragma once

#include <nccl.h>

#include <memory>
#include <vector>

#include "calibrate/cuda/device_resources.h"
#include "calibrate/suite/backend.h"

namespace headway {

/// The first `ranks` devices of this process as one NCCL group. A group of one is refused: NCCL
/// then copies or does nothing, which says nothing about a network.
class NcclGroup {
 public:
  explicit NcclGroup(int ranks);
  ~NcclGroup();
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;

  /// Starts a collective on every device and returns the slowest one's time, by its events. Waits
  /// with a deadline and looks for errors that NCCL reports late; on either the group is aborted,
  /// so that nothing waits for a device that is gone, and EnvironmentError thrown.
  [[nodiscard]] Seconds run(const CollectivePoint& point);

 private:
  struct Rank {
    ncclComm_t communicator = nullptr;
    DeviceStream stream;
    DeviceEvent start;
    DeviceEvent end;
    std::unique_ptr<DevicePool> out;
    std::unique_ptr<DevicePool> in;
  };
  void enqueue(const CollectivePoint& point, std::size_t rank);
  void enqueue_pairs(Rank& rank, std::size_t index, std::size_t each, bool to_all);
  void make_room(std::size_t bytes);
  void wait();
  void abort();

  std::vector<std::unique_ptr<Rank>> ranks_;
};

}  // namespace headway

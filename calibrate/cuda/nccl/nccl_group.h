#pragma once

#include <memory>
#include <vector>

#include "calibrate/cuda/device_resources.h"
#include "calibrate/cuda/nccl/nccl_api.h"
#include "calibrate/cuda/nccl/nccl_buffer.h"
#include "calibrate/cuda/stream_hold.h"
#include "calibrate/suite/point.h"

namespace headway {

/// An NCCL group, as far as this process takes part in it. A group of one is refused: NCCL then
/// copies or does nothing, which says nothing about a network.
///
/// Waits have a deadline and look for errors that NCCL reports late; on either the group is
/// aborted, so that nothing waits for a device that is gone, and EnvironmentError thrown.
class NcclGroup {
 public:
  /// `ranks` devices of this process, from `first_device` on.
  NcclGroup(int ranks, int first_device, BufferRegistration registration);
  /// One device of this process among `ranks` processes, which all give the same `id`.
  NcclGroup(int ranks, int rank, const ncclUniqueId& id, int device,
            BufferRegistration registration);
  ~NcclGroup();
  NcclGroup(const NcclGroup&) = delete;
  NcclGroup& operator=(const NcclGroup&) = delete;

  /// Enqueues repetitions of a collective on this process's devices, not to begin before the event
  /// `after`, unless that is null, nor before all are enqueued: one thread that drives eight devices
  /// needs three times as long for a small one as they do.
  void start(const CollectivePoint& point, int repetitions, cudaEvent_t after = nullptr);
  /// Recorded where the first member's repetitions begin.
  [[nodiscard]] cudaEvent_t begun() const { return members_.front()->start; }
  /// Whether this process's devices have done what was started.
  [[nodiscard]] bool has_ended() const;
  /// Waits for them; the slowest device's time, by its events.
  [[nodiscard]] Seconds finish();
  /// Gives the memory back until the next start. Call on all processes of the group.
  void release_buffers();

 private:
  struct Member {
    int rank = 0;
    int device = 0;
    ncclComm_t communicator = nullptr;
    std::unique_ptr<NcclBuffer> out = {};
    std::unique_ptr<NcclBuffer> in = {};
    DeviceStream stream{StreamPriority::urgent};
    DeviceEvent start = {};
    DeviceEvent end = {};
  };
  void add_member(int rank, int device);
  void connect(const ncclUniqueId& id);
  void enqueue(const CollectivePoint& point, Member& member) const;
  void enqueue_pairs(Member& member, std::size_t each, bool to_all) const;
  void make_room(std::size_t bytes);
  template <class Call>
  void as_one_group(Call call);
  void settle();
  void abort();

  std::size_t ranks_;
  BufferRegistration registration_;
  StreamHold hold_;
  std::vector<std::unique_ptr<Member>> members_;
};

}  // namespace headway

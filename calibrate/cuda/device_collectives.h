#pragma once

#include <memory>
#include <string>
#include <vector>

#include "calibrate/cuda/device_work.h"
#include "calibrate/suite/backend.h"
#include "calibrate/suite/rendezvous.h"

namespace headway {

/// Collectives among all devices of a lone process, or among processes with a device each: by NCCL
/// where the program was built with it (folder nccl/), else none (no_nccl/).
class DeviceCollectives {
 public:
  /// Why there are none in this program; empty: there are.
  [[nodiscard]] static std::string lacks();
  /// The library's version; empty where there is none.
  [[nodiscard]] static std::string version();
  /// Ways to run them; `concurrent`: as many disjoint groups as there are ranks for at once. The
  /// first stands for collectives in a profile.
  struct Implementation {
    std::string name;
    bool concurrent = false;
  };
  [[nodiscard]] static std::vector<Implementation> implementations();

  /// `devices` take part; `device` is this process's own where there are others. `rendezvous`
  /// outlives this object.
  DeviceCollectives(Rendezvous& rendezvous, int devices, int device);
  ~DeviceCollectives();

  /// Call on all processes, in the same order. `gap` passes between two kernels of a stream and
  /// counts as no collective's.
  [[nodiscard]] std::unique_ptr<Operation> prepare(const CollectivePoint& point, Seconds gap);
  /// Repetitions of a collective among all devices that take at least `time` on every process.
  /// Likewise called on all of them.
  [[nodiscard]] std::unique_ptr<DeviceWork> work(const CollectivePoint& point, Seconds time,
                                                 Seconds gap);

 private:
  class Library;
  std::unique_ptr<Library> library_;
};

}  // namespace headway

#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "calibrate/cuda/nccl_group.h"
#include "calibrate/suite/backend.h"
#include "calibrate/suite/rendezvous.h"

namespace headway {

/// Collectives among all devices of a lone process, or among processes with a device each.
class NcclCollectives {
 public:
  /// `devices` take part; `device` is this process's own where there are others. `rendezvous`
  /// outlives this object.
  NcclCollectives(Rendezvous& rendezvous, int devices, int device)
      : rendezvous_(rendezvous), devices_(devices), device_(device) {}

  /// Call on all processes, in the same order.
  [[nodiscard]] std::unique_ptr<Operation> prepare(const CollectivePoint& point);

 private:
  using Groups = std::vector<std::unique_ptr<NcclGroup>>;
  [[nodiscard]] Groups made(const CollectivePoint& point);

  Rendezvous& rendezvous_;
  int devices_;
  int device_;
  std::map<std::pair<std::string, int>, Groups> groups_;  ///< by implementation and ranks
  Groups* last_ = nullptr;                                ///< only these hold memory
};

}  // namespace headway

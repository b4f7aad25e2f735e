#include "calibrate/cuda/nccl_collectives.h"

#include "calibrate/suite/agreed_operation.h"

namespace headway {

NcclCollectives::Groups NcclCollectives::made(const CollectivePoint& point) {
  const NcclImplementation& implementation = nccl_implementation(point.implementation);
  const int count = implementation.concurrent ? devices_ / point.ranks : 1;
  const BufferRegistration registration = implementation.registration;
  Groups groups;
  if (rendezvous_.size() == 1) {
    for (int i = 0; i < count; ++i) {
      groups.push_back(std::make_unique<NcclGroup>(point.ranks, i * point.ranks, registration));
    }
    return groups;
  }
  std::vector<ncclUniqueId> ids(static_cast<std::size_t>(count));
  if (rendezvous_.rank() == 0) {
    for (ncclUniqueId& id : ids) HEADWAY_CUDA(ncclGetUniqueId(&id));
  }
  rendezvous_.broadcast(std::as_writable_bytes(std::span(ids)));
  const int mine = rendezvous_.rank() / point.ranks;
  if (mine < count) {
    groups.push_back(std::make_unique<NcclGroup>(point.ranks, rendezvous_.rank() % point.ranks,
                                                 ids[static_cast<std::size_t>(mine)], device_,
                                                 registration));
  }
  return groups;
}

std::unique_ptr<Operation> NcclCollectives::prepare(const CollectivePoint& point) {
  const std::pair key(point.implementation, point.ranks);
  auto found = groups_.find(key);
  if (found == groups_.end()) found = groups_.emplace(key, made(point)).first;
  Groups& groups = found->second;
  if (last_ != nullptr && last_ != &groups) {
    for (const auto& group : *last_) group->release_buffers();
  }
  last_ = &groups;
  AgreedOperation::Run run;
  if (!groups.empty()) {
    run = [&groups, point](int repetitions) {
      for (const auto& group : groups) group->start(point, repetitions);
      Seconds slowest;
      for (const auto& group : groups) slowest = max(slowest, group->finish());
      return slowest;
    };
  }
  return std::make_unique<AgreedOperation>(rendezvous_, std::move(run));
}

}  // namespace headway

#include "calibrate/cuda/device_collectives.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>
#include <utility>

#include "calibrate/cuda/nccl/nccl_check.h"
#include "calibrate/cuda/nccl/nccl_group.h"
#include "calibrate/cuda/nccl/nccl_implementation.h"
#include "calibrate/suite/agreed_operation.h"

namespace headway {
namespace {

/// Every process repeats a collective as often as the others, or it would wait for ever.
class NcclWork final : public DeviceWork {
 public:
  NcclWork(NcclGroup& group, const CollectivePoint& point, Seconds time, Seconds gap,
           Rendezvous& rendezvous)
      : group_(group), point_(point), gap_(gap) {
    NcclWork::launch(nullptr);
    (void)group_.finish();  // connections are made by the first one
    NcclWork::launch(nullptr);
    const auto most = [&rendezvous](Seconds mine) {
      const auto all = rendezvous.all_gather(mine.count());
      return *std::max_element(all.begin(), all.end());
    };
    const double once = std::max(most(group_.finish()), 1e-7);
    once_ = Seconds(once);
    repetitions_ = static_cast<int>(std::clamp(std::ceil(most(time) / once), 1.0, 200.0));
  }

  void launch(const RepeatedWork* after) override {
    group_.start(point_, repetitions_, event_of(after));
  }
  [[nodiscard]] bool has_ended() const override { return group_.has_ended(); }
  [[nodiscard]] Seconds finish() override { return group_.finish() / repetitions_ - gap_; }
  [[nodiscard]] Seconds expected_time() const override { return repetitions_ * once_; }
  void double_repetitions() override { repetitions_ *= 2; }
  [[nodiscard]] cudaEvent_t begun() const override { return group_.begun(); }

 private:
  NcclGroup& group_;
  CollectivePoint point_;
  Seconds gap_;
  Seconds once_;
  int repetitions_ = 1;
};

}  // namespace

class DeviceCollectives::Library {
 public:
  Library(Rendezvous& rendezvous, int devices, int device)
      : rendezvous_(rendezvous), devices_(devices), device_(device) {}
  [[nodiscard]] std::unique_ptr<Operation> prepare(const CollectivePoint& point, Seconds gap);
  [[nodiscard]] std::unique_ptr<DeviceWork> work(const CollectivePoint& point, Seconds time,
                                                 Seconds gap);

 private:
  using Groups = std::vector<std::unique_ptr<NcclGroup>>;
  [[nodiscard]] Groups made(const CollectivePoint& point);
  [[nodiscard]] Groups& groups_of(const CollectivePoint& point);

  Rendezvous& rendezvous_;
  int devices_;
  int device_;
  std::map<std::pair<std::string, int>, Groups> groups_;  ///< by implementation and ranks
  Groups* last_ = nullptr;                                ///< only these hold memory
};

DeviceCollectives::Library::Groups DeviceCollectives::Library::made(const CollectivePoint& point) {
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

DeviceCollectives::Library::Groups& DeviceCollectives::Library::groups_of(
    const CollectivePoint& point) {
  const std::pair key(point.implementation, point.ranks);
  auto found = groups_.find(key);
  if (found == groups_.end()) found = groups_.emplace(key, made(point)).first;
  Groups& groups = found->second;
  if (last_ != nullptr && last_ != &groups) {
    for (const auto& group : *last_) group->release_buffers();
  }
  last_ = &groups;
  return groups;
}

std::unique_ptr<Operation> DeviceCollectives::Library::prepare(const CollectivePoint& point,
                                                               Seconds gap) {
  Groups& groups = groups_of(point);
  AgreedOperation::Run run;
  if (!groups.empty()) {
    run = [&groups, point, gap](int repetitions) {
      for (const auto& group : groups) group->start(point, repetitions);
      Seconds slowest;
      for (const auto& group : groups) slowest = max(slowest, group->finish());
      return slowest - repetitions * gap;
    };
  }
  return std::make_unique<AgreedOperation>(rendezvous_, std::move(run));
}

std::unique_ptr<DeviceWork> DeviceCollectives::Library::work(const CollectivePoint& point,
                                                             Seconds time, Seconds gap) {
  HEADWAY_CHECK(point.ranks == devices_, "all devices take part in what runs beside compute");
  return std::make_unique<NcclWork>(*groups_of(point).front(), point, time, gap, rendezvous_);
}

std::string DeviceCollectives::lacks() { return ""; }

std::string DeviceCollectives::version() {
  int number = 0;
  HEADWAY_CUDA(ncclGetVersion(&number));
  return fmt::format("{}", number);
}

std::vector<DeviceCollectives::Implementation> DeviceCollectives::implementations() {
  std::vector<Implementation> all;
  for (const NcclImplementation& one : nccl_implementations()) {
    all.push_back({one.name, one.concurrent});
  }
  return all;
}

DeviceCollectives::DeviceCollectives(Rendezvous& rendezvous, int devices, int device)
    : library_(std::make_unique<Library>(rendezvous, devices, device)) {}
DeviceCollectives::~DeviceCollectives() = default;

std::unique_ptr<Operation> DeviceCollectives::prepare(const CollectivePoint& point, Seconds gap) {
  return library_->prepare(point, gap);
}

std::unique_ptr<DeviceWork> DeviceCollectives::work(const CollectivePoint& point, Seconds time,
                                                    Seconds gap) {
  return library_->work(point, time, gap);
}

}  // namespace headway

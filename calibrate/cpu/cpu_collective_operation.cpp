#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "calibrate/cpu/collectives.h"
#include "calibrate/cpu/cpu_operations.h"
#include "calibrate/cpu/thread_clock.h"
#include "calibrate/cpu/transport_rendezvous.h"
#include "sim/base/diagnostic.h"

namespace headway {
namespace {

/// As the gradients of a small network's layers come: one after the other, when their links have
/// stood idle during the computation before. A token bucket fills in that time, and what it lets
/// through at once is shared by all of them.
constexpr int kBurst = 4;
constexpr Seconds kIdle = 5.0_ms;

class CollectiveOperation final : public Operation {
 public:
  CollectiveOperation(const CollectivePoint& point, Transport& transport,
                      LibraryCollectives* library, bool in_bursts)
      : point_(point),
        burst_(in_bursts && point.kind == CollectiveKind::all_reduce ? kBurst : 1),
        transport_(transport),
        library_(library),
        collectives_(transport, point.ranks),
        data_(std::max<std::size_t>(point.message_bytes / sizeof(float), 1), 0.5F),
        received_(data_.size()) {}

  /// After a barrier, so that waiting for a late rank is not counted; the slowest rank's time.
  /// Sums grow with each repetition, so the data are set afresh.
  Sample repeat() override {
    std::fill(data_.begin(), data_.end(), 1e-3F);
    if (burst_ > 1) {
      const timespec pause{0, static_cast<long>(1e9 * kIdle.count())};
      nanosleep(&pause, nullptr);
    }
    (void)group_max(transport_, point_.ranks, 0.0);
    const ThreadClock clock;
    for (int i = 0; i < burst_; ++i) run();
    const Sample mine = clock.elapsed();
    const double time = group_max(transport_, point_.ranks, mine.time.count()) / burst_;
    const double contaminated = group_max(transport_, point_.ranks, mine.contaminated ? 1.0 : 0.0);
    // Ranks that share processors take them from each other, which is no contamination.
    return {Seconds(time), contaminated > 0.0 && point_.ranks <= processors_,
            Seconds((burst_ - 1) * time) + (burst_ > 1 ? kIdle : Seconds(0.0))};
  }

 private:
  void run() {
    switch (point_.kind) {
      case CollectiveKind::all_reduce:
        return all_reduce();
      case CollectiveKind::all_gather:
        return collectives_.ring_all_gather(data_);
      case CollectiveKind::reduce_scatter:
        return collectives_.ring_reduce_scatter(data_);
      case CollectiveKind::broadcast:
        return collectives_.chain_broadcast(data_);
      case CollectiveKind::all_to_all:
        return collectives_.pairwise_all_to_all(data_, received_);
      case CollectiveKind::send_receive:
        return collectives_.ring_send_receive(data_, received_);
    }
  }
  void all_reduce() {
    if (point_.implementation == "ring") return collectives_.ring_all_reduce(data_);
    if (point_.implementation == "tree") return collectives_.tree_all_reduce(data_);
    if (point_.implementation == kLibraryImplementation && library_ != nullptr) {
      return library_->all_reduce(data_, point_.ranks);
    }
    const bool is_power_of_two = (point_.ranks & (point_.ranks - 1)) == 0;
    HEADWAY_CHECK(point_.implementation == "recursive_doubling" && is_power_of_two,
                  "an implementation that was not offered");
    collectives_.recursive_doubling_all_reduce(data_);
  }

  CollectivePoint point_;
  int burst_;
  Transport& transport_;
  LibraryCollectives* library_;
  Collectives collectives_;
  std::vector<float> data_;
  std::vector<float> received_;
  long processors_ = sysconf(_SC_NPROCESSORS_ONLN);
};

}  // namespace

std::unique_ptr<Operation> cpu_collective_operation(const CollectivePoint& point,
                                                    Transport& transport,
                                                    LibraryCollectives* library, bool in_bursts) {
  if (transport.rank() >= point.ranks) return nullptr;
  return std::make_unique<CollectiveOperation>(point, transport, library, in_bursts);
}

}  // namespace headway

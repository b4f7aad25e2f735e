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

/// How a sample is taken over links of limited rate, whose token buckets fill while they stand
/// idle and let so much through at once.
struct Conditions {
  Seconds idle;         ///< before the sample, so that buckets are full
  int untimed = 0;      ///< repetitions that empty them
  int repetitions = 1;  ///< that are timed, one right after the other
};

/// All-reduces as the gradients of a small network's layers come: one after the other, when their
/// links have stood idle during the computation before. Messages between neighbours at the rate
/// that lasts, as whoever knows the bucket also knows what it saves.
Conditions over_limited_links(CollectiveKind kind) {
  if (kind == CollectiveKind::all_reduce) return {.idle = 5.0_ms, .repetitions = 4};
  if (kind == CollectiveKind::send_receive) return {.untimed = 1, .repetitions = 2};
  return {};
}

class CollectiveOperation final : public Operation {
 public:
  CollectiveOperation(const CollectivePoint& point, Transport& transport,
                      LibraryCollectives* library, bool limited_links)
      : point_(point),
        conditions_(limited_links ? over_limited_links(point.kind) : Conditions{}),
        transport_(transport),
        library_(library),
        collectives_(transport, point.ranks),
        data_(std::max<std::size_t>(point.message_bytes / sizeof(float), 1), 0.5F),
        received_(data_.size()) {}

  /// After a barrier, so that waiting for a late rank is not counted; the slowest rank's time.
  /// Sums grow with each repetition, so the data are set afresh.
  Sample repeat() override {
    std::fill(data_.begin(), data_.end(), 1e-3F);
    if (conditions_.idle > Seconds(0.0)) {
      const timespec pause{0, static_cast<long>(1e9 * conditions_.idle.count())};
      nanosleep(&pause, nullptr);
    }
    (void)group_max(transport_, point_.ranks, 0.0);
    for (int i = 0; i < conditions_.untimed; ++i) run();
    const ThreadClock clock;
    for (int i = 0; i < conditions_.repetitions; ++i) run();
    const Sample mine = clock.elapsed();
    const Seconds time(group_max(transport_, point_.ranks, mine.time.count()) /
                       conditions_.repetitions);
    const double contaminated = group_max(transport_, point_.ranks, mine.contaminated ? 1.0 : 0.0);
    const int besides = conditions_.untimed + conditions_.repetitions - 1;
    // Ranks that share processors take them from each other, which is no contamination.
    return {time, contaminated > 0.0 && point_.ranks <= processors_,
            conditions_.idle + besides * time};
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
      case CollectiveKind::reduce:
      case CollectiveKind::gather:
      case CollectiveKind::scatter:
        HEADWAY_CHECK(false, "a collective that is not measured");
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
  Conditions conditions_;
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
                                                    LibraryCollectives* library,
                                                    bool limited_links) {
  if (transport.rank() >= point.ranks) return nullptr;
  return std::make_unique<CollectiveOperation>(point, transport, library, limited_links);
}

}  // namespace headway

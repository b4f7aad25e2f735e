#pragma once

#include <utility>
#include <vector>

namespace headway {

/// Which data-parallel replicas a workload holds, and where its rank groups stand in it.
class LaidOutReplicas {
 public:
  LaidOutReplicas() = default;
  LaidOutReplicas(std::vector<int> replicas, int of_job, int stages)
      : replicas_(std::move(replicas)),
        place_of_(static_cast<std::size_t>(of_job), kNotLaidOut),
        stages_(stages) {
    for (std::size_t i = 0; i < replicas_.size(); ++i) {
      place_of_[static_cast<std::size_t>(replicas_[i])] = static_cast<int>(i);
    }
  }

  [[nodiscard]] const std::vector<int>& all() const { return replicas_; }
  [[nodiscard]] bool has(int replica) const {
    return place_of_[static_cast<std::size_t>(replica)] != kNotLaidOut;
  }
  /// Of every `step`-th replica from `first` to before `end`.
  [[nodiscard]] bool has_any(int first, int end, int step) const {
    for (int replica = first; replica < end; replica += step) {
      if (has(replica)) return true;
    }
    return false;
  }
  /// The rank group of a replica's stage, counted through all groups.
  [[nodiscard]] std::size_t index(int replica, int stage) const {
    const int place = place_of_[static_cast<std::size_t>(replica)];
    return static_cast<std::size_t>(place) * static_cast<std::size_t>(stages_) +
           static_cast<std::size_t>(stage);
  }

 private:
  static constexpr int kNotLaidOut = -1;

  std::vector<int> replicas_;
  std::vector<int> place_of_;  ///< of each replica of the job among them
  int stages_ = 1;
};

}  // namespace headway

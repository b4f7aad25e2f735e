#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "sim/base/index.h"

namespace headway {

/// The k-th collective of a communicator.
struct CollectiveNumber {
  std::int32_t communicator = -1;
  std::int32_t instance = -1;
};

/// Collectives of communicators that share a queue: one is under way, others wait in the order in
/// which they were ready.
class CollectiveQueues {
 public:
  void resize(std::size_t queues) { queues_.resize(queues); }

  /// Whether a collective that is ready starts now; else it waits.
  bool enters(std::int32_t queue, CollectiveNumber ready) {
    Queue& of = at(queues_, queue);
    if (of.is_busy) of.waiting.push_back(ready);
    return !std::exchange(of.is_busy, true);
  }

  /// The one under way is done. Returns that which starts now.
  std::optional<CollectiveNumber> leaves(std::int32_t queue) {
    Queue& of = at(queues_, queue);
    of.is_busy = !of.waiting.empty();
    if (!of.is_busy) return std::nullopt;
    const CollectiveNumber next = of.waiting.front();
    of.waiting.erase(of.waiting.begin());
    return next;
  }

 private:
  struct Queue {
    bool is_busy = false;
    std::vector<CollectiveNumber> waiting;
  };
  std::vector<Queue> queues_;
};

}  // namespace headway

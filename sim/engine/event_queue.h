#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace headway {

enum class EventKind : std::uint8_t {
  block_done,
  latency_over,
  flow_done,
  server_done,
  link_change,
  background
};

struct Event {
  double time;
  EventKind kind;
  std::int32_t id;
  std::uint32_t version;  ///< flow_done: stale unless it is the flow's latest
};

/// Future events, earliest first; equal times in the order they were pushed. A heap whose nodes
/// have four children: half as deep as one of two, and the children of a node lie side by side.
class EventQueue {
 public:
  void push(double time, EventKind kind, std::int32_t id, std::uint32_t version = 0) {
    const Node node{time, next_++ << kKindBits | static_cast<std::uint64_t>(kind), id, version};
    std::size_t at = heap_.size();
    heap_.push_back(node);
    while (at > 0) {
      const std::size_t parent = (at - 1) / kChildren;
      if (!is_before(node, heap_[parent])) break;
      heap_[at] = heap_[parent];
      at = parent;
    }
    heap_[at] = node;
  }
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] double next_time() const { return heap_.front().time; }
  Event pop() {
    const Node first = heap_.front();
    const Node last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
    return {first.time, static_cast<EventKind>(first.order & ((1U << kKindBits) - 1)), first.id,
            first.version};
  }
  [[nodiscard]] std::uint64_t pushed() const { return next_; }

 private:
  static constexpr std::size_t kChildren = 4;
  static constexpr int kKindBits = 3;

  struct Node {
    double time;
    std::uint64_t order;  ///< number of the push, then the kind
    std::int32_t id;
    std::uint32_t version;
  };

  static bool is_before(const Node& a, const Node& b) {
    return a.time < b.time || (a.time == b.time && a.order < b.order);
  }

  /// Puts a node in the place of the first: the hole goes down to the end, since what was last
  /// belongs there most often, and the node up from it.
  void sink(const Node& node) {
    const std::size_t size = heap_.size();
    std::size_t hole = 0;
    for (std::size_t child = 1; child < size; child = hole * kChildren + 1) {
      const std::size_t end = std::min(child + kChildren, size);
      std::size_t first = child;
      for (std::size_t other = child + 1; other < end; ++other) {
        if (is_before(heap_[other], heap_[first])) first = other;
      }
      heap_[hole] = heap_[first];
      hole = first;
    }
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / kChildren;
      if (!is_before(node, heap_[parent])) break;
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = node;
  }

  std::vector<Node> heap_;
  std::uint64_t next_ = 0;
};

}  // namespace headway

#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
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
  std::uint64_t sequence;  ///< equal times are handled in the order they were pushed
  EventKind kind;
  std::int32_t id;
  std::uint32_t version;  ///< flow_done: stale unless it is the flow's latest

  friend bool operator>(const Event& a, const Event& b) {
    return a.time != b.time ? a.time > b.time : a.sequence > b.sequence;
  }
};

/// Future events, earliest first.
class EventQueue {
 public:
  void push(double time, EventKind kind, std::int32_t id, std::uint32_t version = 0) {
    heap_.push_back({time, next_++, kind, id, version});
    std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
  }
  [[nodiscard]] bool empty() const { return heap_.empty(); }
  [[nodiscard]] const Event& top() const { return heap_.front(); }
  Event pop() {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const Event event = heap_.back();
    heap_.pop_back();
    return event;
  }
  [[nodiscard]] std::uint64_t pushed() const { return next_; }

 private:
  std::vector<Event> heap_;
  std::uint64_t next_ = 0;
};

}  // namespace headway

#include "sim/engine/event_queue.h"

#include <algorithm>
#include <tuple>

namespace headway {
namespace {

constexpr std::size_t kChildren = 4;        ///< of a node of the heap, which lie side by side
constexpr std::size_t kEventsOfBucket = 8;  ///< on average

/// Within a moment. A version tells two events of a flow apart.
bool comes_first(const Event& a, const Event& b) {
  return std::tuple(a.kind, a.id, a.version + 0U) < std::tuple(b.kind, b.id, b.version + 0U);
}

}  // namespace

void EventQueue::push(double time, EventKind kind, std::int32_t id, std::uint32_t version) {
  const Event event(time, kind, id, version);
  const double bucket = bucket_of(time);
  if (bucket < static_cast<double>(next_)) {
    push_near(event);
  } else if (bucket < static_cast<double>(used_)) {
    buckets_[static_cast<std::size_t>(bucket)].push_back(event);
  } else {
    far_.push_back(event);
  }
  if (near_.empty()) refill();
}

void EventQueue::take_until(double end, std::vector<Event>& events) {
  const auto first = static_cast<std::ptrdiff_t>(events.size());
  while (!near_.empty() && near_.front().time <= end) {
    events.push_back(near_.front());
    pop_near();
  }
  if (std::ssize(events) > first + 1) std::sort(events.begin() + first, events.end(), comes_first);
}

void EventQueue::push_near(const Event& event) {
  std::size_t at = near_.size();
  near_.push_back(event);
  while (at > 0) {
    const std::size_t parent = (at - 1) / kChildren;
    if (event.time >= near_[parent].time) break;
    near_[at] = near_[parent];
    at = parent;
  }
  near_[at] = event;
}

void EventQueue::pop_near() {
  const Event last = near_.back();
  near_.pop_back();
  const std::size_t size = near_.size();
  if (size == 0) {
    refill();
    return;
  }
  std::size_t hole = 0;
  for (std::size_t child = 1; child < size; child = hole * kChildren + 1) {
    const std::size_t end = std::min(child + kChildren, size);
    std::size_t first = child;
    for (std::size_t other = child + 1; other < end; ++other) {
      if (near_[other].time < near_[first].time) first = other;
    }
    if (last.time <= near_[first].time) break;
    near_[hole] = near_[first];
    hole = first;
  }
  near_[hole] = last;
}

/// The next bucket that holds anything becomes the near events.
void EventQueue::refill() {
  ++turn_;
  while (near_.empty()) {
    if (next_ == used_) {
      if (far_.empty()) return;
      spread_far();
    }
    std::vector<Event>& bucket = buckets_[next_++];
    for (const Event& event : bucket) push_near(event);
    bucket.clear();
  }
}

/// Buckets over twice the time in which the first half of the far events is; what is behind stays
/// far, so that a few events at the end of time do not make the buckets wide.
void EventQueue::spread_far() {
  const auto middle = far_.begin() + std::ssize(far_) / 2;
  std::ranges::nth_element(far_, middle, {}, &Event::time);
  const double half = middle->time;
  start_ = std::min_element(far_.begin(), middle + 1, [](const Event& a, const Event& b) {
             return a.time < b.time;
           })->time;
  next_ = 0;
  used_ = 1 + far_.size() / kEventsOfBucket;
  if (buckets_.size() < used_) buckets_.resize(used_);
  constexpr double kShortest = 1e-300;  // all may stand at time 0
  buckets_a_second_ = static_cast<double>(used_) / std::max(2.0 * (half - start_), kShortest);
  std::erase_if(far_, [&](const Event& event) {
    const double bucket = bucket_of(event.time);
    if (bucket >= static_cast<double>(used_)) return false;
    buckets_[static_cast<std::size_t>(bucket)].push_back(event);
    return true;
  });
}

}  // namespace headway

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

/// Buckets hold a few events, for which std::sort has more to set up than to do.
void sort_by_time(std::vector<Event>& events) {
  constexpr std::size_t kFew = 24;
  if (events.size() > kFew) {
    std::ranges::sort(events, {}, &Event::time);
    return;
  }
  for (std::size_t i = 1; i < events.size(); ++i) {
    const Event event = events[i];
    std::size_t at = i;
    for (; at > 0 && event.time < events[at - 1].time; --at) events[at] = events[at - 1];
    events[at] = event;
  }
}

}  // namespace

void EventQueue::push(double time, EventKind kind, std::int32_t id, std::uint32_t version) {
  const Event event(time, kind, id, version);
  const double bucket = bucket_of(time);
  if (bucket < static_cast<double>(next_)) {
    push_late(event);
  } else if (bucket < static_cast<double>(used_)) {
    buckets_[static_cast<std::size_t>(bucket)].push_back(event);
  } else {
    far_.push_back(event);
  }
  if (empty()) refill();
}

Event EventQueue::take() {
  const bool is_near =
      late_.empty() || (taken_ < near_.size() && near_[taken_].time <= late_.front().time);
  const Event event = is_near ? near_[taken_] : late_.front();
  if (is_near) {
    ++taken_;
  } else {
    pop_late();
  }
  if (empty()) refill();
  return event;
}

void EventQueue::take_until(double end, std::vector<Event>& events) {
  const auto first = static_cast<std::ptrdiff_t>(events.size());
  while (!empty() && next_time() <= end) events.push_back(take());
  if (std::ssize(events) > first + 1) std::sort(events.begin() + first, events.end(), comes_first);
}

void EventQueue::push_late(const Event& event) {
  std::size_t at = late_.size();
  late_.push_back(event);
  while (at > 0) {
    const std::size_t parent = (at - 1) / kChildren;
    if (event.time >= late_[parent].time) break;
    late_[at] = late_[parent];
    at = parent;
  }
  late_[at] = event;
}

void EventQueue::pop_late() {
  const Event last = late_.back();
  late_.pop_back();
  const std::size_t size = late_.size();
  if (size == 0) return;
  std::size_t hole = 0;
  for (std::size_t child = 1; child < size; child = hole * kChildren + 1) {
    const std::size_t end = std::min(child + kChildren, size);
    std::size_t first = child;
    for (std::size_t other = child + 1; other < end; ++other) {
      if (late_[other].time < late_[first].time) first = other;
    }
    if (last.time <= late_[first].time) break;
    late_[hole] = late_[first];
    hole = first;
  }
  late_[hole] = last;
}

/// The next bucket that holds anything becomes the near events.
void EventQueue::refill() {
  ++turn_;
  near_.clear();
  taken_ = 0;
  while (near_.empty()) {
    if (next_ == used_) {
      if (far_.empty()) return;
      spread_far();
    }
    near_.swap(buckets_[next_++]);
  }
  sort_by_time(near_);
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

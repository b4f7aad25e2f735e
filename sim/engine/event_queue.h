#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
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
  static constexpr std::uint32_t kMostVersion = (1U << 29) - 1;

  Event(double at, EventKind what, std::int32_t whose, std::uint32_t which = 0)
      : time(at), id(whose), version(which & kMostVersion), kind(what) {}

  double time;
  std::int32_t id;
  std::uint32_t version : 29;  ///< flow_done: stale unless it is the flow's latest
  EventKind kind : 3;
};

/// Future events, moment after moment.
///
/// Times that differ by rounding are one moment: what replicas do in step must not come apart
/// because a sum was formed in another order, since flows that share links multiply differences (a
/// flow that meets another ends twice as much later as it began). The events of a moment come in
/// the order of their kinds and ids, whichever way they were pushed.
///
/// A ladder (Tang, Goh, Thng, Ladder queue, 2005): far events lie unsorted, nearer ones in buckets
/// of equal width, and only those of the nearest bucket sorted. What comes before its end once it
/// is taken goes into a heap beside it.
class EventQueue {
 public:
  /// Relative; sums of thousands of rounded times are off by less.
  static constexpr double kSameMoment = 1e-12;

  /// `id` and `version` (at most Event::kMostVersion) are the caller's.
  void push(double time, EventKind kind, std::int32_t id, std::uint32_t version = 0);
  [[nodiscard]] bool empty() const { return taken_ == near_.size() && late_.empty(); }
  [[nodiscard]] double next_time() const {
    if (late_.empty()) return near_[taken_].time;
    if (taken_ == near_.size()) return late_.front().time;
    return std::min(near_[taken_].time, late_.front().time);
  }
  /// The end of the moment that begins at `time`.
  [[nodiscard]] static double end_of_moment(double time) { return time * (1.0 + kSameMoment); }
  /// The next event.
  Event take();
  /// Whether it is known at once that nothing else comes up to `end`.
  [[nodiscard]] bool next_is_alone(double end) const {
    return taken_ + 1 < near_.size() && near_[taken_ + 1].time > end &&
           (late_.empty() || late_.front().time > end);
  }
  /// Appends all events up to `end` to `events`, in the order of a moment.
  void take_until(double end, std::vector<Event>& events);

  /// What is known of events to come: the nearest (0), those behind them (1), and so on. What is
  /// pushed later may come before them. Changes with `turn`.
  [[nodiscard]] std::span<const Event> coming(std::size_t bucket) const {
    if (bucket == 0) return std::span(near_).subspan(taken_);
    const std::size_t i = next_ + bucket - 1;
    return i < used_ ? std::span<const Event>(buckets_[i]) : std::span<const Event>();
  }
  /// How often the nearest events were replaced by those behind them.
  [[nodiscard]] std::uint64_t turn() const { return turn_; }

 private:
  void push_late(const Event& event);
  void pop_late();
  void refill();
  void spread_far();
  /// Which bucket a time belongs to, be it none of them.
  [[nodiscard]] double bucket_of(double time) const { return (time - start_) * buckets_a_second_; }

  std::vector<Event> near_;  ///< of the last bucket before `next_`, in order of time
  std::size_t taken_ = 0;    ///< of near_
  std::vector<Event> late_;  ///< a heap: before bucket `next_` too, but pushed later
  std::vector<std::vector<Event>> buckets_;
  std::size_t next_ = 0;  ///< the first bucket that was not taken yet
  std::size_t used_ = 0;  ///< buckets in use
  std::uint64_t turn_ = 0;
  double start_ = 0.0;
  double buckets_a_second_ = 0.0;
  std::vector<Event> far_;  ///< behind the last bucket
};

}  // namespace headway

#pragma once

#include <memory>

#include "calibrate/suite/backend.h"
#include "calibrate/suite/rendezvous.h"

namespace headway {

/// Repetitions of an operation that run by themselves once they were launched.
class RepeatedWork {
 public:
  virtual ~RepeatedWork() = default;
  /// Where `after` is given, which was launched, not before that has begun.
  virtual void launch(const RepeatedWork* after) = 0;
  [[nodiscard]] virtual bool has_ended() const = 0;
  /// Waits for the end; the time of one repetition.
  [[nodiscard]] virtual Seconds finish() = 0;
  /// What all repetitions take, as far as is known.
  [[nodiscard]] virtual Seconds expected_time() const = 0;
  /// Twice as many repetitions from the next launch on.
  virtual void double_repetitions() = 0;
};

/// Times work while other work runs over and over beside it. The neighbour, which the timed work
/// slows down by nobody knows how much, has to outlast it: a sample in which it did not is
/// contaminated, and the neighbour is made longer for the next one.
///
/// All ranks of `rendezvous`, which outlives this object, do so at once and see the same sample:
/// the slowest one's time, contaminated where it was on any of them.
[[nodiscard]] std::unique_ptr<Operation> concurrent_operation(std::unique_ptr<RepeatedWork> timed,
                                                              std::unique_ptr<RepeatedWork> beside,
                                                              Rendezvous& rendezvous);

}  // namespace headway

#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

#include "sim/jobs/schedules/schedule.h"

namespace headway {

struct Strategy;

/// What a pass does itself: the same for all micro-batches but where replicas meet, which is in the
/// first pass forward through a chunk and in the last one that leaves gradients of its weights.
struct PassBody {
  int chunk = 0;  ///< of this stage
  StepKind kind = StepKind::forward;
  bool is_edge = false;  ///< such a first or last one

  /// Among those of a stage.
  [[nodiscard]] std::int32_t number() const {
    return 8 * chunk + 2 * static_cast<std::int32_t>(kind) + (is_edge ? 1 : 0);
  }
  [[nodiscard]] static PassBody numbered(std::int32_t number) {
    return {.chunk = number / 8,
            .kind = static_cast<StepKind>(number % 8 / 2),
            .is_edge = number % 2 == 1};
  }
};

/// A pass in the order of a stage, or a part of one where passes are merged: what it waits for,
/// does and hands on, each -1 where there is none.
struct PassStep {
  std::int32_t received = -1;  ///< own message slot
  std::int32_t body = -1;      ///< PassBody::number
  std::int32_t sent = -1;      ///< message slot of the receiver
  std::int32_t message = -1;   ///< which one that is: 2 * chunk, and 1 more for gradients
};

/// Which pass a step is, or is part of.
struct PassOf {
  std::int32_t micro_batch = -1;
  std::int32_t chunk = -1;
};

/// Where what a chunk hands on goes.
struct PassWay {
  std::int32_t peer = 0;   ///< receiving stage, relative to this one
  std::int32_t path = -1;  ///< one of RankGroup::paths; -1: nowhere
};

/// What a stage does in an iteration, pass after pass: of its schedule and the shape of its
/// pipeline alone, whatever passes cost.
struct PassOrder {
  std::vector<PassStep> steps;
  std::vector<PassOf> passes;    ///< by step; apart, as closed forms go through steps alone
  std::vector<PassBody> bodies;  ///< those that occur, in the order of their last passes
  std::vector<PassWay> ways;     ///< by PassStep::message
};

[[nodiscard]] PassOrder pass_order(const Strategy& strategy, int stage);

/// Orders by schedule, stages, virtual stages and micro-batches: that of every stage.
class KnownOrders {
 public:
  using OfStages = std::vector<std::shared_ptr<const PassOrder>>;

  [[nodiscard]] const OfStages& of(const Strategy& strategy);

 private:
  std::map<std::tuple<const Schedule*, int, int, int>, OfStages> known_;
  std::size_t steps_ = 0;  ///< of all that are known
};

}  // namespace headway

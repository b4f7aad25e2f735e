#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace headway {

/// What a stage does with one micro-batch in one of its chunks.
enum class StepKind {
  forward,
  backward,        ///< gradients of the input and of the weights
  input_gradient,  ///< the part of a backward pass that the stage before waits for
  weight_gradient  ///< the part that nobody waits for
};

/// One unit of a stage's work.
struct ScheduleStep {
  StepKind kind = StepKind::forward;
  int chunk = 0;  ///< of this stage; `chunk_position` says where in the model it is
  int micro_batch = 0;
  /// Runs merged with the step after it: both inputs are there before, both outputs leave after.
  bool merged = false;
  friend bool operator==(const ScheduleStep&, const ScheduleStep&) = default;

  /// Whether it waits for a gradient of the stage after it.
  [[nodiscard]] bool needs_gradient() const {
    return kind == StepKind::backward || kind == StepKind::input_gradient;
  }
};

/// What a schedule orders: the passes of micro-batches through the chunks of stages.
struct PipelineShape {
  int stages = 1;
  int virtual_stages = 1;
  int micro_batches = 1;
};

/// What the passes of one micro-batch through one chunk take, where all are alike; seconds.
struct PassTimes {
  double forward = 1.0;
  double backward = 1.0;  ///< both parts
  double weight = 0.0;    ///< the part of it that gives gradients of the weights
};

/// How the model goes through the stages.
enum class Course {
  rounds,           ///< chunk c of stage s is part c * stages + s
  there_and_back,   ///< chunk 0 of stage s is part s, chunk 1 part 2 stages - 1 - s
  from_either_end,  ///< two copies: chunk 0 is part s of the one fed at stage 0, chunk 1 part
                    ///< stages - 1 - s of the one fed at the other end
};

/// How many micro-batches a schedule takes.
struct MicroBatchNeed {
  std::int64_t least = 1;
  std::int64_t multiple = 1;
};

inline constexpr int kAnyChunks = 0;

/// The order in which pipeline stages work off their micro-batches, and all that follows from it.
struct Schedule {
  std::string_view name;   ///< "zb_v": as scenarios spell it
  std::string_view title;  ///< "ZB-V": as people read it
  std::string_view what;   ///< in a sentence
  std::string_view source;

  Course course = Course::rounds;
  int chunks = 1;                ///< of a stage, or kAnyChunks: as many as virtual_stages says
  bool splits_backward = false;  ///< gradients of weights wait for later
  bool needs_pipeline = false;   ///< else a single stage is fine
  int stage_multiple = 1;        ///< of which the number of stages has to be one
  /// More micro-batches than four for each stage are never in flight together.
  bool bounds_flight = true;

  /// What it needs of micro-batches, as a number for any shape and in words.
  MicroBatchNeed (*need)(const PipelineShape& shape) = nullptr;  ///< nothing: any number
  std::string_view need_text = {};

  /// What a stage does, in order; of a shape that it takes.
  std::vector<ScheduleStep> (*steps)(const PipelineShape& shape, int stage) = nullptr;

  /// The most passes whose activations a stage holds at once, where a formula knows it; else it is
  /// counted from the steps.
  std::int64_t (*in_flight)(const PipelineShape& shape, int stage) = nullptr;

  /// Time that the fullest stage is not at work, all stages alike and transfers free; where the
  /// source has a formula, for the times it holds for.
  double (*bubble)(const PipelineShape& shape, const PassTimes& times) = nullptr;

  /// Two copies of the model share the stages, each with half of the micro-batches.
  [[nodiscard]] bool is_doubled() const { return course == Course::from_either_end; }
  [[nodiscard]] bool interleaves() const { return chunks == kAnyChunks; }
  [[nodiscard]] MicroBatchNeed needed(const PipelineShape& shape) const {
    return need == nullptr ? MicroBatchNeed{} : need(shape);
  }
};

/// All there are; the first is taken where a scenario names none.
[[nodiscard]] std::span<const Schedule> schedules();
[[nodiscard]] const Schedule* schedule_named(std::string_view name);

/// Whether it orders the passes of such a pipeline.
[[nodiscard]] bool takes(const Schedule& schedule, const PipelineShape& shape);

/// What stage `stage` does, in order. Requires a shape that the schedule takes.
[[nodiscard]] std::vector<ScheduleStep> stage_schedule(const Schedule& schedule,
                                                       const PipelineShape& shape, int stage);

/// Where chunk `chunk` of stage `stage` is in the model, from 0 for the one with the embedding.
[[nodiscard]] int chunk_position(const Schedule& schedule, int stage, int chunk, int stages);

struct ChunkPlace {
  int stage = 0;
  int chunk = 0;
};
/// Where that position is; of two copies, in the one of which a stage has chunk `copy`.
[[nodiscard]] ChunkPlace chunk_place(const Schedule& schedule, int position, int copy, int stages);

/// By how many passes more a step leaves activations held: 1, 0 or -1.
[[nodiscard]] int held_after(StepKind kind);

/// The most micro-batch passes through a chunk whose activations stage `stage` holds at once: from
/// the forward pass to the gradient of the weights.
[[nodiscard]] int peak_chunks_in_flight(const Schedule& schedule, const PipelineShape& shape,
                                        int stage);

}  // namespace headway

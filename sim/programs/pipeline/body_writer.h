#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "sim/jobs/schedules/schedule.h"
#include "sim/programs/pipeline/chunk_work.h"
#include "sim/programs/program_builder.h"
#include "sim/programs/workload.h"

namespace headway {

/// Writes the bodies of passes as stretches of a program's operations. What a pass of some cost
/// does is there once, however many bodies it is part of.
class BodyWriter {
 public:
  /// The builder outlives this.
  explicit BodyWriter(ProgramBuilder& builder) : builder_(builder) {
    passes_.reserve(8);
    stretches_.reserve(32);
  }

  /// All that the builder adds from here on, and all that is run, is one body.
  void begin();
  /// A pass of that cost, of a kind of step.
  void run(StepKind kind, const PassCost& cost);
  /// The stretches of the body.
  [[nodiscard]] Passes::Range end();

  /// Which operations each stretch covers, in all bodies.
  [[nodiscard]] std::vector<Passes::Range> stretches() && { return std::move(stretches_); }

 private:
  struct Pass {
    StepKind kind = StepKind::forward;
    const PassCost* cost = nullptr;
    Passes::Range operations;
  };

  void end_stretch();
  void write(std::string_view name, const TimeByCause& time, const PassFlows& flows);
  void write(StepKind kind, const PassCost& cost);

  ProgramBuilder& builder_;
  std::vector<Pass> passes_;
  std::vector<Passes::Range> stretches_;
  std::size_t first_stretch_ = 0;    ///< of the body
  std::size_t first_operation_ = 0;  ///< of the stretch
};

}  // namespace headway

#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/scenario/scenario.h"
#include "sim/sweep/stored_sweep.h"

namespace headway {

/// A scenario as a program has it: a file or the name of one that ships, or else its text.
struct ScenarioSource {
  std::string path;                 ///< bytes as the system has them; not used where there is text
  std::optional<std::string> text;  ///< JSON
  std::vector<Override> overrides;
};

/// Called now and then while something takes long; may throw, which ends it.
using Interruption = std::function<void()>;

// What each call of the module does, without a word of Python. Documents are those that the command
// of that name prints with --json. Throw InputError with every problem; warnings are left in
// `diagnostics`.

/// The scenario with every default written out.
[[nodiscard]] std::string resolved_text(const ScenarioSource& source, Diagnostics& diagnostics);

struct SimulateCall {
  int jobs = 1;
  std::optional<int> reference;  ///< accelerators that scaling is measured against
  bool what_if = false;
  bool even_if_it_does_not_fit = false;
};
[[nodiscard]] std::string simulated_text(const ScenarioSource& source, const SimulateCall& call,
                                         Diagnostics& diagnostics);

struct SweepCall {
  std::vector<std::string> axes;  ///< as --axis takes them
  std::string folder;             ///< of the store
  int jobs = 1;
  Interruption interruption;
};
/// All points of the store, done by this call or before it, without their documents.
[[nodiscard]] SweepContent swept(const ScenarioSource& source, const SweepCall& call,
                                 Diagnostics& diagnostics);

struct PlanCall {
  std::optional<std::string> goal;
  std::vector<std::string> keep;
  std::optional<std::string> framework;  ///< as --framework takes it
  std::optional<std::int64_t> best;
  int jobs = 1;
  Interruption interruption;
};
[[nodiscard]] std::string planned_text(const ScenarioSource& source, const PlanCall& call,
                                       Diagnostics& diagnostics);

}  // namespace headway

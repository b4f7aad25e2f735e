#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "sim/base/diagnostic.h"
#include "sim/files/json_value.h"
#include "sim/result/comparison.h"
#include "sim/scenario/scenario.h"

namespace headway {

/// One of the two things that are compared.
struct ComparedInput {
  std::string name;
  JsonValue scenario;             ///< resolved
  std::optional<Prediction> recorded;  ///< what the file says, if it is a result
};

/// Reads a scenario, or a result with its resolved scenario in it. A profile that stands elsewhere
/// on this machine than a result says is looked for by its name. Throws InputError.
[[nodiscard]] ComparedInput read_compared(const std::string& path, const ScenarioOptions& options,
                                          Diagnostics& diagnostics);

/// Fields of the resolved scenarios that differ and matter; names and descriptions do not. An array
/// is one value. A model or a topology of another name is one change.
[[nodiscard]] std::vector<InputChange> changed_inputs(const nlohmann::json& a,
                                                      const nlohmann::json& b);

/// Simulates both, then one change after another on the way from A to B, each also alone and last.
/// Defaults that differ because another field does are no changes of their own.
/// `progress` is told how many simulations are done, of how many at least.
[[nodiscard]] Comparison compare(const ComparedInput& a, const ComparedInput& b, int jobs,
                                 const std::function<void(std::size_t, std::size_t)>& progress);

}  // namespace headway

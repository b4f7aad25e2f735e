#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/layers/model.h"

namespace headway {

struct Strategy;

/// A strategy and the model that it splits.
struct Layout {
  const Strategy& strategy;
  const Model& model;

  [[nodiscard]] const Strategy* operator->() const { return &strategy; }
  operator const Strategy&() const { return strategy; }
};

/// What is wrong with a job that breaks a rule.
struct BrokenRule {
  std::string why;         ///< at the field to mend
  std::string help = {};   ///< a value that would do, where there is one
  std::string title = {};  ///< where it depends on the values
  /// Fields of the model that have to do with it, and what they are.
  std::vector<std::pair<std::string_view, std::int64_t>> of_model = {};
};

/// What has to hold between the fields of a strategy and its model: the reader of scenarios reports
/// it, the search for the best strategy leaves out what breaks it, and the help tells it.
struct StrategyRule {
  /// The first is the one to mend; problems point at the others.
  std::vector<std::string_view> fields;
  std::vector<std::string_view> besides = {};  ///< that it depends on too
  std::string_view words;  ///< "global_batch must be a multiple of micro_batch x data_parallel"
  std::string_view title = {};  ///< of the problem, where that is not the words
  std::string_view why = {};    ///< at the field to mend
  std::string_view help = {};   ///< what would do
  bool (*holds)(Layout);
  BrokenRule (*broken)(Layout) = nullptr;  ///< instead of those, where they depend on the values
  Severity severity = Severity::error;
  /// Fields that exclude each other where all of them are written, whatever their values.
  bool is_of_writing = false;

  [[nodiscard]] bool depends_on(std::string_view field) const;
};

/// All of them, in the order in which problems are told.
[[nodiscard]] const std::vector<StrategyRule>& strategy_rules();

// By what they hold together.
[[nodiscard]] std::vector<StrategyRule> tensor_rules();     ///< degrees and the model's dimensions
[[nodiscard]] std::vector<StrategyRule> pipeline_rules();   ///< stages, layers and micro-batches
[[nodiscard]] std::vector<StrategyRule> expert_rules();     ///< how experts are shared out
[[nodiscard]] std::vector<StrategyRule> sharding_rules();   ///< of states over replicas
[[nodiscard]] std::vector<StrategyRule> optimizer_rules();  ///< who updates with what
[[nodiscard]] std::vector<StrategyRule> compression_rules();  ///< what it does not go with
[[nodiscard]] std::vector<StrategyRule> table_rules();        ///< where embedding tables stand
[[nodiscard]] std::vector<StrategyRule> option_rules();       ///< behaviours that need one another

// For their words.

/// "use 8 or 12": the values next to `wanted` that `is_valid` takes, one below and one above,
/// within [1, most]. Empty if there is none.
[[nodiscard]] std::string nearest_help(std::int64_t wanted, std::int64_t most,
                                       const std::function<bool(std::int64_t)>& is_valid);

[[nodiscard]] constexpr bool divides(std::int64_t part, std::int64_t whole) {
  return whole % part == 0;
}

}  // namespace headway

#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/result/prediction.h"

namespace headway {

/// A published training step, and what we predict for it.
struct ValidationRow {
  std::string id;
  std::string group;           ///< near-identical configurations share it
  std::string source;          ///< short name
  std::string source_title;    ///< these three may be empty
  std::string source_address;  ///< where to look it up
  std::string source_place;    ///< line, table or sheet row
  std::string framework;
  std::string accelerator;
  std::string precision;
  std::string kind;  ///< "dense", "moe", or the fine-tuning task: "lora", "sft"
  std::int64_t accelerators = 0;
  double published_s = 0.0;
  std::optional<double> predicted_s;  ///< nothing if refused
  Interval interval_s;
  std::string refused;                     ///< why there is no prediction; empty if there is one
  std::vector<std::string> defaults_used;  ///< what the row itself takes from defaults
  std::vector<std::string> assumed;        ///< what it does not say and was taken for granted

  /// predicted / published - 1. Requires a prediction.
  [[nodiscard]] double error() const { return *predicted_s / published_s - 1.0; }
  /// Whether the published time lies inside the interval. Requires a prediction.
  [[nodiscard]] bool is_covered() const {
    return interval_s.low <= published_s && published_s <= interval_s.high;
  }
};

/// What rows can be told apart by.
struct RowProperty {
  std::string_view name;   ///< as options spell it: "gpu"
  std::string_view title;  ///< "accelerator"
  std::string (*of)(const ValidationRow&);
};
/// kind, framework, source, gpu, precision, scale.
[[nodiscard]] std::span<const RowProperty> row_properties();

/// A row, or the means over several.
struct ErrorItem {
  double size = 0.0;  ///< |error|
  double error = 0.0;
  double covered = 0.0;
};
/// Requires a prediction.
[[nodiscard]] ErrorItem error_item(const ValidationRow& row);
[[nodiscard]] ErrorItem mean_item(const std::vector<ErrorItem>& items);

/// Errors over some items, as fractions.
struct ErrorStatistics {
  std::int64_t count = 0;
  double mean = 0.0;     ///< of |error|
  double median = 0.0;   ///< of |error|
  double p90 = 0.0;      ///< of |error|
  double worst = 0.0;    ///< of |error|
  double bias = 0.0;     ///< mean of error
  double covered = 0.0;  ///< share of published times inside the interval
};

[[nodiscard]] ErrorStatistics error_statistics(std::vector<ErrorItem> items);

/// Errors of the rows that have one property in common.
struct ValidationSummary {
  std::string by;     ///< RowProperty::name; empty over all rows
  std::string group;  ///< the word they share; "all" over all rows
  std::int64_t refused = 0;
  ErrorStatistics rows;  ///< each row counts once
  /// Each group of near-identical configurations counts once, with the means over its rows.
  ErrorStatistics groups;
};

/// Over all rows, then by each property in the order of the words.
[[nodiscard]] std::vector<ValidationSummary> summaries(const std::vector<ValidationRow>& rows);

}  // namespace headway

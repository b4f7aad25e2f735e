#pragma once

#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.h"
#include "sim/base/words.h"
#include "sim/files/json_value.h"
#include "sim/result/prediction.h"

namespace headway {

class Diagnostics;

/// What became of a point.
enum class PointStatus {
  done,          ///< simulated
  does_not_fit,  ///< the answer is no: memory is short
  refused,       ///< there is no such job: the scenario has problems
  failed         ///< something went wrong on the way; tried again when the sweep is resumed
};
template <>
inline constexpr Word<PointStatus> kWords<PointStatus>[] = {
    {"done", PointStatus::done},
    {"does_not_fit", PointStatus::does_not_fit},
    {"refused", PointStatus::refused},
    {"failed", PointStatus::failed}};

/// One point of a sweep.
struct SweepPoint {
  /// Fingerprint of the resolved scenario and its profile; of the axes where there is no scenario
  /// or no more is known.
  std::string key;
  OrderedJsonValue axes;  ///< value by name of the axis, in the order of the axes
  PointStatus status = PointStatus::done;
  std::string reason;  ///< why it is not done; empty if it is
  JsonValue scenario;  ///< resolved; null if refused
  /// Null if refused or failed. Apart, as a million points without are many times as small.
  std::shared_ptr<const Prediction> prediction = {};
  /// What the store has of it in columns of their own (point_columns.h); empty outside of a store.
  std::vector<std::optional<double>> numbers = {};
};

/// A point as it goes from process to process and into a store: written out where it was made, so
/// that whoever gathers many has little to do for each.
struct PointRow {
  std::string key;
  std::string axes;  ///< JSON
  PointStatus status = PointStatus::done;
  std::string reason;
  std::string scenario;  ///< JSON; empty is null
  std::string result;    ///< what `headway simulate --json` prints; empty if there is none
  std::vector<std::optional<double>> numbers;  ///< by column of point_columns.h
  /// How long it took, to know what is at stake before it is kept; no store has it.
  Seconds work = Seconds(std::numeric_limits<double>::infinity());
};

[[nodiscard]] PointRow row_of(const SweepPoint& point);
/// Problems of its result go into the diagnostics. Throws nlohmann::json::exception where its axes
/// or its scenario are no JSON.
[[nodiscard]] SweepPoint point_of(const PointRow& row, Diagnostics& diagnostics);

[[nodiscard]] std::string row_bytes(const PointRow& row);
[[nodiscard]] PointRow row_of_bytes(const std::string& bytes);

}  // namespace headway

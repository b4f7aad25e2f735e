#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/fingerprint.h"
#include "sim/files/json_value.h"
#include "sim/sweep/point_row.h"

namespace headway {

/// What a store holds the points of.
struct SweepHeader {
  std::string scenario;      ///< path as given
  std::string inputs;        ///< fingerprint of all that points depend on beside their axes
  std::string headway;       ///< version
  JsonValue axes;            ///< [{name, values}]
  std::string command_line;  ///< that resumes or extends it
};

/// Points that need no work any more: all but those that failed.
struct SettledPoints {
  FingerprintSet axes;  ///< as text
  FingerprintSet keys;
};

/// The SQLite file of a sweep (its tables: README.md of this folder). Points that took less than a
/// twentieth of a second together are one transaction, so that whatever kills the process costs
/// those in flight and so much work at most. One process writes at a time, which a lock beside the
/// file sees to; anybody may read meanwhile.
///
/// Throws EnvironmentError where the file cannot be used, InputError where it is of another sweep.
class SweepStore {
 public:
  /// Opens `folder`/sweep.db for writing; makes folder and file where missing. What is there has to
  /// be of the same inputs and of axes with the same names.
  SweepStore(const std::filesystem::path& folder, const SweepHeader& header);
  ~SweepStore();
  SweepStore(const SweepStore&) = delete;
  SweepStore& operator=(const SweepStore&) = delete;

  [[nodiscard]] SettledPoints settled() const;
  /// Whether a point could be simulated, of those put too.
  [[nodiscard]] bool has_simulated() const;

  /// Takes the place of what stood for the same values of the axes. Of two points with the same
  /// key, which are the same job by other axes, the one whose axes' text comes first is kept,
  /// whatever the order in which they come. Returns whether all that was put is kept by now.
  bool put(const PointRow& row);
  /// Keeps what was put. The end of this object does so too, without a word if it cannot.
  void keep();

 private:
  struct Connection;
  std::unique_ptr<Connection> connection_;
};

/// Name of the file in its folder.
inline constexpr std::string_view kStoreFile = "sweep.db";

}  // namespace headway

#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/sweep/point_row.h"
#include "sim/sweep/sweep_store.h"

namespace headway {

/// What of points is read: without predictions they have their numbers only, which is a tenth of
/// the work.
enum class Predictions { left_out, read };

/// A store that is read, as it was when this was made: its points in the order of the axes' values,
/// each when it is asked for, so that whoever goes through a million holds one. One after the other
/// is fastest. SQLite keeps their order and their numbers in a temporary file.
///
/// Throws InputError if it is no store, or holds what no sweep writes.
class StoredSweep {
 public:
  /// The store in a folder, or a file of that kind.
  explicit StoredSweep(const std::filesystem::path& path);
  ~StoredSweep();
  StoredSweep(const StoredSweep&) = delete;
  StoredSweep& operator=(const StoredSweep&) = delete;

  [[nodiscard]] const SweepHeader& header() const { return header_; }
  [[nodiscard]] std::size_t size() const { return size_; }

  /// Without its documents.
  [[nodiscard]] const PointRow& row(std::size_t place) const;
  /// Problems of its result go into the diagnostics.
  [[nodiscard]] SweepPoint point(std::size_t place, Predictions predictions,
                                 Diagnostics& diagnostics) const;

 private:
  struct File;

  std::unique_ptr<File> file_;
  SweepHeader header_;
  std::size_t size_ = 0;
};

/// All of a store, points in the order of the axes' values.
struct SweepContent {
  SweepHeader header;
  std::vector<SweepPoint> points;
};

/// Reads a StoredSweep to its end.
[[nodiscard]] SweepContent read_sweep(const std::filesystem::path& path, Predictions predictions);

}  // namespace headway

#pragma once

#include <sqlite3.h>

#include <filesystem>
#include <string>
#include <string_view>

#include "sim/sweep/sweep_store.h"

namespace headway {

// What writing a store and reading it have in common. Errors are those of SweepStore.

/// What the scenarios and results of a store are packed against: the first that it was given.
struct PackingReference {
  std::string scenario;
  std::string result;
};

/// Columns of a point before those of point_columns().
inline constexpr std::string_view kFixedColumns = "key, axes, status, reason, scenario, result";
inline constexpr int kFixedCount = 6;

/// Its schema.
inline constexpr std::string_view kSweepSchema = "headway/sweep/4";

[[noreturn]] void refuse_damaged_store(const std::filesystem::path& file);

/// Whoever calls it closes it. Waits while somebody else uses the file.
[[nodiscard]] sqlite3* opened_store(const std::filesystem::path& file, int flags);

/// A value of the table "sweep"; empty where it has no such name.
[[nodiscard]] std::string header_value(sqlite3* database, std::string_view name);
void set_header_value(sqlite3* database, std::string_view name, std::string_view value);

[[nodiscard]] PackingReference packing_reference(sqlite3* database);
[[nodiscard]] SweepHeader stored_header(sqlite3* database, const std::filesystem::path& file);

}  // namespace headway

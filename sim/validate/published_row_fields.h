#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/files/json_document.h"

namespace headway {

/// Where to see what is missing.
inline constexpr const char* kHelpOfRows =
    "scenarios/validation/measured_steps_h100.json, which ships, has rows in full";

/// What the rows of a file share: the names of their columns, and tables that they refer to.
class PublishedTables {
 public:
  PublishedTables() = default;
  explicit PublishedTables(const JsonCursor& root) : root_(root) {}

  /// The place of "columns" that has this name, or nothing.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
  [[nodiscard]] std::size_t columns() const;
  /// The entry that a text names, or the part itself if there is no such table.
  [[nodiscard]] JsonCursor entry(const char* table, const JsonCursor& part,
                                 Diagnostics& diagnostics) const;
  /// What every row's "train" has unless it says otherwise.
  [[nodiscard]] nlohmann::json train_unless_said() const;

 private:
  [[nodiscard]] std::optional<JsonCursor> table(const char* name) const;

  std::optional<JsonCursor> root_;
};

/// The members of one row, whichever form it has. Those that are null are absent.
class PublishedRowFields {
 public:
  PublishedRowFields(JsonCursor row, const PublishedTables& tables, Diagnostics& diagnostics);

  [[nodiscard]] const JsonCursor& row() const { return row_; }
  [[nodiscard]] std::optional<JsonCursor> member(const char* key) const;
  [[nodiscard]] std::string text(const char* key) const;  ///< empty if it is no text
  /// An object, in place or from a table; reported if there is none.
  [[nodiscard]] std::optional<JsonCursor> object(const char* key, const char* table = "") const;
  /// The texts of an array, each from the table if that has it.
  [[nodiscard]] std::vector<std::string> texts(const char* key, const char* table) const;
  /// A positive number of `from` (the row itself if nothing); 1 and a diagnostic if there is none.
  [[nodiscard]] double number(const std::optional<JsonCursor>& from, const char* key) const;
  /// A whole number from 1 to 1e8 of the row itself; 1 and a diagnostic if there is none.
  [[nodiscard]] int count(const char* key) const;

 private:
  JsonCursor row_;
  const PublishedTables& tables_;
  Diagnostics& diagnostics_;
};

}  // namespace headway

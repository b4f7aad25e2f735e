#pragma once

#include <sqlite3.h>

#include <optional>
#include <string>
#include <string_view>

namespace headway {

/// Runs SQL that gives no rows. Throws EnvironmentError with what SQLite says.
void execute(sqlite3* database, const std::string& sql);

/// One prepared statement. Places count from 1, columns from 0, as SQLite has it. Throws
/// EnvironmentError with what SQLite says. The database has to outlive it.
class SqliteStatement {
 public:
  SqliteStatement(sqlite3* database, std::string_view sql);
  ~SqliteStatement();
  SqliteStatement(const SqliteStatement&) = delete;
  SqliteStatement& operator=(const SqliteStatement&) = delete;

  void bind(int place, std::string_view text);
  void bind_bytes(int place, std::string_view bytes);  ///< null where there are none
  void bind(int place, double number);
  void bind_null(int place);

  /// Goes to the next row. Returns false after the last.
  bool step();
  /// Ready to be stepped through again, with new values.
  void reset();

  /// Nothing where the column is null.
  [[nodiscard]] std::optional<std::string> text(int column) const;
  /// None where the column is null.
  [[nodiscard]] std::string bytes(int column) const;
  [[nodiscard]] std::optional<double> number(int column) const;

 private:
  void check(int code) const;

  sqlite3* database_;
  sqlite3_stmt* statement_ = nullptr;
};

}  // namespace headway

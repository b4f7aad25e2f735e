#include "sim/sweep/sqlite_statement.h"

#include <fmt/format.h>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

[[noreturn]] void throw_what_it_says(sqlite3* database) {
  const char* const file = sqlite3_db_filename(database, "main");
  throw EnvironmentError(fmt::format("the store {} cannot be used: {}", file == nullptr ? "" : file,
                                     sqlite3_errmsg(database)));
}

}  // namespace

void execute(sqlite3* database, const std::string& sql) {
  if (sqlite3_exec(database, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    throw_what_it_says(database);
  }
}

SqliteStatement::SqliteStatement(sqlite3* database, std::string_view sql) : database_(database) {
  check(
      sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr));
}

SqliteStatement::~SqliteStatement() { sqlite3_finalize(statement_); }

void SqliteStatement::bind(int place, std::string_view text) {
  check(sqlite3_bind_text64(statement_, place, text.data(), text.size(), SQLITE_TRANSIENT,
                            SQLITE_UTF8));
}

void SqliteStatement::bind_bytes(int place, std::string_view bytes) {
  if (bytes.empty()) {
    bind_null(place);
  } else {
    check(sqlite3_bind_blob64(statement_, place, bytes.data(), bytes.size(), SQLITE_TRANSIENT));
  }
}

void SqliteStatement::bind(int place, double number) {
  check(sqlite3_bind_double(statement_, place, number));
}

void SqliteStatement::bind_null(int place) { check(sqlite3_bind_null(statement_, place)); }

bool SqliteStatement::step() {
  const int code = sqlite3_step(statement_);
  if (code != SQLITE_ROW && code != SQLITE_DONE) throw_what_it_says(database_);
  return code == SQLITE_ROW;
}

void SqliteStatement::reset() { check(sqlite3_reset(statement_)); }

std::optional<std::string> SqliteStatement::text(int column) const {
  const unsigned char* const text = sqlite3_column_text(statement_, column);
  if (text == nullptr) return std::nullopt;
  const auto size = static_cast<std::size_t>(sqlite3_column_bytes(statement_, column));
  return std::string(reinterpret_cast<const char*>(text), size);
}

std::string SqliteStatement::bytes(int column) const {
  const void* const bytes = sqlite3_column_blob(statement_, column);
  if (bytes == nullptr) return {};
  return {static_cast<const char*>(bytes),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_, column))};
}

std::optional<double> SqliteStatement::number(int column) const {
  if (sqlite3_column_type(statement_, column) == SQLITE_NULL) return std::nullopt;
  return sqlite3_column_double(statement_, column);
}

void SqliteStatement::check(int code) const {
  if (code != SQLITE_OK) throw_what_it_says(database_);
}

}  // namespace headway

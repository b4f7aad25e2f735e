#include "sim/sweep/store_file.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/diagnostic.h"
#include "sim/base/refuse.h"
#include "sim/files/json_text.h"
#include "sim/sweep/sqlite_statement.h"

namespace headway {
namespace {

constexpr std::string_view kAnySchema = "headway/sweep/";
constexpr int kPatienceMs = 60'000;  // while somebody reads

}  // namespace

void refuse_damaged_store(const std::filesystem::path& file) {
  refuse(fmt::format("{} is damaged: it holds what no sweep writes", file.string()),
         "sweep into another folder, or take a copy of it from before");
}

sqlite3* opened_store(const std::filesystem::path& file, int flags) {
  sqlite3* database = nullptr;
  const int code = sqlite3_open_v2(file.c_str(), &database, flags, nullptr);
  if (code != SQLITE_OK) {
    const std::string why = sqlite3_errmsg(database);
    sqlite3_close(database);
    throw EnvironmentError(fmt::format("cannot open the store {}: {}", file.string(), why));
  }
  sqlite3_busy_timeout(database, kPatienceMs);
  return database;
}

std::string header_value(sqlite3* database, std::string_view name) {
  SqliteStatement query(database, "SELECT value FROM sweep WHERE name = ?");
  query.bind(1, name);
  return query.step() ? query.text(0).value_or("") : "";
}

void set_header_value(sqlite3* database, std::string_view name, std::string_view value) {
  SqliteStatement insertion(database, "INSERT OR REPLACE INTO sweep VALUES (?, ?)");
  insertion.bind(1, name);
  insertion.bind(2, value);
  insertion.step();
}

PackingReference packing_reference(sqlite3* database) {
  return {.scenario = header_value(database, "scenario_packed_against"),
          .result = header_value(database, "result_packed_against")};
}

SweepHeader stored_header(sqlite3* database, const std::filesystem::path& file) {
  SqliteStatement tables(database,
                         "SELECT count(*) FROM sqlite_master WHERE name IN ('sweep', 'points')");
  tables.step();
  const std::string schema = tables.text(0) == "2" ? header_value(database, "schema") : "";
  if (schema.starts_with(kAnySchema) && schema != kSweepSchema) {
    refuse(fmt::format("{} holds {}, this Headway reads {}", file.string(), schema, kSweepSchema),
           "sweep again into another folder");
  }
  if (schema != kSweepSchema) {
    refuse(fmt::format("{} is no store of a sweep", file.string()),
           "`headway sweep -o DIR` writes DIR/sweep.db");
  }
  return {.scenario = header_value(database, "scenario"),
          .inputs = header_value(database, "inputs"),
          .headway = header_value(database, "headway"),
          .axes = parsed_json(header_value(database, "axes")),
          .command_line = header_value(database, "command_line")};
}

}  // namespace headway

#include "sim/sweep/sweep_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/diagnostic.h"
#include "sim/files/json_document.h"
#include "sim/result/json/read_result.h"
#include "sim/result/json/result_json.h"
#include "sim/sweep/point_columns.h"
#include "sim/sweep/sqlite_statement.h"

namespace headway {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
namespace fs = std::filesystem;

constexpr std::string_view kSchema = "headway/sweep/2";
constexpr std::string_view kAnySchema = "headway/sweep/";
constexpr std::string_view kLockFile = "sweep.lock";
constexpr int kPatienceMs = 60'000;  // while somebody reads

constexpr std::array<std::pair<PointStatus, std::string_view>, 4> kStatusNames{{
    {PointStatus::done, "done"},
    {PointStatus::does_not_fit, "does_not_fit"},
    {PointStatus::refused, "refused"},
    {PointStatus::failed, "failed"},
}};

[[noreturn]] void refuse(std::string message, std::string help) {
  Diagnostic problem;
  problem.message = std::move(message);
  problem.help = std::move(help);
  throw InputError(std::move(problem));
}

[[noreturn]] void refuse_damaged(const fs::path& file) {
  refuse(fmt::format("{} is damaged: it holds what no sweep writes", file.string()),
         "sweep into another folder, or take a copy of it from before");
}

/// Nothing for what no sweep writes.
std::optional<PointStatus> status_named(std::string_view name) {
  const auto* const found =
      std::ranges::find(kStatusNames, name, &std::pair<PointStatus, std::string_view>::second);
  return found == kStatusNames.end() ? std::nullopt : std::optional(found->first);
}

bool are_axes(const json& axes) {
  return axes.is_array() && std::ranges::all_of(axes, [](const json& axis) {
           return axis.is_object() && axis.contains("name") && axis["name"].is_string() &&
                  axis.contains("values") && axis["values"].is_array();
         });
}

/// Columns before those of point_columns().
constexpr std::string_view kFixedColumns = "key, axes, status, reason, scenario, result";
constexpr int kFixedCount = 6;

std::string creation_sql() {
  std::string columns;
  for (const PointColumn& column : point_columns()) {
    columns += fmt::format(", {} REAL", column.name);
  }
  return "BEGIN;"
         "CREATE TABLE IF NOT EXISTS sweep (name TEXT PRIMARY KEY, value TEXT NOT NULL)"
         " WITHOUT ROWID;"
         "CREATE TABLE IF NOT EXISTS points (key TEXT PRIMARY KEY, axes TEXT NOT NULL,"
         " status TEXT NOT NULL, reason TEXT, scenario TEXT, result TEXT" +
         columns +
         ") WITHOUT ROWID; CREATE INDEX IF NOT EXISTS points_by_axes ON points (axes); COMMIT;";
}

/// Of points with one key the one whose axes come first stays.
std::string insertion_sql() {
  std::string names(kFixedColumns);
  std::string places = "?, ?, ?, ?, ?, ?";
  for (const PointColumn& column : point_columns()) {
    names += fmt::format(", {}", column.name);
    places += ", ?";
  }
  return fmt::format(
      "INSERT OR REPLACE INTO points ({}) SELECT {} WHERE NOT EXISTS (SELECT 1 FROM points WHERE "
      "key = ?1 AND axes < ?2)",
      names, places);
}

/// Values of the table "sweep" by name.
std::array<std::pair<std::string_view, std::string>, 6> header_rows(const SweepHeader& header) {
  return {{{"schema", std::string(kSchema)},
           {"scenario", header.scenario},
           {"inputs", header.inputs},
           {"headway", header.headway},
           {"axes", header.axes->dump()},
           {"command_line", header.command_line}}};
}

sqlite3* opened(const fs::path& path, int flags) {
  sqlite3* database = nullptr;
  const int code = sqlite3_open_v2(path.c_str(), &database, flags, nullptr);
  if (code != SQLITE_OK) {
    const std::string why = sqlite3_errmsg(database);
    sqlite3_close(database);
    throw EnvironmentError(fmt::format("cannot open the store {}: {}", path.string(), why));
  }
  sqlite3_busy_timeout(database, kPatienceMs);
  return database;
}

std::string header_value(sqlite3* database, std::string_view name) {
  SqliteStatement query(database, "SELECT value FROM sweep WHERE name = ?");
  query.bind(1, name);
  return query.step() ? query.text(0).value_or("") : "";
}

SweepHeader header_of(sqlite3* database, const fs::path& path) {
  SqliteStatement tables(database,
                         "SELECT count(*) FROM sqlite_master WHERE name IN ('sweep', 'points')");
  tables.step();
  const std::string schema = tables.text(0) == "2" ? header_value(database, "schema") : "";
  if (schema.starts_with(kAnySchema) && schema != kSchema) {
    refuse(fmt::format("{} holds {}, this Headway reads {}", path.string(), schema, kSchema),
           "sweep again into another folder");
  }
  if (schema != kSchema) {
    refuse(fmt::format("{} is no store of a sweep", path.string()),
           "`headway sweep -o DIR` writes DIR/sweep.db");
  }
  return {.scenario = header_value(database, "scenario"),
          .inputs = header_value(database, "inputs"),
          .headway = header_value(database, "headway"),
          .axes = json::parse(header_value(database, "axes")),
          .command_line = header_value(database, "command_line")};
}

std::vector<std::string> axis_names(const json& axes) {
  std::vector<std::string> names;
  for (const json& axis : axes) names.push_back(axis.at("name").get<std::string>());
  return names;
}

/// Points of other inputs or axes in one store would be mistaken for each other.
void check_same_sweep(const SweepHeader& stored, const SweepHeader& asked, const fs::path& path) {
  const std::string help = "name another folder with -o, or delete this one";
  if (stored.headway != asked.headway) {
    refuse(fmt::format("{} was made by Headway {}, this is {}", path.string(), stored.headway,
                       asked.headway),
           help);
  }
  if (stored.inputs != asked.inputs) {
    refuse(fmt::format("{} holds points of another scenario, or of this one as it was before: {}",
                       path.string(), stored.scenario),
           help);
  }
  if (axis_names(stored.axes) != axis_names(asked.axes)) {
    refuse(fmt::format("{} has other axes: {}", path.string(), stored.command_line),
           help + "; more values of the same axes may be added");
  }
}

/// Values of an axis added up over the runs that filled a store, in the order of their naming.
json joined_axes(const json& stored, const json& asked) {
  json joined = stored;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    json& values = joined[i]["values"];
    for (const json& value : asked[i]["values"]) {
      if (std::ranges::find(values, value) == values.end()) values.push_back(value);
    }
  }
  return joined;
}

/// By the places of the values in their axes.
std::vector<std::size_t> order_of(const SweepPoint& point, const json& axes) {
  std::vector<std::size_t> order;
  for (const json& axis : axes) {
    const json& values = axis.at("values");
    const json value = point.axes->at(axis.at("name").get<std::string>());
    order.push_back(static_cast<std::size_t>(std::ranges::find(values, value) - values.begin()));
  }
  return order;
}

json parsed(const std::optional<std::string>& text) {
  return text ? json::parse(*text) : json(nullptr);
}

std::optional<Prediction> stored_prediction(const std::string& key,
                                            const std::optional<std::string>& text,
                                            Diagnostics& diagnostics) {
  if (!text) return std::nullopt;
  const auto document = JsonDocument::parse("point " + key, *text, diagnostics);
  if (document == nullptr) return std::nullopt;
  return read_result(JsonCursor(document), diagnostics);
}

}  // namespace

std::string_view status_name(PointStatus status) {
  return std::ranges::find(kStatusNames, status, &std::pair<PointStatus, std::string_view>::first)
      ->second;
}

/// The database, and the lock that keeps a second writer out. Locks of this kind end with the
/// process that took them and are not passed on to forked children.
struct SweepStore::Connection {
  explicit Connection(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    const fs::path path = folder / kLockFile;
    lock = error ? -1 : open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock < 0) {
      throw EnvironmentError(fmt::format("cannot write into the folder {}: {}", folder.string(),
                                         error ? error.message() : std::strerror(errno)));
    }
    struct flock whole {};
    whole.l_type = F_WRLCK;
    whole.l_whence = SEEK_SET;
    if (fcntl(lock, F_SETLK, &whole) != 0) {
      close(lock);
      throw EnvironmentError(
          fmt::format("another process is filling the sweep in {}", folder.string()));
    }
    try {
      database = opened(folder / kStoreFile, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    } catch (...) {
      close(lock);
      throw;
    }
  }
  ~Connection() {
    removal.reset();
    insertion.reset();
    sqlite3_close(database);
    close(lock);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  int lock = -1;
  sqlite3* database = nullptr;
  std::unique_ptr<SqliteStatement> removal;  ///< of what stood for the same values of the axes
  std::unique_ptr<SqliteStatement> insertion;
};

SweepStore::SweepStore(const fs::path& folder, const SweepHeader& header)
    : connection_(std::make_unique<Connection>(folder)) {
  sqlite3* const database = connection_->database;
  // Two waits for the disk a point instead of four; a loss of power while the journal is written,
  // which these leave a small chance for, costs the store and not more.
  execute(database, "PRAGMA journal_mode = TRUNCATE; PRAGMA synchronous = NORMAL");
  execute(database, creation_sql());
  SweepHeader written = header;
  if (!header_value(database, "schema").empty()) {
    const SweepHeader stored = header_of(database, folder / kStoreFile);
    check_same_sweep(stored, header, folder / kStoreFile);
    written.axes = joined_axes(stored.axes, header.axes);
  }
  execute(database, "BEGIN");
  SqliteStatement insertion(database, "INSERT OR REPLACE INTO sweep VALUES (?, ?)");
  for (const auto& [name, value] : header_rows(written)) {
    insertion.bind(1, name);
    insertion.bind(2, value);
    insertion.step();
    insertion.reset();
  }
  execute(database, "COMMIT");
  connection_->removal =
      std::make_unique<SqliteStatement>(database, "DELETE FROM points WHERE axes = ?");
  connection_->insertion = std::make_unique<SqliteStatement>(database, insertion_sql());
}

SweepStore::~SweepStore() = default;

SettledPoints SweepStore::settled() const {
  SettledPoints settled;
  SqliteStatement query(connection_->database,
                        "SELECT key, axes FROM points WHERE status <> 'failed'");
  while (query.step()) {
    settled.keys.insert(query.text(0).value_or(""));
    settled.axes.insert(query.text(1).value_or(""));
  }
  return settled;
}

void SweepStore::put(const SweepPoint& point) {
  SqliteStatement& insertion = *connection_->insertion;
  const auto bind_json = [&](int place, const json& value) {
    if (value.is_null()) {
      insertion.bind_null(place);
    } else {
      insertion.bind(place, value.dump(-1, ' ', false, json::error_handler_t::replace));
    }
  };
  const std::string axes = point.axes->dump();
  insertion.bind(1, point.key);
  insertion.bind(2, axes);
  insertion.bind(3, status_name(point.status));
  if (point.reason.empty()) {
    insertion.bind_null(4);
  } else {
    insertion.bind(4, point.reason);
  }
  bind_json(5, point.scenario);
  bind_json(6, point.prediction ? result_json(*point.prediction) : json(nullptr));
  const auto numbers = point.prediction
                           ? column_values(*point.prediction)
                           : std::vector<std::optional<double>>(point_columns().size());
  int place = kFixedCount;
  for (const std::optional<double>& number : numbers) {
    ++place;
    if (number) {
      insertion.bind(place, *number);
    } else {
      insertion.bind_null(place);
    }
  }
  execute(connection_->database, "BEGIN IMMEDIATE");
  connection_->removal->bind(1, axes);
  connection_->removal->step();
  connection_->removal->reset();
  insertion.step();
  insertion.reset();
  execute(connection_->database, "COMMIT");
}

namespace {

SweepContent content_of(const fs::path& file, Predictions predictions) {
  const std::unique_ptr<sqlite3, decltype(&sqlite3_close)> database(
      opened(file, SQLITE_OPEN_READONLY), &sqlite3_close);
  SweepContent content;
  content.header = header_of(database.get(), file);
  if (!are_axes(content.header.axes)) refuse_damaged(file);
  std::string columns(kFixedColumns);
  for (const PointColumn& column : point_columns()) columns += fmt::format(", {}", column.name);
  SqliteStatement query(database.get(), fmt::format("SELECT {} FROM points", columns));
  Diagnostics diagnostics;
  while (query.step()) {
    SweepPoint point{.key = query.text(0).value_or(""),
                     .axes = ordered_json::parse(query.text(1).value_or("{}")),
                     .reason = query.text(3).value_or("")};
    const auto status = status_named(query.text(2).value_or(""));
    if (!status || !point.axes->is_object()) refuse_damaged(file);
    point.status = *status;
    for (int i = 0; i < std::ssize(point_columns()); ++i) {
      point.numbers.push_back(query.number(kFixedCount + i));
    }
    if (predictions == Predictions::read) {
      point.scenario = parsed(query.text(4));
      point.prediction = stored_prediction(point.key, query.text(5), diagnostics);
    }
    content.points.push_back(std::move(point));
  }
  diagnostics.throw_if_errors();
  std::ranges::sort(content.points, {},
                    [&](const SweepPoint& point) { return order_of(point, content.header.axes); });
  return content;
}

}  // namespace

SweepContent read_sweep(const fs::path& path, Predictions predictions) {
  const fs::path file = fs::is_directory(path) ? path / kStoreFile : path;
  if (!fs::exists(file)) {
    refuse(fmt::format("there is no store {}", file.string()),
           "`headway sweep -o DIR` writes DIR/sweep.db");
  }
  try {
    return content_of(file, predictions);
  } catch (const json::exception&) {
    refuse_damaged(file);
  }
}

}  // namespace headway

#include "sim/sweep/sweep_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/diagnostic.h"
#include "sim/base/refuse.h"
#include "sim/files/json_text.h"
#include "sim/sweep/packed_text.h"
#include "sim/sweep/point_columns.h"
#include "sim/sweep/sqlite_statement.h"
#include "sim/sweep/store_file.h"
#include "sim/sweep/stored_axes.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLockFile = "sweep.lock";
const Seconds kTogether(0.05);  // points of so much work are one transaction

std::string creation_sql() {
  std::string columns;
  for (const PointColumn& column : point_columns()) {
    columns += fmt::format(", {} REAL", column.name);
  }
  return "BEGIN;"
         "CREATE TABLE IF NOT EXISTS sweep (name TEXT PRIMARY KEY, value TEXT NOT NULL)"
         " WITHOUT ROWID;"
         "CREATE TABLE IF NOT EXISTS points (key TEXT PRIMARY KEY, axes TEXT NOT NULL,"
         " status TEXT NOT NULL, reason TEXT, scenario BLOB, result BLOB" +
         columns +
         ") WITHOUT ROWID; CREATE INDEX IF NOT EXISTS points_by_axes ON points (axes); COMMIT;";
}

/// Where points share a key, the one whose axes come first stays.
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
  return {{{"schema", std::string(kSweepSchema)},
           {"scenario", header.scenario},
           {"inputs", header.inputs},
           {"headway", header.headway},
           {"axes", compact_json(*header.axes)},
           {"command_line", header.command_line}}};
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

}  // namespace

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
      database = opened_store(folder / kStoreFile, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    } catch (...) {
      close(lock);
      throw;
    }
  }
  ~Connection() {
    if (sqlite3_get_autocommit(database) == 0) {
      sqlite3_exec(database, "COMMIT", nullptr, nullptr, nullptr);
    }
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
  Seconds unkept = Seconds(std::numeric_limits<double>::infinity());  ///< the first is kept at once
  PackingReference like;
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
    const SweepHeader stored = stored_header(database, folder / kStoreFile);
    check_same_sweep(stored, header, folder / kStoreFile);
    written.axes = joined_axes(stored.axes, header.axes);
  }
  execute(database, "BEGIN");
  for (const auto& [name, value] : header_rows(written)) set_header_value(database, name, value);
  execute(database, "COMMIT");
  connection_->like = packing_reference(database);
  connection_->removal =
      std::make_unique<SqliteStatement>(database, "DELETE FROM points WHERE axes = ?");
  connection_->insertion = std::make_unique<SqliteStatement>(database, insertion_sql());
}

SweepStore::~SweepStore() = default;

SettledPoints SweepStore::settled() const {
  std::vector<std::uint64_t> keys;
  std::vector<std::uint64_t> axes;
  SqliteStatement query(connection_->database,
                        "SELECT key, axes FROM points WHERE status <> 'failed'");
  while (query.step()) {
    keys.push_back(fingerprint(query.text(0).value_or("")));
    axes.push_back(fingerprint(query.text(1).value_or("")));
  }
  return {.axes = FingerprintSet(std::move(axes)), .keys = FingerprintSet(std::move(keys))};
}

bool SweepStore::has_simulated() const {
  SqliteStatement query(connection_->database, "SELECT 1 FROM points WHERE status = ? LIMIT 1");
  query.bind(1, word_of(PointStatus::done));
  return query.step();
}

bool SweepStore::put(const PointRow& row) {
  sqlite3* const database = connection_->database;
  SqliteStatement& insertion = *connection_->insertion;
  PackingReference& like = connection_->like;
  if (sqlite3_get_autocommit(database) != 0) execute(database, "BEGIN IMMEDIATE");
  const auto bind_packed = [&](int place, const std::string& text, std::string& reference,
                               std::string_view name) {
    if (reference.empty() && !text.empty()) {
      set_header_value(database, name, text);
      reference = text;
    }
    insertion.bind_bytes(place, packed(text, reference));
  };
  insertion.bind(1, row.key);
  insertion.bind(2, row.axes);
  insertion.bind(3, word_of(row.status));
  if (row.reason.empty()) {
    insertion.bind_null(4);
  } else {
    insertion.bind(4, row.reason);
  }
  bind_packed(5, row.scenario, like.scenario, "scenario_packed_against");
  bind_packed(6, row.result, like.result, "result_packed_against");
  int place = kFixedCount;
  for (const std::optional<double>& number : row.numbers) {
    ++place;
    if (number) {
      insertion.bind(place, *number);
    } else {
      insertion.bind_null(place);
    }
  }
  connection_->removal->bind(1, row.axes);
  connection_->removal->step();
  connection_->removal->reset();
  insertion.step();
  insertion.reset();
  connection_->unkept += row.work;
  if (connection_->unkept < kTogether) return false;
  keep();
  return true;
}

void SweepStore::keep() {
  if (sqlite3_get_autocommit(connection_->database) == 0) {
    execute(connection_->database, "COMMIT");
  }
  connection_->unkept = Seconds(0.0);
}

}  // namespace headway

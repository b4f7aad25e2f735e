#include "sim/sweep/stored_sweep.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

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

constexpr std::string_view kReadColumns = "key, axes, status, reason";
constexpr int kReadCount = 4;

std::string number_columns() {
  std::string columns;
  for (const PointColumn& column : point_columns()) columns += fmt::format(", {}", column.name);
  return columns;
}

fs::path store_file_of(const fs::path& path) {
  const fs::path file = fs::is_directory(path) ? path / kStoreFile : path;
  if (!fs::exists(file)) {
    refuse(fmt::format("there is no store {}", file.string()),
           "`headway sweep -o DIR` writes DIR/sweep.db");
  }
  return file;
}

/// The SQL function place_of(axes).
struct PlaceFunction {
  PointOrder order;
  bool met_damage = false;

  static void call(sqlite3_context* context, int /*count*/, sqlite3_value** arguments) {
    auto& self = *static_cast<PlaceFunction*>(sqlite3_user_data(context));
    const unsigned char* const text = sqlite3_value_text(arguments[0]);
    try {
      const nlohmann::ordered_json axes =
          parsed_ordered_json(text == nullptr ? "{}" : reinterpret_cast<const char*>(text));
      const std::string place = self.order.place_of(axes);
      if (!axes.is_object()) self.met_damage = true;
      sqlite3_result_blob64(context, place.data(), place.size(), SQLITE_TRANSIENT);
    } catch (const nlohmann::json::exception&) {
      self.met_damage = true;
      sqlite3_result_null(context);
    }
  }
};

}  // namespace

struct StoredSweep::File {
  explicit File(const fs::path& of)
      : path(store_file_of(of)), database(opened_store(path, SQLITE_OPEN_READONLY)) {}
  ~File() {
    documents.reset();
    rows.reset();
    sqlite3_close(database);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  fs::path path;
  sqlite3* database;
  PackingReference like;
  std::unique_ptr<SqliteStatement> rows;       ///< from some place on
  std::unique_ptr<SqliteStatement> documents;  ///< of a key
  std::optional<std::size_t> at_hand;          ///< the place that `row` is of
  PointRow row;
};

StoredSweep::StoredSweep(const fs::path& path) : file_(std::make_unique<File>(path)) {
  sqlite3* const database = file_->database;
  try {
    header_ = stored_header(database, file_->path);
  } catch (const nlohmann::json::exception&) {
    refuse_damaged_store(file_->path);
  }
  if (!are_axes(header_.axes)) refuse_damaged_store(file_->path);
  file_->like = packing_reference(database);
  {
    PlaceFunction place{PointOrder(header_.axes)};
    sqlite3_create_function_v2(database, "place_of", 1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, &place,
                               &PlaceFunction::call, nullptr, nullptr, nullptr);
    execute(database, fmt::format("CREATE TEMP TABLE in_order AS SELECT {}{} FROM points "
                                  "ORDER BY place_of(axes), key",
                                  kReadColumns, number_columns()));
    sqlite3_create_function_v2(database, "place_of", 1, SQLITE_UTF8, nullptr, nullptr, nullptr,
                               nullptr, nullptr);
    if (place.met_damage) refuse_damaged_store(file_->path);
  }
  SqliteStatement count(database, "SELECT count(*) FROM in_order");
  count.step();
  size_ = static_cast<std::size_t>(count.number(0).value_or(0.0));
  file_->rows = std::make_unique<SqliteStatement>(
      database, fmt::format("SELECT {}{} FROM in_order WHERE rowid >= ? ORDER BY rowid",
                            kReadColumns, number_columns()));
  file_->documents = std::make_unique<SqliteStatement>(
      database, "SELECT scenario, result FROM points WHERE key = ?");
}

StoredSweep::~StoredSweep() = default;

const PointRow& StoredSweep::row(std::size_t place) const {
  File& file = *file_;
  if (file.at_hand == place) return file.row;
  SqliteStatement& rows = *file.rows;
  const bool is_next = file.at_hand && *file.at_hand + 1 == place;
  if (!is_next) {
    rows.reset();
    rows.bind(1, static_cast<double>(place + 1));
  }
  file.at_hand.reset();
  HEADWAY_CHECK(rows.step(), "no such point in the store");
  PointRow& row = file.row;
  row.key = rows.text(0).value_or("");
  row.axes = rows.text(1).value_or("{}");
  const auto status = value_named<PointStatus>(rows.text(2).value_or(""));
  if (!status) refuse_damaged_store(file.path);
  row.status = *status;
  row.reason = rows.text(3).value_or("");
  row.numbers.clear();
  for (int i = 0; i < std::ssize(point_columns()); ++i) {
    row.numbers.push_back(rows.number(kReadCount + i));
  }
  file.at_hand = place;
  return row;
}

SweepPoint StoredSweep::point(std::size_t place, Predictions predictions,
                              Diagnostics& diagnostics) const {
  PointRow with_documents = row(place);
  if (predictions == Predictions::read) {
    SqliteStatement& documents = *file_->documents;
    documents.bind(1, with_documents.key);
    if (documents.step()) {
      auto scenario = unpacked(documents.bytes(0), file_->like.scenario);
      auto result = unpacked(documents.bytes(1), file_->like.result);
      if (!scenario || !result) refuse_damaged_store(file_->path);
      with_documents.scenario = std::move(*scenario);
      with_documents.result = std::move(*result);
    }
    documents.reset();
  }
  try {
    return point_of(with_documents, diagnostics);
  } catch (const nlohmann::json::exception&) {
    refuse_damaged_store(file_->path);
  }
}

SweepContent read_sweep(const fs::path& path, Predictions predictions) {
  const StoredSweep stored(path);
  SweepContent content{.header = stored.header(), .points = {}};
  content.points.reserve(stored.size());
  Diagnostics diagnostics;
  for (std::size_t i = 0; i < stored.size(); ++i) {
    content.points.push_back(stored.point(i, predictions, diagnostics));
  }
  diagnostics.throw_if_errors();
  return content;
}

}  // namespace headway

#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/files/json_document.h"
#include "sim/files/json_value.h"

namespace headway {

/// A published measurement of how a job synchronises, reads its input or recovers, as the file has
/// it. What was run stands in words.
struct SyncRow {
  std::string id;
  std::string kind;    ///< "ddp_measured"
  std::string set_up;  ///< in words; of rows that tell hardware, software and conditions apart, all
  std::string metric;  ///< what the values are
  std::string source;
  std::string link;
  JsonValue job;    ///< an object with parts of a scenario, where that is told; else null
  JsonValue value;  ///< a number, a list of them, or numbers by name; null where nothing came out
};

/// What ships, as InputFiles finds it below "scenarios".
inline constexpr const char* kBuiltInSyncRows = "validation/published_sync.json";

/// Reads a file of such rows: [...], or {"rows": [...]}, where a text for "source" or "set-up" may
/// name an entry of the tables "sources" and "set-ups". What is missing becomes a diagnostic at its
/// place.
[[nodiscard]] std::vector<SyncRow> read_sync_rows(const JsonCursor& root, Diagnostics& diagnostics);

// What set-ups say in words.

/// The number right after `words`: 100 of "H = 100" with "H = ".
[[nodiscard]] std::optional<double> number_after(std::string_view text, std::string_view words);
/// The number right before `words`, a blank between them or none; of thousands with a k: 64000 of
/// "64k a GPU".
[[nodiscard]] std::optional<double> number_before(std::string_view text, std::string_view words);
/// What stands between two texts, up to the end where the second does not follow.
[[nodiscard]] std::string text_between(std::string_view text, std::string_view begin,
                                       std::string_view end);
/// Cut at `separator`.
[[nodiscard]] std::vector<std::string> parts_of(std::string_view text, std::string_view separator);

/// The first entry of a table whose `words` stand in the text; null if none does.
template <class Table>
const typename Table::value_type* named_in(const Table& table, std::string_view text) {
  const auto found = std::ranges::find_if(
      table, [&](const auto& entry) { return text.find(entry.words) != std::string_view::npos; });
  return found == table.end() ? nullptr : &*found;
}

/// Number `index` of the value; nothing if it is none ("1000+").
[[nodiscard]] std::optional<double> value_at(const SyncRow& row, std::size_t index);

}  // namespace headway

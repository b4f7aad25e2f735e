#include "sim/validate/sync/sync_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <nlohmann/json.hpp>

#include "sim/files/json_text.h"

namespace headway {
namespace {

constexpr std::string_view kNumberCharacters = "0123456789.";

std::optional<double> number_of(std::string_view digits) {
  double number = 0.0;
  const auto [stopped, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || digits.empty()) return std::nullopt;
  return number;
}

/// The member, or the entry of the table that it names.
std::string text_member(const nlohmann::json& row, const char* key, const nlohmann::json& tables,
                        const char* table) {
  const auto found = row.find(key);
  if (found == row.end()) return "";
  if (found->is_object()) return found->value("title", found->value("repo", std::string()));
  if (!found->is_string()) return "";
  auto text = found->get<std::string>();
  if (!tables.is_object() || !tables.contains(table)) return text;
  const nlohmann::json& entries = tables.at(table);
  const auto entry = entries.find(text);
  return entry != entries.end() && entry->is_string() ? entry->get<std::string>() : text;
}

std::string link_of(const nlohmann::json& row) {
  if (row.contains("link") && row.at("link").is_string()) return row.at("link");
  if (row.contains("source") && row.at("source").is_object()) {
    return row.at("source").value("url", std::string());
  }
  return "";
}

/// A submission to MLPerf Training, field by field.
std::string submission_of(const nlohmann::json& row) {
  const auto said = [&](const char* key) {
    const auto found = row.find(key);
    if (found == row.end()) return std::string();
    return unquoted_json(*found);
  };
  return fmt::format(
      "{}; {} nodes, {} accelerators a node, {}; inside {}; network: {}; framework {}; global "
      "batch {}",
      said("benchmark"), said("number_of_nodes"), said("accelerators_per_node"),
      said("accelerator"), said("interconnect"), said("host_networking"), said("framework"),
      said("global_batch_size"));
}

/// All that a row says of what was run.
std::string set_up_of(const nlohmann::json& row, const nlohmann::json& tables) {
  std::string text = text_member(row, "set-up", tables, "set-ups");
  for (const char* key : {"hardware", "software", "model", "conditions"}) {
    const std::string part = text_member(row, key, tables, key);
    if (!part.empty()) text += (text.empty() ? "" : "; ") + part;
  }
  const auto gpus = row.find("gpus");
  if (gpus != row.end() && gpus->is_number() && text.find(" GPUs") == std::string::npos) {
    text += fmt::format("; {} GPUs", gpus->get<double>());
  }
  return row.contains("runs") ? text + submission_of(row) : text;
}

/// The median over the runs of one submission of what most of each reached; null if none says it.
nlohmann::json median_throughput(const nlohmann::json& runs) {
  std::vector<double> all;
  for (const nlohmann::json& run : runs) {
    const auto found = run.is_object() ? run.find("throughput_median") : run.end();
    if (run.is_object() && found != run.end() && found->is_number()) all.push_back(*found);
  }
  if (all.empty()) return nullptr;
  std::ranges::sort(all);
  return all[all.size() / 2];
}

}  // namespace

std::vector<SyncRow> read_sync_rows(const JsonCursor& root, Diagnostics& diagnostics) {
  std::optional<JsonCursor> list = root;
  if (root.is_object()) list = root.member("rows");
  if (!list || !list->is_array()) {
    diagnostics.add(
        root.problem("this is no file of published rows", "",
                     "it is a list of objects, one a measurement, or has it as \"rows\""));
    return {};
  }
  std::vector<SyncRow> rows;
  for (std::size_t i = 0; i < list->value().size(); ++i) {
    const JsonCursor place = list->element(i);
    const nlohmann::json& row = place.value();
    if (!row.is_object()) {
      diagnostics.add(place.problem("a row is an object"));
      continue;
    }
    SyncRow read{.id = text_member(row, "id", root.value(), ""),
                 .kind = text_member(row, "kind", root.value(), ""),
                 .set_up = set_up_of(row, root.value()),
                 .metric = text_member(row, row.contains("metric") ? "metric" : "unit",
                                       root.value(), "metrics"),
                 .source = text_member(row, "source", root.value(), "sources"),
                 .link = link_of(row)};
    if (row.contains("job")) read.job = row.at("job");
    const bool has_runs = row.contains("runs") && row.at("runs").is_array();
    const bool has_value = row.contains("value") || has_runs;
    if (has_value) {
      read.value = row.contains("value") ? row.at("value") : median_throughput(row.at("runs"));
    }
    if (read.id.empty()) diagnostics.add(place.problem("a row needs \"id\", a text"));
    if (!has_value) diagnostics.add(place.problem("a row needs \"value\""));
    rows.push_back(std::move(read));
  }
  return rows;
}

std::optional<double> number_after(std::string_view text, std::string_view words) {
  const std::size_t at = text.find(words);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view rest = text.substr(at + words.size());
  while (rest.starts_with(' ')) rest.remove_prefix(1);
  std::string_view digits = rest.substr(0, rest.find_first_not_of(kNumberCharacters));
  return number_of(digits);
}

std::optional<double> number_before(std::string_view text, std::string_view words) {
  for (std::size_t at = text.find(words); at != std::string_view::npos;
       at = text.find(words, at + 1)) {
    std::string_view before = text.substr(0, at);
    while (before.ends_with(' ')) before.remove_suffix(1);
    double times = 1.0;
    if (before.ends_with('k')) {
      times = 1000.0;
      before.remove_suffix(1);
    }
    const std::size_t begin = before.find_last_not_of(kNumberCharacters);
    const std::string_view digits =
        begin == std::string_view::npos ? before : before.substr(begin + 1);
    if (const auto number = number_of(digits)) return times * *number;
  }
  return std::nullopt;
}

std::string text_between(std::string_view text, std::string_view begin, std::string_view end) {
  const std::size_t first = text.find(begin);
  if (first == std::string_view::npos) return "";
  const std::string_view rest = text.substr(first + begin.size());
  return std::string(rest.substr(0, rest.find(end)));
}

std::vector<std::string> parts_of(std::string_view text, std::string_view separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t at = text.find(separator);
    parts.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + separator.size());
  }
}

std::optional<double> value_at(const SyncRow& row, std::size_t index) {
  const nlohmann::json& value = *row.value;
  if (value.is_number()) return index == 0 ? std::optional(value.get<double>()) : std::nullopt;
  if (!value.is_array() || index >= value.size() || !value[index].is_number()) return std::nullopt;
  return value[index].get<double>();
}

}  // namespace headway

#include "sim/launch/reading/strategy_of_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>

#include "sim/base/parse_number.h"
#include "sim/base/utf8.h"
#include "sim/files/json_document.h"
#include "sim/files/json_reader.h"
#include "sim/files/json_text.h"
#include "sim/jobs/strategy_fields.h"

namespace headway {
namespace {

using nlohmann::json;

/// "1f1b, interleaved" and "flash by cuDNN" are values beside something else (`value_of` in
/// flag_table.cpp).
struct RowValue {
  std::string_view value;
  std::string_view beside;
};
RowValue value_of(const FlagRow& row) {
  for (const std::string_view between : {", ", " by ", " of "}) {
    const std::size_t end = row.value.find(between);
    if (end == std::string_view::npos) continue;
    return {row.value.substr(0, end), row.value.substr(end + between.size())};
  }
  return {row.value, {}};
}

/// Whether what a value stands beside can be so; what the row's own flags say needs no word here.
bool may_hold(std::string_view beside, const GivenSettings& settings) {
  if (beside == "of fp16") {
    return settings.has("--fp16") || settings.value("fp16.enabled") == "true";
  }
  if (beside == "compiled") return settings.value("compile.enable") == "true";
  return beside != "by Muon";
}

bool is_same(const std::string& a, const std::string& b) {
  const auto number = parse_number<double>(a);
  return number ? number == parse_number<double>(b) : a == b;
}

/// A line of a row: a flag and what stands behind it.
struct FlagLine {
  std::string flag;
  std::string argument;
  std::vector<std::string> members = {};  ///< of a list, which may hold others too
};

/// "table.key=value", the value as JSON has it.
FlagLine line_of_config(const std::string& line) {
  const std::size_t equals = line.find('=');
  FlagLine parted{line.substr(0, equals), line.substr(equals + 1)};
  if (parted.argument.starts_with('{')) return parted;
  const nlohmann::ordered_json value = parsed_ordered_json(parted.argument);
  if (value.is_array()) parted.members = value.get<std::vector<std::string>>();
  if (value.is_string()) parted.argument = value.get<std::string>();
  return parted;
}

std::vector<FlagLine> lines_of(std::string_view flags, LaunchFramework framework) {
  const bool is_config =
      framework == LaunchFramework::torchtitan || framework == LaunchFramework::deepspeed;
  std::vector<FlagLine> lines;
  std::istringstream stream{std::string(flags)};
  for (std::string line; std::getline(stream, line);) {
    if (is_config) {
      lines.push_back(line_of_config(line));
      continue;
    }
    const bool is_launchers = line.starts_with(kOfLauncher);
    const std::size_t blank = line.find(' ', is_launchers ? kOfLauncher.size() : 0);
    lines.push_back(
        {line.substr(0, blank), blank == std::string::npos ? "" : line.substr(blank + 1)});
  }
  return lines;
}

/// What stands for {..} in a row that holds, by what is between the braces.
using Captured = std::map<std::string, std::string>;

std::optional<Captured> captured(const std::vector<FlagLine>& lines,
                                 const GivenSettings& settings) {
  Captured words;
  for (const FlagLine& line : lines) {
    const GivenSetting* const setting = settings.find(line.flag);
    if (setting == nullptr) return std::nullopt;
    if (!line.members.empty()) {
      const bool has_all = std::ranges::all_of(line.members, [&](const std::string& member) {
        return std::ranges::find(setting->values, member) != setting->values.end();
      });
      if (!has_all) return std::nullopt;
      continue;
    }
    const std::string given = settings.value(line.flag);
    if (line.argument.starts_with('{') && line.argument.ends_with('}')) {
      if (given.empty()) return std::nullopt;
      // The same value twice: the first of the flags is about the field.
      words.try_emplace(line.argument.substr(1, line.argument.size() - 2), given);
    } else if (!line.argument.empty() && !is_same(line.argument, given)) {
      return std::nullopt;
    }
  }
  return words;
}

/// Scripts may have bytes in them that JSON does not take.
json as_json(const std::string& text) {
  if (text == "true" || text == "false") return text == "true";
  if (const auto whole = parse_number<std::int64_t>(text)) return *whole;
  if (const auto number = parse_number<double>(text)) return *number;
  return printable(text);
}

/// Sizes of which nothing means none: not asked for another one, software has its own.
constexpr std::string_view kSizes[] = {"gradient_bucket", "first_gradient_bucket",
                                       "gradient_cycle"};

/// Words that are fields only beside the size of the job, which is not among the settings.
constexpr std::string_view kOfSize[] = {"copies", "shards", "local_batch", "micro_batches",
                                        "layers_of_chunk"};

bool is_flag(std::string_view flags) {
  return !flags.empty() && flags != kNoFlag && flags != kOfScript;
}

class StrategyReader {
 public:
  StrategyReader(const GivenSettings& settings, LaunchFramework framework,
                 std::set<std::string>& used, Diagnostics& diagnostics)
      : settings_(settings), framework_(framework), used_(used), diagnostics_(diagnostics) {}

  ToldStrategy read() {
    const std::span<const FlagRow> table = flag_table();
    for (std::size_t first = 0; first < table.size();) {
      std::size_t end = first;
      while (end < table.size() && table[end].field == table[first].field) ++end;
      read_field(table.subspan(first, end - first));
      first = end;
    }
    if (bucket_elements_) {
      const json& known = strategy_.contains("gradient_precision") ? strategy_ : unasked_;
      const bool is_wide = known.value("gradient_precision", "fp32") == "fp32";
      strategy_["gradient_bucket"] =
          fmt::format("{:.0f} B", *bucket_elements_ * (is_wide ? 4.0 : 2.0));
    }
    return {std::move(strategy_), std::move(unasked_)};
  }

 private:
  [[nodiscard]] std::string_view flags_of(const FlagRow& row) const {
    return row.flags[static_cast<std::size_t>(framework_)];
  }

  /// The row whose flags all are given, the most of them.
  void read_field(std::span<const FlagRow> rows) {
    const FlagRow* best = nullptr;
    std::size_t most = 0;
    Captured words;
    for (const FlagRow& row : rows) {
      if (!is_flag(flags_of(row)) || !may_hold(value_of(row).beside, settings_)) continue;
      const std::vector<FlagLine> lines = lines_of(flags_of(row), framework_);
      auto found = captured(lines, settings_);
      if (!found) continue;
      for (const FlagLine& line : lines) {
        if (used_.insert(line.flag).second) check_number(line);
      }
      if (lines.size() <= most) continue;
      best = &row;
      most = lines.size();
      words = std::move(*found);
    }
    const std::string field(rows.front().field);
    if (best == nullptr) {
      take_unasked(field, rows);
      return;
    }
    const std::string value(value_of(*best).value);
    if (value != "*") {
      strategy_[field] = as_json(value);
    } else if (words.contains("")) {
      strategy_[field] = as_json(words.at(""));
    }
    words.erase("");
    for (const auto& [word, text] : words) take_word(word, text);
  }

  /// A flag of the table takes a number or names modules.
  void check_number(const FlagLine& line) {
    constexpr double kMostOfFlag = 1e12;
    const bool names_parts =
        line.argument == "{recompute_modules}" || line.argument == "{captured_parts}";
    if (!line.argument.starts_with('{') || names_parts) return;
    const auto number = settings_.number(line.flag);
    if (number && *number >= 0.0 && *number <= kMostOfFlag) return;
    const std::string value = settings_.value(line.flag);
    diagnostics_.add(
        {.message = fmt::format("{} takes a number from 0 up, not {}", line.flag, in_quotes(value)),
         .location = settings_.find(line.flag)->place,
         .help = help_for_variable(value)});
  }

  /// What the framework does where nobody tells it, if that is one thing.
  void take_unasked(const std::string& field, std::span<const FlagRow> rows) {
    if (std::ranges::find(kSizes, field) != std::end(kSizes)) return;
    std::set<std::string_view> values;
    for (const FlagRow& row : rows) {
      if (flags_of(row).empty() && may_hold(value_of(row).beside, settings_)) {
        values.insert(value_of(row).value);
      }
    }
    if (values.size() != 1 || values.contains("*")) return;
    unasked_[field] = as_json(std::string(*values.begin()));
  }

  /// What flags have for fields of other names, or in other units.
  void take_word(const std::string& word, const std::string& text) {
    if (word == "recompute_modules") {
      json modules = json::array();
      std::istringstream stream(text);
      for (std::string module; stream >> module;) modules.push_back(printable(module));
      strategy_[word] = std::move(modules);
    } else if (word == "captured_parts") {
      strategy_["cuda_graph"] = word_of(CudaGraph::layer);
    } else if (word == "bucket_elements") {
      bucket_elements_ = parse_number<double>(text);
    } else if (word == "bucket_mib") {
      strategy_["gradient_bucket"] = text + " MiB";
    } else if (std::ranges::find(kOfSize, word) == std::end(kOfSize)) {
      strategy_[word] = as_json(text);
    }
  }

  const GivenSettings& settings_;
  LaunchFramework framework_;
  std::set<std::string>& used_;
  Diagnostics& diagnostics_;
  json strategy_ = json::object();
  json unasked_ = json::object();
  std::optional<double> bucket_elements_;
};

/// What a preset says of a field, whether a job has a use for it or not.
JsonValue habit(const Strategy& habits, std::string_view field) {
  for (const Field<Strategy>& known : strategy_fields().fields()) {
    if (known.name == field && known.member.write) return known.member.write(habits);
  }
  return {};
}

/// What fields make of a preset. Whoever reads the scenario tells what is wrong with them.
JsonValue resolved_beside(const Strategy& habits, const json& fields) {
  Diagnostics ignored;
  ObjectReader reader(JsonCursor(JsonDocument::parse("flags", fields.dump(), ignored)), ignored);
  Strategy strategy = habits;
  strategy_fields().read(reader, strategy);
  return strategy_fields().written(strategy);
}

}  // namespace

ToldStrategy strategy_of_settings(const GivenSettings& settings, LaunchFramework framework,
                                  std::set<std::string>& used, Diagnostics& diagnostics) {
  return StrategyReader(settings, framework, used, diagnostics).read();
}

json beside_preset(const ToldStrategy& told, const Framework& preset, bool has_experts) {
  const bool is_fp16 = told.said.value("precision", "") == word_of(Precision::fp16);
  const Strategy& habits = preset.habits(is_fp16 ? Precision::fp16 : Precision::bf16, has_experts);
  json said = told.said;
  // In the order of the table: a field may have no use beside what one before it says.
  for (const FlagRow& row : flag_table()) {
    const std::string field(row.field);
    const auto unasked = told.unasked.find(field);
    if (unasked == told.unasked.end() || said.contains(field)) continue;
    if (*habit(habits, field) == *unasked) continue;
    const JsonValue resolved = resolved_beside(habits, said);
    const auto otherwise = resolved->find(field);
    if (otherwise != resolved->end() && *otherwise != *unasked) said[field] = *unasked;
  }
  return said;
}

}  // namespace headway

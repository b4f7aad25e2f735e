#include "sim/launch/reading/started_config.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <vector>

#include "sim/base/file_text.h"
#include "sim/base/utf8.h"

namespace headway {
namespace {

constexpr std::string_view kIndents = " \t\r";

std::vector<std::string_view> lines_in(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return lines;
}

/// The first word there, without quotes.
std::string word_behind(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(kIndents), text.size()));
  std::string word(text.substr(0, text.find_first_of(" \t\r;|&<>")));
  std::erase_if(word, [](char c) { return c == '\'' || c == '"' || c == '\\'; });
  return word;
}

/// What ends the here-document of a line that writes one into a file of that name; empty for
/// another line.
std::string end_of_document(std::string_view line, std::string_view name) {
  const std::size_t begin = line.find("<<");
  if (begin == std::string_view::npos || line.substr(begin).starts_with("<<<")) return "";
  const std::size_t into = line.find('>');
  if (into == std::string_view::npos) return "";
  std::size_t target = into;
  while (target < line.size() && line[target] == '>') ++target;
  if (word_behind(line.substr(target)) != name) return "";
  std::string_view end = line.substr(begin + 2);
  if (end.starts_with('-')) end.remove_prefix(1);
  return word_behind(end);
}

std::optional<std::string> beside(const std::string& script, const std::string& name) {
  const std::filesystem::path folder = std::filesystem::path(script).parent_path();
  for (const std::filesystem::path& path : {folder / name, std::filesystem::path(name)}) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(path, ignored)) return path.string();
  }
  return std::nullopt;
}

}  // namespace

std::optional<HereDocument> here_document_of(std::string_view script, std::string_view name) {
  const std::vector<std::string_view> lines = lines_in(script);
  for (std::size_t first = 0; first < lines.size(); ++first) {
    const std::string end = end_of_document(lines[first], name);
    if (end.empty()) continue;
    HereDocument document{.lines_before = static_cast<int>(first + 1)};
    for (std::size_t line = first + 1; line < lines.size(); ++line) {
      std::string_view bare = lines[line];
      while (!bare.empty() && kIndents.find(bare.front()) != std::string_view::npos) {
        bare.remove_prefix(1);
      }
      if (bare == end) break;
      document.text += std::string(lines[line]) + "\n";
    }
    return document;
  }
  return std::nullopt;
}

std::optional<StartedConfig> read_started_config(const std::string& path,
                                                 bool (*is_configuration)(const std::string& text),
                                                 std::span<const std::string_view> names,
                                                 Diagnostics& diagnostics) {
  auto text = file_text(path, diagnostics);
  if (!text) return std::nullopt;
  StartedConfig config{.file = path};
  if (is_configuration(*text)) {
    config.text = std::move(*text);
    return config;
  }
  config.job = job_of_script(path, *text, diagnostics);
  std::string name;
  SourceLocation place = {.file = path};
  for (const std::string_view known : names) {
    const GivenSetting* setting = config.job.settings.find(known);
    if (setting == nullptr) setting = config.job.launcher.find(known);
    const auto variable = config.job.variables.find(std::string(known));
    if (setting != nullptr && !setting->values.empty()) {
      name = setting->values.front();
      place = setting->place;
    } else if (name.empty() && variable != config.job.variables.end()) {
      name = variable->second;
    }
  }
  if (name.empty()) return config;
  if (auto document = here_document_of(*text, name)) {
    config.text = std::move(document->text);
    config.lines_before = document->lines_before;
    return config;
  }
  const auto found = beside(path, name);
  if (!found) {
    const std::string help = help_for_variable(name);
    diagnostics.add({.message = fmt::format("the configuration {} is neither beside the script nor "
                                            "where it says",
                                            in_quotes(name)),
                     .location = place,
                     .help = help.empty() ? "put it there" : help});
    return std::nullopt;
  }
  config.file = *found;
  auto content = file_text(*found, diagnostics);
  if (!content) return std::nullopt;
  config.text = std::move(*content);
  return config;
}

}  // namespace headway

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "sim/files/json_text.h"
#include "sim/launch/launch_job.h"

namespace headway {
namespace {

/// "a.b.c=value": the path and the value.
std::pair<std::string, std::string> parted(const std::string& setting) {
  const std::size_t equals = setting.find('=');
  return {setting.substr(0, equals), setting.substr(equals + 1)};
}

}  // namespace

std::string torchtitan_config(const std::vector<std::string>& settings) {
  // Tables in the order in which they are first spoken of.
  std::vector<std::pair<std::string, std::string>> tables;
  for (const std::string& setting : settings) {
    const auto [path, value] = parted(setting);
    const std::size_t dot = path.rfind('.');
    const std::string table = path.substr(0, dot);
    auto known = tables.begin();
    while (known != tables.end() && known->first != table) ++known;
    if (known == tables.end()) known = tables.emplace(known, table, "");
    known->second += fmt::format("{} = {}\n", path.substr(dot + 1), value);
  }
  std::string text;
  for (const auto& [table, lines] : tables) {
    text += fmt::format("{}[{}]\n{}", text.empty() ? "" : "\n", table, lines);
  }
  return text;
}

std::string deepspeed_config(const std::vector<std::string>& settings) {
  nlohmann::ordered_json config = nlohmann::ordered_json::object();
  for (const std::string& setting : settings) {
    const auto [path, value] = parted(setting);
    std::string pointer = "/" + path;
    for (char& letter : pointer) {
      if (letter == '.') letter = '/';
    }
    config[nlohmann::ordered_json::json_pointer(pointer)] = parsed_ordered_json(value);
  }
  return config.dump(2) + "\n";
}

}  // namespace headway

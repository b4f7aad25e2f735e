#include <nlohmann/json.hpp>

#include "reports/sections/prediction_sections.h"
#include "sim/files/json_text.h"

namespace headway {
namespace {

/// A value of the provenance on one line.
std::string provenance_text(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_structured()) return compact_json(value);
  std::string text;
  for (const auto& [key, member] : value.items()) {
    if (!text.empty()) text += ", ";
    if (value.is_object()) text += key + " ";
    text += provenance_text(member);
  }
  return text;
}

std::string command_line(const nlohmann::json& value) {
  if (!value.is_array()) return provenance_text(value);
  std::string text;
  for (const nlohmann::json& argument : value) {
    if (!text.empty()) text += ' ';
    text += provenance_text(argument);
  }
  return text;
}

TextTable provenance_table(const nlohmann::json& provenance) {
  TextTable table({{"provenance"}, {"value"}});
  for (const auto& [key, value] : provenance.items()) {
    if (key == "command_line") continue;
    if (value.is_array()) {
      for (const nlohmann::json& element : value) table.add_row({key, provenance_text(element)});
    } else {
      table.add_row({key, provenance_text(value)});
    }
  }
  return table;
}

}  // namespace

DocumentSection reproduction_section(const Question& question) {
  DocumentSection section{"Reproduce", {}};
  const nlohmann::json& provenance = question.provenance;
  if (provenance.is_object()) {
    if (provenance.contains("command_line")) {
      section.blocks.emplace_back(
          Code{.text = command_line(provenance.at("command_line")), .language = "sh"});
    }
    TextTable table = provenance_table(provenance);
    if (table.row_count() > 0) section.blocks.emplace_back(std::move(table));
  }
  section.blocks.emplace_back(
      Code{.text = question.scenario->dump(2, ' ', false, nlohmann::json::error_handler_t::replace),
           .language = "json",
           .summary = "Resolved scenario",
           .file_name = "scenario.json"});
  return section;
}

}  // namespace headway

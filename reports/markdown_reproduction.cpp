#include "reports/markdown_sections.h"
#include "reports/markdown_text.h"
#include "sim/base/text_table.h"

namespace headway {
namespace {

/// A value of the provenance on one line.
std::string value_text(const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (!value.is_structured()) return value.dump();
  std::string text;
  for (const auto& [key, member] : value.items()) {
    if (!text.empty()) text += ", ";
    if (value.is_object()) text += key + " ";
    text += value_text(member);
  }
  return text;
}

std::string command_line(const nlohmann::json& value) {
  if (!value.is_array()) return value_text(value);
  std::string text;
  for (const nlohmann::json& argument : value) {
    if (!text.empty()) text += ' ';
    text += value_text(argument);
  }
  return text;
}

/// Empty if there is nothing but the command line.
std::string provenance_table(const nlohmann::json& provenance) {
  TextTable table({{"provenance"}, {"value"}});
  bool has_rows = false;
  for (const auto& [key, value] : provenance.items()) {
    if (key == "command_line") continue;
    has_rows = true;
    if (value.is_array()) {
      for (const nlohmann::json& element : value) {
        table.add_row({markdown_text(key), markdown_text(value_text(element))});
      }
    } else {
      table.add_row({markdown_text(key), markdown_text(value_text(value))});
    }
  }
  return has_rows ? table.markdown() : "";
}

}  // namespace

std::string reproduction_section(const Question& question) {
  std::string text = "## Reproduce\n\n";
  const nlohmann::json& provenance = question.provenance;
  if (provenance.is_object()) {
    if (provenance.contains("command_line")) {
      text += markdown_code(command_line(provenance.at("command_line")), "sh") + "\n";
    }
    const std::string table = provenance_table(provenance);
    if (!table.empty()) text += table + "\n";
  }
  const std::string scenario =
      question.scenario.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
  return text + "<details>\n<summary>Resolved scenario</summary>\n\n" +
         markdown_code(scenario, "json") + "\n</details>\n";
}

}  // namespace headway

#include "sim/launch/reading/toml_settings.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <sstream>
#include <string_view>

#include "sim/base/utf8.h"

namespace headway {
namespace {

class TomlReader {
 public:
  TomlReader(const std::string& file, int lines_before)
      : file_(file), lines_before_(lines_before) {}

  GivenSettings read(const toml::table& root) && {
    read_table(root, "");
    return std::move(settings_);
  }

  [[nodiscard]] SourceLocation place_of(const toml::source_region& region) const {
    return {.file = file_,
            .line = lines_before_ + static_cast<int>(region.begin.line),
            .column = static_cast<int>(region.begin.column)};
  }

 private:
  void read_table(const toml::table& table, const std::string& path) {
    for (const auto& [key, node] : table) {
      const std::string name = path + std::string(key.str());
      if (const toml::table* const inner = node.as_table()) {
        read_table(*inner, name + ".");
        continue;
      }
      GivenSetting setting{.flag = name, .place = place_of(key.source())};
      if (const toml::array* const list = node.as_array()) {
        for (const toml::node& member : *list) setting.values.push_back(text_of(member));
      } else {
        setting.values.push_back(text_of(node));
      }
      settings_.give(std::move(setting));
    }
  }

  static std::string text_of(const toml::node& node) {
    if (const auto* const text = node.as_string()) return text->get();
    if (const auto* const flag = node.as_boolean()) return flag->get() ? "true" : "false";
    if (const auto* const whole = node.as_integer()) return std::to_string(whole->get());
    if (const auto* const number = node.as_floating_point()) {
      return fmt::format("{}", number->get());
    }
    std::ostringstream stream;
    node.visit([&](const auto& value) { stream << value; });
    return stream.str();
  }

  const std::string& file_;
  int lines_before_;
  GivenSettings settings_;
};

}  // namespace

GivenSettings settings_of_toml(const std::string& file, const std::string& text, int lines_before,
                               Diagnostics& diagnostics) {
  TomlReader reader(file, lines_before);
  try {
    return std::move(reader).read(toml::parse(text, file));
  } catch (const toml::parse_error& error) {
    diagnostics.add(
        {.message = fmt::format("this is no TOML: {}", printable(std::string(error.description()))),
         .location = reader.place_of(error.source())});
  }
  return {};
}

bool is_toml(const std::string& text) {
  try {
    const toml::table root = toml::parse(text);
    for (const auto& [key, node] : root) {
      if (node.is_table()) return true;
    }
  } catch (const toml::parse_error&) {
    return false;
  }
  return false;
}

}  // namespace headway

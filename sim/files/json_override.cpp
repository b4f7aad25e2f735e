#include "sim/files/json_override.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/base/parse_number.h"
#include "sim/base/utf8.h"
#include "sim/files/json_parse.h"
#include "sim/files/json_pointer.h"

namespace headway {
namespace {

using nlohmann::json;

constexpr std::string_view kExample = "/strategy/tensor_parallel=8";

/// "/a/b" of "a.b" or "a/b", the two forms that are written by mistake.
std::string as_pointer(std::string_view path) {
  std::string pointer = path.find('/') == std::string_view::npos ? std::string(path) : "";
  for (char& c : pointer) {
    if (c == '.') c = '/';
  }
  return fmt::format("/{}", pointer.empty() ? path : pointer);
}

bool has_bad_escape(std::string_view pointer) {
  for (std::size_t tilde = pointer.find('~'); tilde != std::string_view::npos;
       tilde = pointer.find('~', tilde + 1)) {
    const char next = tilde + 1 < pointer.size() ? pointer[tilde + 1] : '\0';
    if (next != '0' && next != '1') return true;
  }
  return false;
}

/// The value as JSON, or as a text if it is none. Nothing if it is JSON that we refuse (a key
/// twice, nested too deep).
std::optional<json> override_value(const Override& override, Diagnostics& diagnostics) {
  const std::string& text = override.value_text;
  Diagnostics problems;
  auto value = parse_json(SourceText(shown_override(override), text), problems);
  if (value) return value;
  const bool is_structure = text.starts_with('{') || text.starts_with('[');
  if (!is_structure && first_invalid_utf8(text) == std::string::npos) return json(text);
  Diagnostic problem = problems.all().front();
  problem.location = {.file = shown_override(override)};
  problem.pointer.clear();
  problem.related.clear();
  diagnostics.add(std::move(problem));
  return std::nullopt;
}

/// The member or element `token` of `parent`, made if an object lacks it; null with the reason in
/// `problem` if there can be none.
json* step_into(json& parent, const std::string& token, const std::string& pointer,
                std::string& problem) {
  const std::string place = pointer.empty() ? "the document" : pointer;
  if (parent.is_null()) parent = json::object();
  if (parent.is_object()) return &parent[token];
  if (!parent.is_array()) {
    problem = fmt::format("{} is {}, which has no fields", place,
                          parent.is_string()    ? "a text"
                          : parent.is_boolean() ? "true or false"
                                                : "a number");
    return nullptr;
  }
  const auto index = parse_number<std::size_t>(token);
  if (index && *index < parent.size()) return &parent[*index];
  problem = parent.empty() ? fmt::format("{} is empty", place)
                           : fmt::format("{} has elements 0 to {}, no {}", place, parent.size() - 1,
                                         in_quotes(token));
  return nullptr;
}

}  // namespace

Override parse_override(std::string_view text, std::string option) {
  const auto refuse = [&](std::string message, std::string help) {
    throw InputError(Diagnostic{.message = std::move(message),
                                .location = {.file = fmt::format("{} {}", option, printable(text))},
                                .help = std::move(help)});
  };
  const std::string example = fmt::format("write {} {}", option, kExample);
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos || equals == 0) {
    refuse("an override has the form /field=value", example);
  }
  const std::string_view pointer = text.substr(0, equals);
  const std::string_view value = text.substr(equals + 1);
  if (pointer[0] != '/') {
    refuse("the field of an override starts with a slash",
           fmt::format("write {} {}={}", option, as_pointer(pointer), value));
  }
  if (pointer.ends_with('/') || pointer.find("//") != std::string_view::npos) {
    refuse("an override names a field between slashes", example);
  }
  if (has_bad_escape(pointer)) {
    refuse("~ stands only before 0 or 1 in a JSON pointer",
           "a ~ in a name is written ~0 and a / is written ~1");
  }
  if (first_invalid_utf8(text) != std::string_view::npos) {
    refuse("the text is not UTF-8", "");
  }
  return {.pointer = std::string(pointer),
          .value_text = std::string(value),
          .option = std::move(option)};
}

std::string shown_override(const Override& override) {
  if (!override.place.empty()) return override.place;
  constexpr std::size_t kLongestShown = 80;
  const std::string text = fmt::format("{}={}", override.pointer, override.value_text);
  const std::size_t end = character_position(text, kLongestShown);
  return fmt::format("{} {}{}", override.option, printable(std::string_view(text).substr(0, end)),
                     end < text.size() ? "..." : "");
}

std::optional<AppliedOverride> apply_override(json& root, const std::string& pointer,
                                              const Override& override, Diagnostics& diagnostics) {
  auto value = override_value(override, diagnostics);
  if (!value) return std::nullopt;
  json* place = &root;
  std::string reached;
  const std::vector<std::string> tokens = pointer_tokens(pointer);
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const std::string& token = tokens[i];
    const bool is_taken_away =
        value->is_null() && i + 1 == tokens.size() && place->is_object() && place->contains(token);
    if (is_taken_away) {
      place->erase(token);
      return AppliedOverride{pointer, shown_override(override)};
    }
    std::string problem;
    place = step_into(*place, token, reached, problem);
    if (place == nullptr) {
      diagnostics.add({.message = std::move(problem),
                       .location = {.file = shown_override(override)},
                       .pointer = pointer});
      return std::nullopt;
    }
    append_token(reached, token);
  }
  *place = std::move(*value);
  return AppliedOverride{pointer, shown_override(override)};
}

}  // namespace headway

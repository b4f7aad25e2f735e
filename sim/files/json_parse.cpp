#include "sim/files/json_parse.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "sim/base/limits.h"
#include "sim/base/quantity_text.h"
#include "sim/base/utf8.h"
#include "sim/files/json_positions.h"
#include "sim/files/json_syntax.h"
#include "sim/files/kinds/foreign_text.h"

namespace headway {
namespace {

using nlohmann::json;

/// Far beyond any file of ours; keeps everything that recurses over a document off the stack limit.
constexpr int kDeepest = 200;

/// The first bracket that opens more than kDeepest levels, or npos. Reads brackets and strings
/// only, so it works on any text.
std::size_t first_too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kDeepest) return i;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return std::string_view::npos;
}

bool is_blank(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

/// The text without blanks that follow blanks, but in strings. nlohmann's parser keeps those before
/// a token, and where the token is wrong writes each of them out in eight characters.
std::string without_repeated_blanks(std::string_view text) {
  std::string kept;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (!in_string && is_blank(c) && i > 0 && is_blank(text[i - 1])) continue;
    if (in_string && c == '\\' && i + 1 < text.size()) {
      kept += c;
      ++i;
    } else if (c == '"') {
      in_string = !in_string;
    }
    kept += text[i];
  }
  return kept;
}

bool has_long_blanks(std::string_view text) {
  constexpr std::size_t kLong = 4096;
  for (std::size_t at = kLong - 1; at < text.size(); at += kLong) {
    if (!is_blank(text[at])) continue;
    const std::string_view before = text.substr(at + 1 - kLong, kLong);
    if (std::ranges::all_of(before, is_blank)) return true;
  }
  return false;
}

/// Builds the document, notices repeated keys (which nlohmann's own builder silently overwrites).
class Builder : public json::json_sax_t {
 public:
  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(number_integer_t value) override { return add(value); }
  bool number_unsigned(number_unsigned_t value) override { return add(value); }
  bool number_float(number_float_t value, const string_t&) override { return add(value); }
  bool string(string_t& value) override { return add(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(json::object()); }
  bool start_array(std::size_t) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    has_duplicates_ = has_duplicates_ || open_.back()->contains(name);
    key_ = std::move(name);
    return true;
  }

  bool parse_error(std::size_t, const std::string&, const json::exception&) override {
    return false;
  }

  [[nodiscard]] json take_root() { return std::move(root_); }
  [[nodiscard]] bool is_too_large() const { return values_ > limits().values; }
  [[nodiscard]] bool has_duplicates() const { return has_duplicates_; }

 private:
  [[nodiscard]] bool has_room() { return ++values_ <= limits().values; }
  json& place(json value) {
    if (open_.empty()) return root_ = std::move(value);
    json& parent = *open_.back();
    if (parent.is_object()) return parent[key_] = std::move(value);
    parent.push_back(std::move(value));
    return parent.back();
  }
  bool add(json value) {
    if (!has_room()) return false;
    place(std::move(value));
    return true;
  }
  bool open(json value) {
    if (!has_room()) return false;
    open_.push_back(&place(std::move(value)));
    return true;
  }
  bool close() {
    open_.pop_back();
    return true;
  }

  json root_;
  std::vector<json*> open_;  // a parent does not change while a child is open
  std::string key_;
  bool has_duplicates_ = false;
  std::int64_t values_ = 0;
};

void report_duplicates(const SourceText& source, Diagnostics& diagnostics) {
  const JsonPositions positions(source.text());
  for (const JsonPositions::Duplicate& duplicate : positions.duplicates()) {
    const auto [first, second] = std::pair(duplicate.first_key, duplicate.second_key);
    const std::string name = in_quotes(positions.token_of(duplicate.entry));
    const bool is_shown = std::ssize(diagnostics.all()) < limits().problems;
    diagnostics.add({.message = fmt::format("field {} is set twice", name),
                     .location = source.location(second.begin, second.end),
                     .pointer = is_shown ? positions.pointer_to(duplicate.entry) : "",
                     .related = {{.location = source.location(first.begin, first.end),
                                  .message = "is set here first"}},
                     .help = "keep one of the two"});
  }
}

/// Why the text is no JSON; nothing if it may be.
std::optional<Diagnostic> unreadable(const SourceText& source) {
  const std::string_view text = source.text();
  if (const auto bad = first_invalid_utf8(text); bad != std::string_view::npos) {
    return Diagnostic{.message = "the text is not UTF-8",
                      .location = source.location(bad, bad + 1),
                      .label = fmt::format("byte 0x{:02X}", static_cast<unsigned char>(text[bad])),
                      .help = "JSON files are UTF-8; convert it, for example with iconv"};
  }
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos || (text[begin] != '{' && text[begin] != '[')) {
    return std::nullopt;  // nothing is nested in it, whatever brackets it has
  }
  if (const auto deep = first_too_deep(text); deep != std::string_view::npos) {
    return Diagnostic{.message = fmt::format("values are nested more than {} deep", kDeepest),
                      .location = source.location(deep, deep + 1)};
  }
  return std::nullopt;
}

/// `problem`, or what the text is instead of JSON.
Diagnostic in_place_of(Diagnostic problem, const SourceText& source) {
  const ForeignText* const foreign = foreign_text(source.text());
  if (foreign == nullptr || foreign->is_json) return problem;
  return {.message = fmt::format("this is {}, and JSON is read here", foreign->what),
          .location = source.whole(),
          .help = std::string(foreign->help)};
}

}  // namespace

std::optional<json> parse_json(const SourceText& source, Diagnostics& diagnostics) {
  const std::string_view text = source.text();
  if (auto problem = unreadable(source)) {
    diagnostics.add(in_place_of(std::move(*problem), source));
    return std::nullopt;
  }
  Builder builder;
  const bool is_json = has_long_blanks(text)
                           ? json::sax_parse(without_repeated_blanks(text), &builder)
                           : json::sax_parse(text, &builder);
  if (builder.is_too_large()) {
    diagnostics.add({.message = fmt::format("the document has more than {} values",
                                            grouped_digits(limits().values)),
                     .location = source.whole(),
                     .help = limit_help(&Limits::values)});
    return std::nullopt;
  }
  if (!is_json) {
    diagnostics.add(in_place_of(syntax_problem(source), source));
    return std::nullopt;
  }
  if (builder.has_duplicates()) {
    report_duplicates(source, diagnostics);
    return std::nullopt;
  }
  return builder.take_root();
}

}  // namespace headway

#include "sim/files/json_syntax.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "sim/base/utf8.h"
#include "sim/files/json_scalar_syntax.h"

namespace headway {
namespace {

constexpr std::string_view kFieldForm = "fields are written \"name\": value, with commas between";

/// Walks a text by JSON's grammar up to the first thing that does not fit. Each function leaves
/// the position behind what it read and returns false once there is a problem.
class Walk {
 public:
  explicit Walk(const SourceText& source) : source_(source), text_(source.text()) {}

  Diagnostic first_problem() {
    if (value() && skip_blanks() && position_ < text_.size()) {
      fail_here("text after the end of the document", "an input holds one JSON value");
    }
    if (problem_.message.empty()) fail_here("the text is not JSON", "");
    Diagnostic diagnostic{.message = std::move(problem_.message),
                          .location = source_.location(problem_.begin, problem_.end),
                          .help = std::move(problem_.help)};
    if (shows_open_ && !open_.empty()) {
      const std::size_t open = open_.back();
      diagnostic.related.push_back(
          {.location = source_.location(open, open + 1),
           .message = fmt::format("the {} that stands here is not closed", text_[open])});
    }
    return diagnostic;
  }

 private:
  [[nodiscard]] char here() const { return position_ < text_.size() ? text_[position_] : '\0'; }

  bool fail(SyntaxProblem problem) {
    problem_ = std::move(problem);
    return false;
  }

  bool fail_here(std::string message, std::string_view help) {
    // A character of several bytes is underlined whole.
    const std::string_view rest = text_.substr(position_);
    const std::size_t end = position_ + character_position(rest, 1);
    return fail({position_, end, std::move(message), std::string(help)});
  }

  bool fail_at_end() {
    const std::size_t last = text_.find_last_not_of(" \t\r\n");
    shows_open_ = true;
    return fail({last, last + 1, "the input ends too early", "perhaps the file was cut off"});
  }

  bool fail_unexpected(std::string_view help) {
    if (here() == '\0' && position_ >= text_.size()) return fail_at_end();
    if (here() == '\'') return fail_here("a text in single quotes", "use double quotes");
    const std::string_view rest = text_.substr(position_);
    const std::string_view character = rest.substr(0, character_position(rest, 1));
    return fail_here(fmt::format("unexpected {}", in_quotes(character)), help);
  }

  bool fail_trailing_comma(std::size_t comma) {
    return fail({comma, comma + 1, fmt::format("a comma before the closing {}", here()),
                 "remove the comma"});
  }

  bool skip_blanks() {
    position_ = std::min(text_.find_first_not_of(" \t\r\n", position_), text_.size());
    const std::string_view rest = text_.substr(position_);
    if (rest.starts_with("//") || rest.starts_with("/*") || rest.starts_with('#')) {
      return fail({position_, position_ + (here() == '#' ? 1U : 2U), "JSON has no comments",
                   "remove it; a \"description\" field can hold the text"});
    }
    return true;
  }

  bool value() {
    if (!skip_blanks()) return false;
    if (here() == '{' || here() == '[') {
      open_.push_back(position_);
      const bool is_read = here() == '{' ? object() : array();
      if (is_read) open_.pop_back();
      return is_read;
    }
    if (here() == '"') return string();
    if (is_word_character(here())) return word();
    if (here() == ',' || here() == '}' || here() == ']') {
      return fail_here(
          fmt::format("a value is missing before {}", in_quotes(text_.substr(position_, 1))), "");
    }
    return fail_unexpected("");
  }

  bool string() {
    auto problem = string_problem(text_, position_);
    return !problem || fail(std::move(*problem));
  }

  bool word() {
    if (open_.empty() && is_yaml()) {
      return fail_here("this looks like YAML, and JSON is read here",
                       R"(write names and texts in double quotes, all in braces: {"name": value})");
    }
    auto problem = word_problem(text_, position_);
    return !problem || fail(std::move(*problem));
  }

  /// Whether a name with a colon stands where the document should begin.
  [[nodiscard]] bool is_yaml() const {
    std::size_t end = position_;
    while (end < text_.size() && is_word_character(text_[end])) ++end;
    const std::string_view behind = text_.substr(end);
    return behind == ":" || behind.starts_with(": ") || behind.starts_with(":\n") ||
           behind.starts_with(":\r\n");
  }

  bool object() { return elements('}', &Walk::field); }
  bool array() { return elements(']', &Walk::value); }

  /// What stands between an opening bracket and `close`, each read by `element`.
  bool elements(char close, bool (Walk::*element)()) {
    ++position_;
    if (!skip_blanks()) return false;
    while (here() != close) {
      if (!(this->*element)() || !skip_blanks()) return false;
      if (here() == close) break;
      if (here() != ',') return fail_between(close);
      const std::size_t comma = position_++;
      if (!skip_blanks()) return false;
      if (here() == '}' || here() == ']') return fail_trailing_comma(comma);
    }
    ++position_;
    return true;
  }

  bool fail_between(char close) {
    if (here() == '}' || here() == ']') {
      shows_open_ = true;
      return fail_here(fmt::format("{} where {} is due", here(), close), "");
    }
    const bool starts_value =
        here() == '"' || here() == '{' || here() == '[' || is_word_character(here());
    if (starts_value) {
      return fail_here("a comma is missing before this", close == '}' ? kFieldForm : "");
    }
    return fail_unexpected("");
  }

  bool field() {
    if (here() != '"') {
      const std::size_t begin = position_;
      while (is_word_character(here())) ++position_;
      if (position_ == begin) return fail_unexpected(kFieldForm);
      const std::string name = in_quotes(text_.substr(begin, position_ - begin));
      return fail({begin, position_, "a field name needs quotes", "write " + name});
    }
    const std::size_t begin = position_;
    if (!string()) return false;
    const std::size_t end = position_;
    if (!skip_blanks()) return false;
    if (here() != ':') {
      if (position_ >= text_.size()) return fail_at_end();
      return fail(
          {begin, end, "a colon and a value are missing after this name", std::string(kFieldForm)});
    }
    ++position_;
    return value();
  }

  const SourceText& source_;
  std::string_view text_;
  std::size_t position_ = 0;
  std::vector<std::size_t> open_;
  bool shows_open_ = false;
  SyntaxProblem problem_;
};

}  // namespace

Diagnostic syntax_problem(const SourceText& source) {
  if (source.text().find_first_not_of(" \t\r\n") == std::string_view::npos) {
    return {.message = "the input is empty",
            .location = source.whole(),
            .help = "did the command that was to write it fail?"};
  }
  return Walk(source).first_problem();
}

}  // namespace headway

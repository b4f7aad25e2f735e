#include "sim/launch/reading/shell_script.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace headway {
namespace {

constexpr std::string_view kBlanks = " \t\r";
constexpr int kDeepestDefaults = 16;  // defaults inside of defaults
// No script's arguments are longer; one that doubles a variable line by line is none.
constexpr std::size_t kMostText = std::size_t{1} << 20;

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::vector<ShellWord> split(const ShellWord& word) {
  std::vector<ShellWord> words;
  std::size_t begin = 0;
  while ((begin = word.text.find_first_not_of(" \t\r\n", begin)) != std::string::npos) {
    const std::size_t end = std::min(word.text.find_first_of(" \t\r\n", begin), word.text.size());
    words.push_back({word.text.substr(begin, end - begin), word.line});
    begin = end;
  }
  return words;
}

std::string joined(const std::vector<ShellWord>& words) {
  std::string text;
  for (const ShellWord& word : words) text += (text.empty() ? "" : " ") + word.text;
  return text;
}

/// What a `$...` stands for.
struct Expansion {
  std::vector<ShellWord> words;  ///< several of an array
  bool is_array = false;
};

class ShellReader {
 public:
  explicit ShellReader(std::string_view text) : text_(text) {}

  ShellScript read() && {
    while (!ended()) read_command();
    for (const auto& [name, words] : variables_) script_.variables[name] = joined(words);
    return std::move(script_);
  }

 private:
  [[nodiscard]] bool ended() const { return place_ >= text_.size(); }
  [[nodiscard]] char here() const { return ended() ? '\0' : text_[place_]; }
  [[nodiscard]] char behind() const { return place_ + 1 < text_.size() ? text_[place_ + 1] : '\0'; }
  void step() {
    if (here() == '\n') ++line_;
    ++place_;
  }
  bool take(std::string_view expected) {
    if (!text_.substr(place_).starts_with(expected)) return false;
    for (std::size_t i = 0; i < expected.size(); ++i) step();
    return true;
  }

  /// Blanks, lines that go on, and a comment; line ends too in an array.
  void skip_blanks(bool over_lines) {
    while (!ended()) {
      if (kBlanks.find(here()) != std::string_view::npos || (over_lines && here() == '\n')) {
        step();
      } else if (!take("\\\n") && !take("\\\r\n")) {
        if (here() != '#') return;
        while (!ended() && here() != '\n') step();
      }
    }
  }

  void read_command() {
    std::vector<ShellWord> command;
    while (true) {
      skip_blanks(false);
      const char c = here();
      if (ended() || c == '\n' || c == ';' || c == '&' || c == '|') {
        if (!ended()) step();
        break;
      }
      if (c == '(' || c == ')') {
        step();
      } else if (c == '<' || c == '>') {
        skip_redirection();
      } else if (!(command.empty() && read_assignment())) {
        read_argument(command);
      }
    }
    if (!here_ends_.empty()) skip_here_documents();
    if (command.empty()) return;
    const std::string& first = command.front().text;
    if (first == "if" || first == "case" || first == "for" || first == "while") ++conditions_;
    if ((first == "fi" || first == "esac" || first == "done") && conditions_ > 0) --conditions_;
    script_.commands.push_back(std::move(command));
  }

  void read_argument(std::vector<ShellWord>& command) {
    const std::size_t before = place_;
    std::vector<ShellWord> words = read_word(true);
    if (place_ == before) step();  // nothing that a word begins with
    // The number of a stream before a redirection.
    const bool is_stream = (here() == '>' || here() == '<') && words.size() == 1 &&
                           words.front().text.find_first_not_of("0123456789") == std::string::npos;
    if (is_stream) return;
    // What assigns, and what may stand before an assignment.
    static constexpr std::string_view kBefore[] = {
        "export", "local", "declare", "readonly", "then", "else", "do", "env", "-a", "typeset"};
    if (command.empty() && words.size() == 1 &&
        std::ranges::find(kBefore, words.front().text) != std::end(kBefore)) {
      return;
    }
    for (ShellWord& word : words) command.push_back(std::move(word));
  }

  void skip_redirection() {
    if (take("<<<")) {
      skip_blanks(false);
      static_cast<void>(read_word(false));
    } else if (take("<<")) {
      static_cast<void>(take("-"));
      skip_blanks(false);
      const std::vector<ShellWord> end = read_word(false);
      if (!end.empty()) here_ends_.push_back(end.front().text);
    } else {
      while (here() == '<' || here() == '>' || here() == '&') step();
      skip_blanks(false);
      static_cast<void>(read_word(false));
    }
  }

  /// Called behind the line that announced them.
  void skip_here_documents() {
    for (const std::string& end : here_ends_) {
      while (!ended()) {
        const std::size_t stop = std::min(text_.find('\n', place_), text_.size());
        std::string_view line = text_.substr(place_, stop - place_);
        line.remove_prefix(std::min(line.find_first_not_of('\t'), line.size()));
        while (place_ < stop) step();
        if (!ended()) step();
        if (line == end) break;
      }
    }
    here_ends_.clear();
  }

  /// NAME=value, NAME+=value, NAME=( ... ).
  bool read_assignment() {
    std::size_t end = place_;
    while (end < text_.size() && is_name_character(text_[end])) ++end;
    if (end == place_ || end >= text_.size()) return false;
    const bool appends = text_.substr(end).starts_with("+=");
    if (!appends && text_[end] != '=') return false;
    const std::string name(text_.substr(place_, end - place_));
    const int line = line_;
    place_ = end + (appends ? 2 : 1);
    std::vector<ShellWord> value;
    const bool is_array = here() == '(';
    if (is_array) {
      step();
      value = read_array();
    } else {
      value = {{joined(read_word(false)), line}};
    }
    std::vector<ShellWord>& variable = variables_[name];
    if (!appends) {
      variable = std::move(value);
    } else if (is_array || variable.empty()) {
      variable.insert(variable.end(), value.begin(), value.end());
    } else {
      variable.back().text += value.front().text;
    }
    const std::string text = joined(variable);
    if (text.size() > kMostText) variable.clear();
    const bool has_flags = text.find("--") != std::string::npos;
    if (conditions_ > 0 && has_flags) script_.conditional_lines.insert(line);
    return true;
  }

  std::vector<ShellWord> read_array() {
    std::vector<ShellWord> words;
    while (true) {
      skip_blanks(true);
      if (ended()) return words;
      if (here() == ')') {
        step();
        return words;
      }
      const std::size_t before = place_;
      for (ShellWord& word : read_word(true)) words.push_back(std::move(word));
      if (place_ == before) step();
    }
  }

  /// A word with what it stands for: several if `splits` and an expansion has blanks.
  std::vector<ShellWord> read_word(bool splits) {
    std::vector<ShellWord> words;
    std::string word;
    int line = line_;
    bool has_word = false;
    const auto add = [&](const Expansion& expansion, bool is_quoted) {
      std::vector<ShellWord> parts;
      for (const ShellWord& part : expansion.words) {
        if (is_quoted || !splits) {
          parts.push_back(part);
        } else {
          for (ShellWord& piece : split(part)) parts.push_back(std::move(piece));
        }
      }
      for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i > 0) words.push_back({std::exchange(word, {}), line});
        if (word.empty()) line = parts[i].line;
        word += parts[i].text;
        has_word = true;
      }
    };
    while (!ended()) {
      const char c = here();
      if (c == '\'') {
        step();
        has_word = true;
        while (!ended() && here() != '\'') {
          word += here();
          step();
        }
        step();
      } else if (c == '"') {
        step();
        const bool had_word = has_word;
        bool is_nothing = false;  // "$@" of a script without arguments is no word
        has_word = true;
        while (!ended() && here() != '"') {
          if (here() == '\\' && (behind() == '\n')) {
            step();
            step();
          } else if (here() == '\\' && (behind() == '"' || behind() == '$' || behind() == '\\')) {
            step();
            word += here();
            step();
          } else if (here() == '$') {
            const Expansion expansion = expand();
            is_nothing = expansion.is_array && expansion.words.empty() && word.empty();
            // "${ARRAY[@]}" is a word for each, "$NAME" one word.
            add(expansion.is_array && splits ? expansion
                                             : Expansion{{{joined(expansion.words), line_}}, false},
                true);
          } else {
            word += here();
            step();
          }
        }
        if (is_nothing && word.empty()) has_word = had_word;
        step();
      } else if (c == '$') {
        add(expand(), false);
      } else if (c == '`') {
        step();
        while (!ended() && here() != '`') step();
        step();
        has_word = true;
      } else if (c == '\\') {
        if (behind() == '\n' || behind() == '\r') break;  // the line goes on
        step();
        if (!ended()) word += here();
        step();
        has_word = true;
      } else if (std::string_view(" \t\r\n;&|()<>").find(c) != std::string_view::npos) {
        break;
      } else {
        word += c;
        step();
        has_word = true;
      }
    }
    if (has_word) words.push_back({std::move(word), line});
    return words;
  }

  /// Takes a `$...`.
  Expansion expand() {
    step();
    if (text_.substr(place_).starts_with("((")) return one(arithmetic(bracketed('(', ')')));
    if (here() == '(') {  // a program, which is not run
      static_cast<void>(bracketed('(', ')'));
      return {};
    }
    if (here() == '{') return expand_braces(bracketed('{', '}'));
    std::string name;
    while (!ended() && is_name_character(here())) {
      name += here();
      step();
    }
    if (name.empty()) {  // "$@", "$1", "$?"
      if (!ended() && std::string_view("@*#?$!-").find(here()) != std::string_view::npos) {
        step();
        return {{}, true};
      }
      return one("$");
    }
    return value_of(name, false);
  }

  [[nodiscard]] Expansion one(std::string text) const {
    return {{{std::move(text), line_}}, false};
  }

  /// What is between this bracket and the one that closes it.
  std::string_view bracketed(char open, char close) {
    const std::size_t begin = place_ + 1;
    int depth = 0;
    while (!ended()) {
      if (here() == open) ++depth;
      if (here() == close && --depth == 0) break;
      step();
    }
    const std::string_view inside = text_.substr(begin, place_ - begin);
    step();
    return inside;
  }

  std::string arithmetic(std::string_view inside) {
    if (inside.size() >= 2) inside = inside.substr(1, inside.size() - 2);
    std::map<std::string, std::string> scalars;
    for (const auto& [name, words] : variables_) scalars[name] = joined(words);
    return shell_arithmetic(inside, scalars);
  }

  Expansion value_of(const std::string& name, bool all) {
    if (std::isdigit(static_cast<unsigned char>(name.front())) != 0) return {};  // an argument
    const auto found = variables_.find(name);
    if (found == variables_.end()) return one("$" + name);
    if (all) return {found->second, true};
    if (found->second.empty()) return {};
    return {{found->second.front()}, false};
  }

  /// NAME, NAME[@], NAME:-default and its like.
  Expansion expand_braces(std::string_view inside) {
    std::size_t end = 0;
    while (end < inside.size() && is_name_character(inside[end])) ++end;
    const std::string name(inside.substr(0, end));
    std::string_view rest = inside.substr(end);
    if (name.empty()) return {};
    const bool all = rest.starts_with("[@]") || rest.starts_with("[*]");
    if (all) rest.remove_prefix(3);
    const bool is_set = variables_.contains(name);
    if (rest.empty()) return value_of(name, all);
    for (const std::string_view fallback : {":-", ":=", "-", "="}) {
      if (!rest.starts_with(fallback)) continue;
      if (is_set && !(fallback.size() == 2 && joined(variables_[name]).empty())) {
        return value_of(name, all);
      }
      return one(filled_in(rest.substr(fallback.size())));
    }
    if (rest.starts_with(":+") || rest.starts_with("+")) {
      return is_set ? one(filled_in(rest.substr(rest.find('+') + 1))) : Expansion{};
    }
    return is_set ? value_of(name, all) : one("$" + name);
  }

  /// A default, itself with variables.
  std::string filled_in(std::string_view text) {
    if (depth_ >= kDeepestDefaults) return "";
    ShellReader inner(text);
    inner.variables_ = variables_;
    inner.depth_ = depth_ + 1;
    std::vector<ShellWord> words;
    while (!inner.ended()) {
      inner.skip_blanks(true);
      const std::size_t before = inner.place_;
      for (ShellWord& word : inner.read_word(false)) words.push_back(std::move(word));
      if (inner.place_ == before) inner.step();
    }
    return joined(words);
  }

  std::string_view text_;
  std::size_t place_ = 0;
  int line_ = 1;
  int depth_ = 0;
  int conditions_ = 0;  ///< that are open
  std::map<std::string, std::vector<ShellWord>> variables_;
  std::vector<std::string> here_ends_;
  ShellScript script_;
};

}  // namespace

ShellScript read_shell_script(std::string_view text) { return ShellReader(text).read(); }

}  // namespace headway

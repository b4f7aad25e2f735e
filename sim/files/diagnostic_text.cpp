#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/base/diagnostic.h"
#include "sim/base/limits.h"
#include "sim/base/quantity_text.h"
#include "sim/base/utf8.h"

namespace headway {
namespace {

constexpr std::size_t kLongestExcerpt = 160;  ///< characters; a longer source line is cut
constexpr std::size_t kBeforeSpot = 60;       ///< characters kept before the spot in a cut line
constexpr std::string_view kCut = "...";

/// Wraps text in terminal colours, or leaves it.
class Palette {
 public:
  explicit Palette(bool colour) : colour_(colour) {}
  [[nodiscard]] std::string error(const std::string& text) const { return marked("1;31", text); }
  [[nodiscard]] std::string warning(const std::string& text) const { return marked("1;33", text); }
  [[nodiscard]] std::string frame(const std::string& text) const { return marked("1;34", text); }
  [[nodiscard]] std::string strong(const std::string& text) const { return marked("1", text); }

 private:
  [[nodiscard]] std::string marked(const char* code, const std::string& text) const {
    return colour_ ? fmt::format("\x1b[{}m{}\x1b[0m", code, text) : text;
  }
  bool colour_;
};

struct Excerpt {
  std::string text;
  std::size_t underline_start;
  std::size_t underline_length;
};

/// The source line, cut around the spot if it is long. Cutting moves the underline along.
Excerpt excerpt(const SourceLocation& location) {
  const std::string line = printable(location.line_text);
  const std::size_t width = character_count(line);
  const std::size_t spot =
      std::min(static_cast<std::size_t>(std::max(location.column, 1) - 1), width);
  const std::size_t length = static_cast<std::size_t>(std::max(location.length, 1));
  if (width <= kLongestExcerpt)
    return {line, spot, std::min(length, std::max(width - spot, std::size_t{1}))};

  std::size_t first = spot > kBeforeSpot ? spot - kBeforeSpot : 0;
  first = std::min(first, width - kLongestExcerpt);
  const std::size_t last = first + kLongestExcerpt;
  const std::size_t from = character_position(line, first);
  const std::size_t to = character_position(line, last);
  Excerpt cut{line.substr(from, to - from), spot - first,
              std::min(length, std::max(last - spot, std::size_t{1}))};
  if (first > 0) {
    cut.text.insert(0, kCut);
    cut.underline_start += kCut.size();
  }
  if (last < width) cut.text += kCut;
  return cut;
}

std::string grouped_count(std::size_t count) {
  return grouped_digits(static_cast<long long>(count));
}

std::string position_text(const SourceLocation& location) {
  std::string text = printable(location.file);
  if (location.line > 0) text += fmt::format(":{}:{}", location.line, location.column);
  return text;
}

/// Its end, if it is long: names in it are anybody's.
std::string shown_pointer(const std::string& pointer) {
  const std::size_t width = character_count(pointer);
  if (width <= kLongestExcerpt) return printable(pointer);
  const std::size_t from = character_position(pointer, width - kLongestExcerpt);
  return fmt::format("{}{}", kCut, printable(std::string_view(pointer).substr(from)));
}

/// "/model/attention_heads is 96", either part of which may be missing.
std::string joined(const std::string& pointer, const std::string& text, const char* between) {
  return shown_pointer(pointer) + (pointer.empty() || text.empty() ? "" : between) +
         printable(text);
}

std::string place_line(const std::string& arrow, const SourceLocation& location,
                       const std::string& note) {
  const std::string position = position_text(location);
  const std::string gap = position.empty() || note.empty() ? "" : "   ";
  return fmt::format("{} {}{}{}\n", arrow, position, gap, note);
}

}  // namespace

std::string rendered(const Diagnostic& diagnostic, bool colour) {
  const Palette palette(colour);
  const bool is_error = diagnostic.severity == Severity::error;
  const auto accent = [&](const std::string& text) {
    return is_error ? palette.error(text) : palette.warning(text);
  };
  const SourceLocation& location = diagnostic.location;
  const bool has_excerpt = location.line > 0 && !location.line_text.empty();
  const std::string line_number = fmt::format("{:>2}", location.line);
  const std::string margin(has_excerpt ? line_number.size() : 2, ' ');
  const std::string bar = fmt::format("{} {}", margin, palette.frame("|"));

  std::string text = accent(is_error ? "error" : "warning") + ": " +
                     palette.strong(printable(diagnostic.message)) + "\n";
  if (!location.file.empty() || !diagnostic.pointer.empty()) {
    // Without an excerpt the label has no underline to stand beside.
    const std::string note = has_excerpt ? shown_pointer(diagnostic.pointer)
                                         : joined(diagnostic.pointer, diagnostic.label, ": ");
    text += place_line(margin + palette.frame("-->"), location, note);
  }
  if (has_excerpt) {
    const Excerpt shown = excerpt(location);
    const std::string underline(shown.underline_length, '^');
    const std::string label =
        diagnostic.label.empty() ? "" : fmt::format(" {}", printable(diagnostic.label));
    text += bar + "\n";
    text += fmt::format("{} {} {}\n", palette.frame(line_number), palette.frame("|"), shown.text);
    text += fmt::format("{} {}{}\n", bar, std::string(shown.underline_start, ' '),
                        accent(underline + label));
    if (!diagnostic.related.empty()) text += bar + "\n";
  }
  for (const Diagnostic::Related& related : diagnostic.related) {
    text += place_line(margin + palette.frame(":::"), related.location,
                       joined(related.pointer, related.message, " "));
  }
  if (!diagnostic.help.empty()) {
    text += fmt::format("{}{}: {}\n", margin, palette.strong("help"), printable(diagnostic.help));
  }
  return text;
}

std::string rendered(const std::vector<Diagnostic>& diagnostics, const std::string& outcome,
                     bool colour) {
  std::string text;
  std::size_t errors = 0;
  std::size_t warnings = 0;
  std::set<std::string> files;
  const auto most = static_cast<std::size_t>(limits().problems);
  for (const Diagnostic& diagnostic : diagnostics) {
    const bool is_error = diagnostic.severity == Severity::error;
    if (++(is_error ? errors : warnings) <= most) {
      if (!text.empty()) text += "\n";
      text += rendered(diagnostic, colour);
    }
    if (!is_error) continue;
    const std::string& file = diagnostic.location.file;
    if (!file.empty() && !file.starts_with("--")) files.insert(file);
  }
  if (warnings > most) {
    text += fmt::format("\n{} warnings, {} of them shown; {}\n", grouped_count(warnings), most,
                        limit_help(&Limits::problems));
  }
  if (errors == 0) return text;
  text += fmt::format("\n{} problem{}", grouped_count(errors), errors == 1 ? "" : "s");
  if (!files.empty()) {
    text += fmt::format(" in {} file{}", files.size(), files.size() == 1 ? "" : "s");
  }
  if (errors > most) {
    text += fmt::format(", {} of them shown ({})", most, limit_help(&Limits::problems));
  }
  text += "; " + outcome;
  if (!outcome.ends_with('.')) text += ".";
  return text + "\n";
}

}  // namespace headway

#pragma once

#include <concepts>
#include <cstddef>
#include <functional>
#include <limits>
#include <ostream>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "reports/document/document.h"

namespace headway {

/// What a text is made for.
struct Screen {
  bool colour = false;
  std::size_t columns = std::numeric_limits<std::size_t>::max();  ///< that tables keep to
};

/// A text that is made when it is asked for; one that may be longer than memory is written piece by
/// piece.
class AnswerText {
 public:
  AnswerText() = default;
  /// Of what returns the text, or writes it to a stream.
  template <class Make>
  requires(!std::same_as<std::remove_cvref_t<Make>, AnswerText>) AnswerText(Make make) {
    if constexpr (std::is_invocable_v<Make, std::ostream&>) {
      write_ = std::move(make);
    } else {
      write_ = [make = std::move(make)](std::ostream& out) { out << make(); };
    }
  }

  void write_to(std::ostream& out) const { write_(out); }
  /// As a whole.
  [[nodiscard]] std::string operator()() const;

 private:
  std::function<void(std::ostream&)> write_;
};

/// What a command has found, in every form that it can be had in. The forms are made when they are
/// asked for; what they are made from has to outlive them.
struct Answer {
  /// For a terminal, the answer in words last.
  std::function<std::string(const Screen&)> text;
  std::function<Document()> document;  ///< for people to keep: .html and .md
  AnswerText json;                     ///< one document, SI base units, unit in the key
  AnswerText csv;                      ///< a header, then a row for each of its points
};

/// Suffixes of files that an answer can be written to: ".json", ".md", ".html", ".csv".
[[nodiscard]] std::vector<std::string> answer_suffixes();

/// Writes the answer as a file with that suffix, one of `answer_suffixes()`, has it.
void write_answer_as(std::string_view suffix, const Answer& answer, std::ostream& out);
/// The same as a whole.
[[nodiscard]] std::string answer_as(std::string_view suffix, const Answer& answer);

}  // namespace headway

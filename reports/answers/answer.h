#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "reports/document/document.h"

namespace headway {

/// What a text is made for.
struct Screen {
  bool colour = false;
  std::size_t columns = std::numeric_limits<std::size_t>::max();  ///< that tables keep to
};

/// What a command has found, in every form that it can be had in. The forms are made when they are
/// asked for; what they are made from has to outlive them.
struct Answer {
  /// For a terminal, the answer in words last.
  std::function<std::string(const Screen&)> text;
  std::function<Document()> document;            ///< for people to keep: .html and .md
  std::function<std::string()> json;             ///< one document, SI base units, unit in the key
  std::function<std::string()> csv;              ///< a header, then a row for each of its points
};

/// Suffixes of files that an answer can be written to: ".json", ".md", ".html", ".csv".
[[nodiscard]] std::vector<std::string> answer_suffixes();

/// The answer as a file with that suffix, one of `answer_suffixes()`, has it.
[[nodiscard]] std::string answer_as(std::string_view suffix, const Answer& answer);

}  // namespace headway

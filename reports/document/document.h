#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "reports/document/chart.h"
#include "sim/base/text_table.h"

namespace headway {

// What a report says, whatever it is written as. All texts are plain: a writer escapes them for its
// format, so that names from input files show as they are. In sentences (paragraphs, notices,
// lists, facts, captions) what stands between backticks is code.

/// Line ends in it are line ends.
struct Paragraph {
  std::string text;
};

/// Something to notice before the numbers are used.
struct Notice {
  std::string text;
};

struct BulletList {
  std::vector<std::string> items;
};

/// Names and values that stand under each other.
struct FactList {
  std::vector<std::pair<std::string, std::string>> facts;
  int name_width = 14;  ///< columns of a terminal, as far as names fit in them
};

/// A number that answers the question, with its unit, and where it may lie.
struct KeyNumber {
  std::string name;
  std::string median;
  std::string interval;  ///< "6.70 .. 7.22 s"; may be empty
};
struct KeyNumbers {
  std::vector<KeyNumber> numbers;
};

/// Text for a machine. With a summary it is folded away below that line; with a file name, readers
/// of a page can save it.
struct Code {
  std::string text;
  std::string language;
  std::string summary = {};
  std::string file_name = {};
};

/// A drawing that is ready: HTML or SVG which takes its colours from the page.
struct Drawing {
  std::string html;
};

/// A picture and the numbers in it. Formats without pictures show the table alone.
struct Figure {
  std::string title;    ///< for readers who do not see the picture
  std::string caption;  ///< how to read the picture; may be empty
  std::variant<Chart, Drawing> picture;
  TextTable table;
};

/// A table whose cells say by their shade how good they are.
struct HeatMap {
  struct Cell {
    std::string text;
    std::optional<double> shade = {};  ///< 0 worst .. 1 best; nothing: not possible
    std::string reason = {};           ///< why not possible, or what else to know
  };
  std::string row_title;
  std::string column_title;
  std::vector<std::string> columns;
  std::vector<std::pair<std::string, std::vector<Cell>>> rows;  ///< as many cells as columns
};

using DocumentBlock = std::variant<Paragraph, Notice, BulletList, FactList, KeyNumbers, Code,
                                   TextTable, Figure, HeatMap>;

/// Where a section stands: a page opens with the answer, on a terminal it comes last.
enum class Shown { everywhere, on_pages, on_terminals };

struct DocumentSection {
  std::string heading;
  std::vector<DocumentBlock> blocks;
  Shown shown = Shown::everywhere;
};

struct Document {
  std::string title;
  std::string lead;  ///< a line under the title; may be empty
  std::vector<DocumentSection> sections;
};

}  // namespace headway

#include "sim/replay/trace_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "sim/base/join_words.h"
#include "sim/base/limits.h"
#include "sim/base/parse_number.h"
#include "sim/base/quantity_text.h"
#include "sim/base/suggestion.h"
#include "sim/base/utf8.h"
#include "sim/files/kinds/foreign_text.h"
#include "sim/import/line_reader.h"

namespace headway {
namespace {

constexpr int kMostProblems = 20;
constexpr int kLargestIndex = 1 << 20;
constexpr double kFarthestTime = 1e18;  ///< today in nanoseconds since 1970, taken for seconds

enum Column { replica, stage, rank, step, type, start, duration, sequence, chunk, model_chunk };
constexpr std::array<std::string_view, 10> kColumns{
    "dp_rank", "stage", "rank", "step", "optype", "start_ts", "duration", "seq_id", "mc", "gmc"};
constexpr std::array<std::string_view, 14> kTypes{
    trace_type::kForward,        trace_type::kBackward,        trace_type::kForwardSend,
    trace_type::kForwardReceive, trace_type::kBackwardSend,    trace_type::kBackwardReceive,
    trace_type::kGather,         trace_type::kReduce,          trace_type::kSeparateReduce,
    trace_type::kNormReduce,     trace_type::kEmbeddingReduce, trace_type::kClip,
    trace_type::kOptimizer,      trace_type::kGarbage};

std::vector<std::string_view> cells_of(std::string_view line) {
  std::vector<std::string_view> cells;
  while (true) {
    const std::size_t comma = line.find(',');
    cells.push_back(line.substr(0, comma));
    if (comma == std::string_view::npos) return cells;
    line.remove_prefix(comma + 1);
  }
}

std::string columns_text() {
  return fmt::format("a trace is a table with commas between, and its columns are {}",
                     join_words(kColumns, ", "));
}

class TraceReader {
 public:
  TraceReader(const std::string& path, Diagnostics& diagnostics)
      : lines_(path, diagnostics), diagnostics_(diagnostics) {}

  std::vector<TraceRow> read() {
    std::vector<TraceRow> rows;
    if (!lines_.next(line_)) {
      if (!diagnostics_.has_errors()) {
        diagnostics_.add(lines_.problem("the trace is empty", columns_text()));
      }
      return rows;
    }
    if (!read_names()) return rows;
    while (problems_ < kMostProblems && lines_.next(line_)) {
      if (line_.empty()) continue;
      cells_ = cells_of(line_);
      if (cells_.size() != width_) {
        add(lines_.problem(
            fmt::format("the row has {} values and the first line {} names", cells_.size(), width_),
            "a row has a value for each name, with commas between"));
        continue;
      }
      if (std::ssize(rows) == limits().rows) {
        diagnostics_.add(lines_.problem(
            fmt::format("the trace has more than {} rows", grouped_digits(limits().rows)),
            limit_help(&Limits::rows)));
        return {};
      }
      rows.push_back(row());
    }
    if (rows.empty() && !diagnostics_.has_errors()) {
      diagnostics_.add(
          lines_.problem("the trace has no operations", "below the names stands a row for each"));
    }
    return rows;
  }

 private:
  bool read_names() {
    const std::vector<std::string_view> names = cells_of(line_);
    width_ = names.size();
    if (std::ranges::find_first_of(names, kColumns) == names.end()) {
      const ForeignText* const foreign = foreign_text(beginning_of(lines_.path()));
      diagnostics_.add(lines_.problem(
          foreign == nullptr ? "the first line names no column of a trace"
                             : fmt::format("this is {}, not a trace of operations", foreign->what),
          columns_text()));
      return false;
    }
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      const auto found = std::ranges::find(names, kColumns[i]);
      places_[i] = static_cast<std::size_t>(found - names.begin());
      if (found != names.end()) continue;
      const auto meant = closest(kColumns[i], names);
      diagnostics_.add(
          lines_.problem(fmt::format("the trace has no column {}", in_quotes(kColumns[i])),
                         meant ? fmt::format("is it the one called {}?", in_quotes(*meant))
                               : "the first line names the columns, with commas between"));
    }
    return !diagnostics_.has_errors();
  }

  TraceRow row() {
    TraceRow made;
    made.replica = integer(replica, 0);
    made.stage = integer(stage, 0);
    made.rank = integer(rank, 0);
    made.step = integer(step, 0);
    made.sequence = integer(sequence, 0);
    made.chunk = integer(chunk, -1);
    made.model_chunk = integer(model_chunk, -1);
    made.start = number(start);
    made.duration = number(duration);
    if (made.duration < 0.0)
      report(duration, "an operation does not end before it starts",
             "leave out operations that were cut off");
    made.type = std::string(cells_[places_[type]]);
    if (std::ranges::find(kTypes, made.type) == kTypes.end()) {
      const auto meant = closest(made.type, {kTypes.begin(), kTypes.end()});
      report(type, fmt::format("no operation is called {}", in_quotes(made.type)),
             meant ? fmt::format("did you mean {}?", in_quotes(*meant))
                   : "`headway replay --help` lists the types");
    }
    return made;
  }

  int integer(Column column, int least) {
    const auto value = parse_number<int>(cells_[places_[column]]);
    if (value && *value >= least && *value <= kLargestIndex) return *value;
    report(column, fmt::format("{} is a whole number from {}", kColumns[column], least),
           "write it without a point; pandas writes 0.0 for 0 where a column has gaps");
    return least;
  }

  double number(Column column) {
    const auto value = parse_number<double>(cells_[places_[column]]);
    if (value && std::abs(*value) <= kFarthestTime) return *value;  // nor is it NaN
    report(column, fmt::format("{} is a number of seconds", kColumns[column]),
           value ? "divide micro- or nanoseconds by 1e6 or 1e9" : "write a number, such as 12.25");
    return 0.0;
  }

  void report(Column column, const std::string& message, const std::string& help = "") {
    const std::string_view cell = places_[column] < cells_.size() ? cells_[places_[column]] : "";
    Diagnostic problem = lines_.problem(message, help);
    problem.location.column = static_cast<int>(cell.data() - line_.data()) + 1;
    problem.location.length = std::max(1, static_cast<int>(cell.size()));
    add(std::move(problem));
  }
  void add(Diagnostic problem) {
    if (++problems_ == kMostProblems) problem.help += " (further problems are not listed)";
    diagnostics_.add(std::move(problem));
  }

  LineReader lines_;
  Diagnostics& diagnostics_;
  std::string_view line_;
  std::vector<std::string_view> cells_;
  std::array<std::size_t, kColumns.size()> places_{};
  std::size_t width_ = 0;
  int problems_ = 0;
};

}  // namespace

std::vector<TraceRow> read_trace(const std::string& path, Diagnostics& diagnostics) {
  return TraceReader(path, diagnostics).read();
}

}  // namespace headway

#include "sim/scenario/recovery/spot_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "sim/base/quantity_text.h"
#include "sim/base/source_text.h"

namespace headway {
namespace {

constexpr int kMostSpotNodes = 1'000'000;
constexpr std::size_t kMostRecordProblems = 20;
constexpr const char* kBeginsLate = "a record begins at time 0";
constexpr std::string_view kRecordForm =
    R"(write a time in seconds and a number of nodes: "21529,4")";

/// Adds what holds from a time on; the last of several at one time counts.
void append_step(AvailabilityRecord& record, Seconds time, int nodes) {
  if (!record.steps.empty() && record.steps.back().time == time) {
    record.steps.back().nodes = nodes;
  } else {
    record.steps.push_back({time, nodes});
  }
}

/// Why a step cannot follow; empty if it can.
std::string step_problem(const AvailabilityRecord& record, double time, double nodes) {
  if (!(time >= 0.0) || time > 1e12) return "a time lies between 0 and 1e12 seconds";
  if (record.steps.empty() && time != 0.0) return kBeginsLate;
  if (!record.steps.empty() && time < record.steps.back().time.count()) {
    return "times of a record ascend";
  }
  if (!(nodes >= 0.0 && nodes <= kMostSpotNodes) || nodes != static_cast<int>(nodes)) {
    return fmt::format("nodes are counted, from 0 to {}", kMostSpotNodes);
  }
  return "";
}

/// A line of a file.
class RecordLine {
 public:
  RecordLine(std::string_view text, std::size_t start) : text_(text), start_(start) {}

  /// A number at `place`, which then stands behind it and the blanks around it.
  [[nodiscard]] std::optional<double> number(std::size_t& place) const {
    skip_blanks(place);
    double value = 0.0;
    const auto [end, error] =
        std::from_chars(text_.data() + place, text_.data() + text_.size(), value);
    if (error != std::errc()) return std::nullopt;
    place = static_cast<std::size_t>(end - text_.data());
    skip_blanks(place);
    return value;
  }
  [[nodiscard]] bool has(std::size_t place, char expected) const {
    return place < text_.size() && text_[place] == expected;
  }
  [[nodiscard]] bool ends_at(std::size_t place) const { return place >= text_.size(); }
  [[nodiscard]] std::size_t begin() const { return start_; }
  [[nodiscard]] std::size_t end() const { return start_ + text_.size(); }

 private:
  void skip_blanks(std::size_t& place) const {
    while (place < text_.size() && (text_[place] == ' ' || text_[place] == '\t')) ++place;
  }

  std::string_view text_;
  std::size_t start_;
};

class RecordReader {
 public:
  RecordReader(const SourceText& source, Diagnostics& diagnostics)
      : source_(source), diagnostics_(diagnostics) {}

  AvailabilityRecord read() {
    const std::string_view text = source_.text();
    for (std::size_t start = 0; start < text.size() && problems_ < kMostRecordProblems;) {
      const std::size_t end = std::min(text.find('\n', start), text.size());
      std::string_view line = text.substr(start, end - start);
      if (line.ends_with('\r')) line.remove_suffix(1);
      if (line.find_first_not_of(" \t") != std::string_view::npos && !line.starts_with('#')) {
        read_line(RecordLine(line, start));
      }
      start = end + 1;
    }
    return std::move(record_);
  }

 private:
  void read_line(const RecordLine& line) {
    std::size_t place = 0;
    const auto time = line.number(place);
    if (!time) return report(line, place, "this is no time", std::string(kRecordForm));
    if (!line.has(place, ',')) {
      return report(line, place, "a comma stands between time and nodes", std::string(kRecordForm));
    }
    const std::size_t comma = place++;
    const auto nodes = line.number(place);
    if (!nodes) return report(line, place, "this is no number of nodes", std::string(kRecordForm));
    if (!line.ends_at(place)) {
      return report(line, place, "nothing stands behind the number of nodes",
                    std::string(kRecordForm));
    }
    const std::string problem = step_problem(record_, *time, *nodes);
    if (problem.empty()) return append_step(record_, Seconds(*time), static_cast<int>(*nodes));
    // Behind a line that says nothing: what the record begins at is not known.
    if (problem == kBeginsLate && problems_ > 0) return;
    const bool is_of_nodes = problem.starts_with("nodes");
    report(line, is_of_nodes ? comma + 1 : 0, problem, std::string(kRecordForm));
  }

  void report(const RecordLine& line, std::size_t place, std::string message, std::string help) {
    ++problems_;
    const std::size_t begin = line.begin() + place;
    diagnostics_.add({.message = std::move(message),
                      .location = source_.location(begin, std::max(line.end(), begin + 1)),
                      .help = std::move(help)});
  }

  const SourceText& source_;
  Diagnostics& diagnostics_;
  AvailabilityRecord record_;
  std::size_t problems_ = 0;
};

AvailabilityRecord read_in_place(const JsonCursor& part, Diagnostics& diagnostics) {
  AvailabilityRecord record;
  for (std::size_t i = 0; i < part.value().size(); ++i) {
    const JsonCursor step = part.element(i);
    const nlohmann::json& value = step.value();
    const bool has_form =
        value.is_array() && value.size() == 2 && value[0].is_string() && value[1].is_number();
    if (!has_form) {
      diagnostics.add(
          step.problem("a step is a time and a number of nodes", "", R"(write ["21529 s", 4])"));
      continue;
    }
    const auto time = parse_quantity<Seconds>(value[0].get<std::string>());
    if (const auto* problem = std::get_if<QuantityProblem>(&time)) {
      diagnostics.add(step.element(0).problem(problem->problem, "", problem->help));
      continue;
    }
    const double seconds = std::get<Seconds>(time).count();
    const std::string problem = step_problem(record, seconds, value[1].get<double>());
    if (problem.empty()) {
      append_step(record, Seconds(seconds), value[1].get<int>());
    } else {
      diagnostics.add(step.problem(problem));
    }
  }
  return record;
}

}  // namespace

std::optional<AvailabilityRecord> read_availability(ObjectReader& reader, InputFiles& files) {
  const std::optional<JsonCursor> part = reader.part("availability");
  if (!part) return std::nullopt;
  Diagnostics& diagnostics = files.diagnostics();
  const std::size_t problems = diagnostics.errors();
  AvailabilityRecord record;
  if (part->is_array()) {
    record = read_in_place(*part, diagnostics);
  } else if (const auto source = files.follow_text(*part, "scenarios")) {
    record = RecordReader(*source, diagnostics).read();
  }
  if (diagnostics.errors() != problems) return std::nullopt;
  if (record.steps.size() < 2) {
    diagnostics.add(part->problem("a record of availability has two steps or more",
                                  fmt::format("{} here", record.steps.size()),
                                  "its last one says when it ends"));
    return std::nullopt;
  }
  nlohmann::json resolved = nlohmann::json::array();
  for (const AvailabilityRecord::Step& step : record.steps) {
    resolved.push_back({exact_text(step.time), step.nodes});
  }
  reader.resolve("availability", std::move(resolved));
  return record;
}

}  // namespace headway

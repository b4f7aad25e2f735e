#include "sim/replay/step_log.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/base/quantile.h"
#include "sim/base/utf8.h"
#include "sim/import/line_reader.h"

namespace headway {
namespace {

using Unit = LoggedSteps::Unit;

/// A text beside which software writes the speed of a step.
struct Marker {
  std::string_view format;
  std::string_view text;
  bool is_before_number;
  Unit unit;
  double scale;  ///< of the number, to seconds or to counts
};

/// Where a log has several, the first of these counts: they say more of a step, or are less wrong
/// (DeepSpeed's timer counts passes of a pipeline as steps).
constexpr std::array<Marker, 8> kMarkers = {{
    {"Megatron", "elapsed time per iteration (ms):", true, Unit::seconds_a_step, 1e-3},
    {"Megatron", "elapsed time per iteration (s):", true, Unit::seconds_a_step, 1.0},
    {"NeMo", "train_step_timing in s:", true, Unit::seconds_a_step, 1.0},
    {"torchtitan", "tps:", true, Unit::tokens_a_second, 1.0},
    {"Hugging Face", "train_steps_per_second", true, Unit::steps_a_second, 1.0},
    {"a progress bar", "s/it", false, Unit::seconds_a_step, 1.0},
    {"a progress bar", "it/s", false, Unit::steps_a_second, 1.0},
    {"DeepSpeed", "CurrSamplesPerSec=", true, Unit::samples_a_second, 1.0},
}};

bool is_of_number(char c) { return (c >= '0' && c <= '9') || c == '.' || c == ','; }

std::optional<double> number_in(std::string_view text) {
  std::string digits;
  for (const char c : text) {
    if (c != ',') digits += c;  // torchtitan groups thousands
  }
  double number = 0.0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || !(number > 0.0)) return std::nullopt;
  return number;
}

/// Past what terminals take for a colour: "\x1b[32m".
std::string_view without_colour(std::string_view text) {
  while (text.starts_with("\x1b[")) {
    const std::size_t end = text.find('m');
    if (end == std::string_view::npos) return {};
    text.remove_prefix(end + 1);
  }
  return text;
}

/// Between a name and its number: what Python and JSON put there ("': '0.25'"), or tables ("  =").
constexpr std::string_view kBetween = " '\":=";

std::optional<double> number_after(std::string_view text) {
  text = without_colour(text);
  while (!text.empty() && kBetween.find(text.front()) != std::string_view::npos) {
    text = without_colour(text.substr(1));
  }
  const auto end = std::find_if_not(text.begin(), text.end(), is_of_number);
  std::string_view digits = text.substr(0, static_cast<std::size_t>(end - text.begin()));
  while (digits.ends_with(',')) digits.remove_suffix(1);  // the end of a member of a list
  return number_in(digits);
}

std::optional<double> number_before(std::string_view text) {
  const auto begin = std::find_if_not(text.rbegin(), text.rend(), is_of_number);
  return number_in(text.substr(static_cast<std::size_t>(text.rend() - begin)));
}

std::optional<double> number_at(std::string_view line, const Marker& marker) {
  const std::size_t at = line.rfind(marker.text);
  if (at == std::string_view::npos) return std::nullopt;
  const auto number = marker.is_before_number ? number_after(line.substr(at + marker.text.size()))
                                              : number_before(line.substr(0, at));
  return number ? std::optional(*number * marker.scale) : std::nullopt;
}

[[noreturn]] void refuse_without_steps(const std::string& path) {
  Diagnostic problem;
  problem.message = fmt::format("{} says nothing of how long a step took", in_quotes(path));
  problem.help =
      "known are the lines of Megatron-LM, Megatron-DeepSpeed, NeMo, Megatron-Bridge, torchtitan, "
      "DeepSpeed and Hugging Face; of another log give the time itself: --measured \"5.3 s\"";
  throw InputError(std::move(problem));
}

}  // namespace

LoggedSteps read_step_log(const std::string& path) {
  Diagnostics diagnostics;
  LineReader reader(path, diagnostics, LineReader::Ends::where_written_over);
  std::array<std::vector<double>, kMarkers.size()> numbers;
  std::array<int, kMarkers.size()> last_lines{};
  std::vector<LoggedNumber> job;
  std::string_view line;
  while (reader.next(line)) {
    note_numbers(line, reader, job);
    for (std::size_t i = 0; i < kMarkers.size(); ++i) {
      const auto number = number_at(line, kMarkers[i]);
      if (!number) continue;
      const int before = std::exchange(last_lines[i], reader.line_number());
      if (reader.writes_over() && before == reader.line_number()) numbers[i].pop_back();
      numbers[i].push_back(*number);
    }
  }
  diagnostics.throw_if_errors();
  for (std::size_t i = 0; i < kMarkers.size(); ++i) {
    if (numbers[i].empty()) continue;
    const std::size_t warm_up = numbers[i].size() < 3 ? 0 : 1 + numbers[i].size() / 10;
    LoggedSteps steps{.format = std::string(kMarkers[i].format),
                      .unit = kMarkers[i].unit,
                      .lines = static_cast<std::int64_t>(numbers[i].size())};
    numbers[i].erase(numbers[i].begin(), numbers[i].begin() + static_cast<std::ptrdiff_t>(warm_up));
    steps.used = static_cast<std::int64_t>(numbers[i].size());
    steps.median = median(std::move(numbers[i]));
    steps.job = std::move(job);
    return steps;
  }
  refuse_without_steps(path);
}

Seconds step_time(const LoggedSteps& steps, const Scenario& scenario) {
  Diagnostics diagnostics;
  check_same_job(steps.job, scenario, diagnostics);
  diagnostics.throw_if_errors();
  const auto samples = static_cast<double>(scenario.samples_of_step());
  switch (steps.unit) {
    case Unit::seconds_a_step:
      return Seconds(steps.median);
    case Unit::steps_a_second:
      return Seconds(1.0 / steps.median);
    case Unit::samples_a_second:
      return Seconds(samples / steps.median);
    case Unit::tokens_a_second:
      break;
  }
  const auto tokens = static_cast<double>(scenario.tokens_of_step());
  return Seconds(tokens / static_cast<double>(scenario.accelerators()) / steps.median);
}

}  // namespace headway

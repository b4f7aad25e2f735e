#include "sim/replay/logged_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace headway {
namespace {

/// Accelerators of the whole job: in a scenario they follow from the nodes.
constexpr std::string_view kNodes = "/cluster/nodes";

struct LoggedName {
  std::string_view text;
  std::string_view pointer;
};

/// As arguments are listed ("  hidden_size ....... 4096"), with a colon, beside steps, and with an
/// equals sign, as Hugging Face's Trainer begins.
constexpr LoggedName kNames[] = {
    {"global_batch_size", "/strategy/global_batch"},
    {"global batch size:", "/strategy/global_batch"},
    {"micro_batch_size", "/strategy/micro_batch"},
    {"seq_length", "/strategy/sequence_length"},
    {"actual seqlen:", "/strategy/sequence_length"},
    {"tensor_model_parallel_size", "/strategy/tensor_parallel"},
    {"pipeline_model_parallel_size", "/strategy/pipeline_parallel"},
    {"context_parallel_size", "/strategy/context_parallel"},
    {"expert_model_parallel_size", "/strategy/expert_parallel"},
    {"num_layers", "/model/layers"},
    {"hidden_size", "/model/hidden"},
    {"world_size", kNodes},
    {"Total train batch size (w. parallel, distributed & accumulation) =",
     "/strategy/global_batch"},
    {"Instantaneous batch size per device =", "/strategy/micro_batch"},
};

/// What the Trainer says of a whole run, rounded to thousandths.
constexpr std::string_view kSamplesASecond = "train_samples_per_second";
constexpr std::string_view kStepsASecond = "train_steps_per_second";
constexpr double kRounding = 0.0005;
/// The last step of an epoch has fewer samples: seldom so many that it halves what steps have.
constexpr double kSlackOfEpochs = 0.3;

bool is_word_of_its_own(std::string_view name) {
  return name.ends_with(':') || name.ends_with('=');
}

/// Without what stands behind it in the log.
std::string_view name_alone(std::string_view name) {
  return name.substr(0, std::min(name.find(':'), name.find(" =")));
}

bool is_of_name(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }

/// The whole number behind the name: past blanks, or the dots of a list of arguments. The Trainer
/// groups thousands.
std::optional<std::int64_t> number_told(std::string_view line, std::string_view name) {
  const std::size_t at = line.find(name);
  if (at == std::string_view::npos || (at > 0 && is_of_name(line[at - 1]))) return std::nullopt;
  const std::string_view rest = line.substr(at + name.size());
  const std::size_t begin = rest.find_first_not_of(is_word_of_its_own(name) ? " " : " .");
  if (begin == std::string_view::npos) return std::nullopt;
  // Other names stand in a list, not in a command line.
  if (!is_word_of_its_own(name) && !rest.starts_with(" ..")) return std::nullopt;
  std::string digits(rest.substr(begin));
  if (name.ends_with('=')) std::erase(digits, ',');
  std::int64_t number = 0;
  const char* const first = digits.data();
  const char* const last = digits.data() + digits.size();
  const auto [end, error] = std::from_chars(first, last, number);
  const bool is_whole = error == std::errc() && (end == last || *end == ' ' || *end == '\r');
  return is_whole ? std::optional(number) : std::nullopt;
}

/// A number behind a name of Python's dictionaries: "'train_steps_per_second': '0.341'".
std::optional<double> number_of_dictionary(std::string_view line, std::string_view name) {
  const std::size_t at = line.find(name);
  if (at == std::string_view::npos) return std::nullopt;
  const std::size_t begin = line.find_first_not_of("'\": ", at + name.size());
  if (begin == std::string_view::npos) return std::nullopt;
  double number = 0.0;
  const auto [end, error] = std::from_chars(line.data() + begin, line.data() + line.size(), number);
  return error == std::errc() && number > 0.0 ? std::optional(number) : std::nullopt;
}

/// Samples of a step, where a line has both rates.
std::optional<LoggedNumber> samples_of_step(std::string_view line) {
  const std::optional<double> samples = number_of_dictionary(line, kSamplesASecond);
  const std::optional<double> steps = number_of_dictionary(line, kStepsASecond);
  if (!samples || !steps || !(*steps > kRounding)) return std::nullopt;
  const double of_step = *samples / *steps;
  if (!(of_step < 1e9)) return std::nullopt;
  return LoggedNumber{.name = "train_samples_per_second / train_steps_per_second",
                      .pointer = "/strategy/global_batch",
                      .value = std::max<std::int64_t>(1, std::llround(of_step)),
                      .slack = kSlackOfEpochs + kRounding / (*steps - kRounding)};
}

/// What the scenario has there; nothing if it has no such number.
std::optional<std::int64_t> number_of(const Scenario& scenario, std::string_view pointer) {
  if (pointer == kNodes) return scenario.accelerators();
  const nlohmann::json& resolved = scenario.resolved;
  const nlohmann::json::json_pointer place{std::string(pointer)};
  if (!resolved.is_object() || !resolved.contains(place)) return std::nullopt;
  const nlohmann::json& value = resolved.at(place);
  return value.is_number_integer() ? std::optional(value.get<std::int64_t>()) : std::nullopt;
}

}  // namespace

void note_numbers(std::string_view line, const LineReader& reader,
                  std::vector<LoggedNumber>& numbers) {
  const auto note = [&](LoggedNumber number) {
    auto known = std::ranges::find(numbers, number.pointer, &LoggedNumber::pointer);
    if (known == numbers.end()) {
      known = numbers.insert(known, LoggedNumber{.slack = number.slack});
    }
    if (known->slack < number.slack) return;
    number.location = reader.problem("").location;
    *known = std::move(number);
  };
  for (const LoggedName& name : kNames) {
    const std::optional<std::int64_t> value = number_told(line, name.text);
    if (value) note({.name = name.text, .pointer = name.pointer, .value = *value});
  }
  if (std::optional<LoggedNumber> samples = samples_of_step(line)) note(*std::move(samples));
}

void check_same_job(const std::vector<LoggedNumber>& numbers, const Scenario& scenario,
                    Diagnostics& diagnostics) {
  for (const LoggedNumber& logged : numbers) {
    const std::optional<std::int64_t> here = number_of(scenario, logged.pointer);
    if (!here || *here == logged.value) continue;
    const double ratio = static_cast<double>(*here) / static_cast<double>(logged.value);
    if (std::max(ratio, 1.0 / ratio) <= 1.0 + logged.slack) continue;
    Diagnostic problem;
    problem.message = "the log is of another job";
    problem.location = logged.location;
    const bool counts_ranks = logged.pointer == kNodes;
    problem.label =
        fmt::format("{} is {}, {} {}", name_alone(logged.name), logged.value,
                    counts_ranks ? "the scenario's accelerators are" : "the scenario has", *here);
    problem.help = counts_ranks ? "give the scenario that ran, with as many nodes"
                                : fmt::format("give the scenario that ran: --set {}={}",
                                              logged.pointer, logged.value);
    diagnostics.add(std::move(problem));
  }
}

}  // namespace headway

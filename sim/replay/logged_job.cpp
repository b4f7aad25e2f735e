#include "sim/replay/logged_job.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
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

/// As arguments are listed ("  hidden_size ....... 4096"), and, with a colon, beside steps.
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
};

bool is_of_name(char c) { return (c >= 'a' && c <= 'z') || c == '_'; }

/// The whole number behind the name: past blanks, or the dots of a list of arguments.
std::optional<std::int64_t> number_told(std::string_view line, std::string_view name) {
  const std::size_t at = line.find(name);
  if (at == std::string_view::npos || (at > 0 && is_of_name(line[at - 1]))) return std::nullopt;
  const std::string_view rest = line.substr(at + name.size());
  const std::size_t begin = rest.find_first_not_of(name.ends_with(':') ? " " : " .");
  if (begin == std::string_view::npos) return std::nullopt;
  // A name without a colon stands in a list, not in a command line.
  if (!name.ends_with(':') && !rest.starts_with(" ..")) return std::nullopt;
  std::int64_t number = 0;
  const char* const first = rest.data() + begin;
  const char* const last = rest.data() + rest.size();
  const auto [end, error] = std::from_chars(first, last, number);
  const bool is_whole = error == std::errc() && (end == last || *end == ' ' || *end == '\r');
  return is_whole ? std::optional(number) : std::nullopt;
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
  for (const LoggedName& name : kNames) {
    const std::optional<std::int64_t> value = number_told(line, name.text);
    if (!value) continue;
    auto known = std::ranges::find(numbers, name.pointer, &LoggedNumber::pointer);
    if (known == numbers.end()) known = numbers.insert(known, LoggedNumber{});
    SourceLocation location = reader.problem("").location;
    *known = {name.text, name.pointer, *value, std::move(location)};
  }
}

void check_same_job(const std::vector<LoggedNumber>& numbers, const Scenario& scenario,
                    Diagnostics& diagnostics) {
  for (const LoggedNumber& logged : numbers) {
    const std::optional<std::int64_t> here = number_of(scenario, logged.pointer);
    if (!here || *here == logged.value) continue;
    Diagnostic problem;
    problem.message = "the log is of another job";
    problem.location = logged.location;
    const bool counts_ranks = logged.pointer == kNodes;
    problem.label =
        fmt::format("{} is {}, {} {}", logged.name.substr(0, logged.name.find(':')), logged.value,
                    counts_ranks ? "the scenario's accelerators are" : "the scenario has", *here);
    problem.help = counts_ranks ? "give the scenario that ran, with as many nodes"
                                : fmt::format("give the scenario that ran: --set {}={}",
                                              logged.pointer, logged.value);
    diagnostics.add(std::move(problem));
  }
}

}  // namespace headway

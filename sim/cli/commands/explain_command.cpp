#include <fmt/format.h>

#include <array>
#include <utility>

#include "sim/cli/exit_codes.h"
#include "sim/cli/help/wrapped_text.h"
#include "sim/cli/invocation.h"
#include "sim/cli/options/common_options.h"
#include "sim/reference/explain.h"

namespace headway {
namespace {

constexpr std::array<std::pair<TopicKind, std::string_view>, 5> kHeadings = {{
    {TopicKind::field, "Fields of scenarios, topologies, models and profiles"},
    {TopicKind::metric, "Values of results"},
    {TopicKind::preset, "Presets"},
    {TopicKind::term, "Terms of the cost model"},
    {TopicKind::exit_code, "Exit codes"},
}};

std::vector<Topic> all_topics() {
  std::vector<Topic> all = topics();
  for (const ExitCodeText& code : exit_codes()) {
    Topic topic;
    topic.kind = TopicKind::exit_code;
    topic.name = fmt::format("exit_code.{}", static_cast<int>(code.code));
    topic.type = "exit code";
    topic.about = fmt::format("{}: {}.", code.name, code.meaning);
    topic.about.front() = static_cast<char>(topic.about.front() - 'a' + 'A');
    all.push_back(std::move(topic));
  }
  return all;
}

std::string row(std::string_view label, const std::string& text) {
  constexpr std::size_t kColumn = 12;
  return text.empty() ? "" : labelled(fmt::format("  {}", label), text, kColumn);
}

/// Without its full stop.
std::string first_sentence(const std::string& text) {
  const std::size_t end = text.find(". ");
  if (end != std::string::npos) return text.substr(0, end);
  return text.ends_with('.') ? text.substr(0, text.size() - 1) : text;
}

/// The fields of an object, each with its first sentence; empty for anything else.
std::string fields_text(const Topic& topic, const std::vector<Topic>& topics) {
  constexpr std::size_t kColumn = 4;
  const std::string prefix = topic.name + ".";
  std::string text;
  for (const Topic& field : topics) {
    const bool is_own = field.kind == topic.kind && field.name.starts_with(prefix) &&
                        field.name.find('.', prefix.size()) == std::string::npos;
    if (!is_own) continue;
    text += fmt::format("  {}\n", field.name.substr(prefix.size()));
    text += labelled("", first_sentence(field.about), kColumn);
  }
  return text.empty() ? "" : "\nIts fields:\n" + text;
}

std::string topic_text(const Topic& topic, const std::vector<Topic>& topics) {
  std::string text = topic.name + "\n\n  " + wrapped(topic.about, 2, 2) + "\n";
  text += row("type", topic.type);
  text += row("default", topic.fallback);
  text += row("limits", topic.limits);
  return text + row("see", topic.see) + fields_text(topic, topics);
}

std::string list_text(const std::vector<Topic>& topics) {
  constexpr std::size_t kColumn = 4;
  std::string text;
  for (const auto& [kind, heading] : kHeadings) {
    text += fmt::format("{}{}:\n", text.empty() ? "" : "\n", heading);
    for (const Topic& topic : topics) {
      if (topic.kind != kind) continue;
      text += fmt::format("  {}\n", topic.name);
      text += labelled("", first_sentence(topic.about), kColumn);
    }
  }
  return text;
}

int run_explain(const Invocation& invocation) {
  const std::vector<Topic> all = all_topics();
  const std::vector<std::string>& names = invocation.arguments.positional();
  invocation.terminal.print(names.empty() ? list_text(all)
                                          : topic_text(topic_named(names.front(), all), all));
  return kExitDone;
}

}  // namespace

Command explain_command() {
  Command command;
  command.name = "explain";
  command.group = "Look up";
  command.arguments = "[NAME]";
  command.summary = "a field, a value of a result, a preset, an exit code";
  command.about =
      "Explains a field of an input file, a value of a result, a preset or an exit code: its type, "
      "default, meaning, limits and source. Without NAME it lists what there is.";
  command.examples = {
      {"headway explain strategy.tensor_parallel", "by its path; the end of it will do"},
      {"headway explain breakdown.pipeline_bubble", "a value of the result"},
  };
  command.options = with_standard_options({});
  command.most_arguments = 1;
  command.outcome = "nothing was explained";
  command.details =
      "A name is the path of a field from the scenario's root, or as much of its end as is enough: "
      "leaf.uplinks. JSON pointers as messages show them are names too: /strategy/tensor_parallel. "
      "Array elements and free names (of a kernel family) are left out of the path.";
  command.run = run_explain;
  return command;
}

}  // namespace headway

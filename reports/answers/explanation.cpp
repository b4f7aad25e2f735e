#include "reports/answers/explanation.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "sim/base/wrap_text.h"

namespace headway {
namespace {

constexpr std::array<std::pair<TopicKind, std::string_view>, 5> kHeadings = {{
    {TopicKind::field, "Fields of scenarios, topologies, models and profiles"},
    {TopicKind::metric, "Values of results"},
    {TopicKind::preset, "Presets"},
    {TopicKind::term, "Terms of the cost model"},
    {TopicKind::exit_code, "Exit codes"},
}};

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

}  // namespace

std::string explanation(const Topic& topic, const std::vector<Topic>& topics) {
  std::string text = topic.name + "\n\n  " + wrapped_text(topic.about, 2, 2) + "\n";
  text += row("type", topic.type);
  text += row("default", topic.fallback);
  text += row("limits", topic.limits);
  return text + row("see", topic.see) + fields_text(topic, topics);
}

std::string explanation_list(const std::vector<Topic>& topics) {
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

}  // namespace headway

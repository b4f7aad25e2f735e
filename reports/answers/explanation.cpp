#include "reports/answers/explanation.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "reports/document/markdown_document.h"
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

/// A part of a scenario whose fields stand in a table of their own.
struct ReferencePart {
  std::string_view heading;
  std::string_view place;
};
// A field belongs to the last one that it stands in.
constexpr std::array<ReferencePart, 18> kReferenceParts = {{
    {"Scenario", ""},
    {"Candidates", "candidates"},
    {"Model", "model"},
    {"Cluster", "cluster"},
    {"Topology", "cluster.topology"},
    {"Fabric", "cluster.topology.fabric"},
    {"Node", "cluster.topology.node"},
    {"Strategy", "strategy"},
    {"Perturbations", "perturbations"},
    {"Reliability", "reliability"},
    {"Other jobs", "jobs"},
    {"Anchor", "anchor"},
    {"Cost", "cost"},
    {"Run", "run"},
    {"Profile", "profile"},
    {"Device of a profile", "profile.device"},
    {"Kernel families of a profile", "profile.kernel_families"},
    {"Experts in a profile", "profile.experts"},
}};

std::size_t part_of(const std::string& name) {
  std::size_t part = 0;
  for (std::size_t i = 0; i < kReferenceParts.size(); ++i) {
    if (name.starts_with(std::string(kReferenceParts[i].place) + ".")) part = i;
  }
  return part;
}

std::string with_limits(const Topic& topic) {
  std::string text = topic.about;
  if (!topic.limits.empty()) text += fmt::format(" Limits: {}.", topic.limits);
  return topic.see.empty() ? text : fmt::format("{} See: {}.", text, topic.see);
}

// What is promised of files and results.
constexpr std::string_view kVersions =
    "Files say which version of the format they are (\"schema\"). Within a version a field keeps "
    "its name, its unit and its meaning, and a file that was accepted stays accepted; new fields "
    "may come, and are left out by default.";
constexpr std::string_view kDefaults =
    "Defaults may change with what is known; `headway check FILE --resolve` writes all of them "
    "out, which keeps them.";
constexpr std::string_view kBreaks =
    "What would break this is a new version; Headway then reads both, or says how to rewrite the "
    "file.";
constexpr std::string_view kResults =
    "Keys of results (--json) keep name, unit and meaning in the same way; numbers may change with "
    "every version, as what is known of the machines does. Texts for people may change at any "
    "time.";
constexpr std::string_view kQuantities =
    "Quantities are texts with a unit: \"400 Gb/s\" is bits, \"400 GB/s\" bytes; GB is 1e9, GiB "
    "2^30. Profiles, which programs write, have numbers in SI base units, and the unit in the name "
    "of the field.";

}  // namespace

std::string field_reference(const std::vector<Topic>& topics) {
  std::vector<TextTable> tables(
      kReferenceParts.size(), TextTable({{"field"}, {"type and range"}, {"default"}, {"meaning"}}));
  for (const Topic& topic : topics) {
    if (topic.kind != TopicKind::field) continue;
    const std::size_t part = part_of(topic.name);
    const std::string_view place = kReferenceParts[part].place;
    tables[part].add_row({topic.name.substr(place.empty() ? 0 : place.size() + 1), topic.type,
                          topic.fallback, with_limits(topic)});
  }
  Document page{
      .title = "Every field",
      .lead =
          "Of scenarios and the files that they name, from the tables that read them; `headway "
          "explain NAME` shows one, schemas/ has the same for editors. This page is made by "
          "`headway explain --fields`, and a test holds it to that."};
  page.sections.push_back(
      {"What is promised",
       {BulletList{{std::string(kVersions), std::string(kDefaults), std::string(kBreaks),
                    std::string(kResults), std::string(kQuantities)}}}});
  for (std::size_t part = 0; part < kReferenceParts.size(); ++part) {
    DocumentSection section{std::string(kReferenceParts[part].heading), {}};
    if (!kReferenceParts[part].place.empty()) {
      section.blocks.emplace_back(
          Paragraph{fmt::format("Fields of {}.", kReferenceParts[part].place)});
    }
    section.blocks.emplace_back(std::move(tables[part]));
    page.sections.push_back(std::move(section));
  }
  return markdown_of(page);
}

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

#include "sim/reference/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <ranges>

#include "sim/base/diagnostic.h"
#include "sim/base/suggestion.h"
#include "sim/base/utf8.h"
#include "sim/costs/cost_fields.h"
#include "sim/reference/explain_tables.h"
#include "sim/reference/input_fields.h"

namespace headway {
namespace {

void append(std::vector<Topic>& topics, TopicKind kind, std::span<const TopicRow> rows) {
  for (const TopicRow& row : rows) {
    topics.push_back({kind, std::string(row.name), std::string(row.type), std::string(row.fallback),
                      std::string(row.about), std::string(row.limits), std::string(row.see)});
  }
}

void append(std::vector<Topic>& topics, const std::vector<FieldDescription>& fields) {
  for (const auto& [name, type, notes, value, required] : fields) {
    topics.push_back(
        {TopicKind::field, name, type.text, notes.fallback, notes.about, notes.limits, notes.see});
  }
}

/// Those of profiles that tables read.
std::vector<FieldDescription> profile_fields() {
  std::vector<FieldDescription> fields;
  append_fields(fields, "profile.device", device_fields().described());
  append_fields(fields, "profile.device.attention_kernels", attention_kernel_fields().described());
  append_fields(fields, "profile.kernel_families", family_fields().described());
  append_fields(fields, "profile", cost_fields().described());
  return fields;
}

std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts(1);
  for (const char c : name) {
    if (c == '.' || c == '/') {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

bool is_index(const std::string& part) {
  return !part.empty() && part.find_first_not_of("0123456789") == std::string::npos;
}

const std::string kAllNames = "`headway explain` lists all names";

/// Without the unit that keys of results end in.
std::string without_unit(std::string part) {
  constexpr std::array<std::string_view, 3> kUnits = {"_bytes_per_s", "_bytes", "_s"};
  for (const std::string_view unit : kUnits) {
    if (part.size() <= unit.size() || !part.ends_with(unit)) continue;
    part.resize(part.size() - unit.size());
    break;
  }
  return part;
}

/// Words of a name may stand apart: "tensor parallel".
char in_names(unsigned char c) {
  if (c == ' ' || c == '-') return '_';
  return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/// Names are equal if these are: small letters, dots, no units, no indices.
std::string normal_form(std::string_view name) {
  std::string form;
  for (const std::string& part : parts_of(name)) {
    // A number alone is a name (an exit code), within a path an index.
    const bool is_whole_name = part.size() == name.size();
    if (part.empty() || (is_index(part) && !is_whole_name && !name.starts_with("exit_code"))) {
      continue;
    }
    form += (form.empty() ? "" : ".") + without_unit(part);
  }
  std::ranges::transform(form, form.begin(), in_names);
  // Another job's fields are those of the scenario's own.
  constexpr std::string_view kJobs = "jobs.";
  for (const std::string_view part : {"jobs.model.", "jobs.strategy."}) {
    if (form.starts_with(part)) return form.substr(kJobs.size());
  }
  // And other nodes' those of nodes.
  constexpr std::string_view kOtherNode = "cluster.topology.other_nodes.node.";
  if (form.starts_with(kOtherNode)) {
    return "cluster.topology.node." + form.substr(kOtherNode.size());
  }
  return form;
}

std::string name_list(const std::vector<const Topic*>& topics) {
  constexpr std::size_t kMostShown = 8;
  std::string list;
  for (std::size_t i = 0; i < std::min(topics.size(), kMostShown); ++i) {
    list += (i == 0 ? "" : ", ") + topics[i]->name;
  }
  return topics.size() > kMostShown ? list + ", ..." : list;
}

/// Names of inputs and results whose explanation has the word, or one that begins with it.
std::string told_of_in(std::string_view word, const std::vector<Topic>& topics) {
  constexpr std::size_t kShortestWord = 3;
  const auto is_letter = [](unsigned char c) { return std::isalnum(c) != 0; };
  if (word.size() < kShortestWord || std::ranges::none_of(word, is_letter)) return "";
  const auto is_same = [](unsigned char a, unsigned char b) { return in_names(a) == in_names(b); };
  std::vector<const Topic*> found;
  for (const Topic& topic : topics) {
    const std::string text = topic.about + " " + topic.type;
    auto at = text.begin();
    const auto next = [&](auto from) {
      return std::search(from, text.end(), word.begin(), word.end(), is_same);
    };
    for (at = next(at); at != text.end(); at = next(at + 1)) {
      if (at != text.begin() && is_letter(static_cast<unsigned char>(*(at - 1)))) continue;
      found.push_back(&topic);
      break;
    }
  }
  return found.empty() ? "" : fmt::format("it is told of in {};", name_list(found));
}

/// What may have been meant: a whole name, or the last part of one; and where it is told of.
std::string meant_help(std::string_view name, const std::vector<Topic>& topics) {
  std::vector<std::string_view> names;
  std::vector<std::string_view> last_parts;
  for (const std::string_view whole : std::views::transform(topics, &Topic::name)) {
    names.push_back(whole);
    last_parts.push_back(whole.substr(whole.rfind('.') + 1));
  }
  const bool is_whole = name.find_first_of("./") != std::string_view::npos;
  std::string help = meant_text(name, is_whole ? names : last_parts);
  if (help.empty()) help = meant_text(name, is_whole ? last_parts : names);
  for (const std::string& part : {told_of_in(name, topics), kAllNames}) {
    if (!part.empty()) help += (help.empty() ? "" : " ") + part;
  }
  return help;
}

}  // namespace

const std::vector<Topic>& topics() {
  static const std::vector<Topic> kTopics = [] {
    std::vector<Topic> all;
    append(all, input_fields());
    append(all, TopicKind::field, profile_topics());
    append(all, profile_fields());
    append(all, TopicKind::metric, metric_topics());
    append(all, TopicKind::metric, long_run_topics());
    append(all, TopicKind::metric, plan_topics());
    append(all, TopicKind::metric, document_topics());
    std::ranges::move(preset_topics(), std::back_inserter(all));
    std::ranges::move(term_topics(), std::back_inserter(all));
    return all;
  }();
  return kTopics;
}

std::vector<const Topic*> topics_named(std::string_view name, const std::vector<Topic>& topics) {
  const std::string wanted = normal_form(name);
  std::vector<const Topic*> fields;
  std::vector<const Topic*> others;
  if (wanted.empty()) return fields;
  for (const Topic& topic : topics) {
    const std::string form = normal_form(topic.name);
    if (form == wanted) return {&topic};
    if (!form.ends_with("." + wanted)) continue;
    (topic.kind == TopicKind::field ? fields : others).push_back(&topic);
  }
  if (!fields.empty()) return fields;
  if (!others.empty()) return others;
  const auto printed = std::ranges::find(topics, topic_of_label(name), &Topic::name);
  return printed == topics.end() ? fields : std::vector<const Topic*>{&*printed};
}

const Topic& topic_named(std::string_view name, const std::vector<Topic>& topics) {
  const std::vector<const Topic*> found = topics_named(name, topics);
  if (found.size() == 1) return *found.front();
  Diagnostic problem;
  if (found.empty()) {
    problem.message = fmt::format("nothing is called {}", in_quotes(name));
    std::error_code none;
    problem.help = std::filesystem::is_regular_file(name, none)
                       ? fmt::format("`headway check {}` tells what the file is", name)
                       : meant_help(name, topics);
  } else {
    problem.message = fmt::format("{} is the end of several names", in_quotes(name));
    problem.help = "write one of " + name_list(found);
  }
  throw InputError(std::move(problem));
}

}  // namespace headway

#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/files/field_type.h"
#include "sim/reference/explain.h"

namespace headway {

/// A line of a table of topics; the members are those of Topic.
struct TopicRow {
  std::string_view name;
  std::string_view type;
  std::string_view fallback;
  std::string_view about;
  std::string_view limits = {};
  std::string_view see = {};
};

/// A field whose reader is no table: what is told of it stands apart.
struct FieldRow {
  std::string_view name;  ///< from the scenario's root
  FieldType type;
  std::string_view fallback;  ///< a value, words or "required"
  std::string_view about;
  std::string_view limits = {};
  std::string_view see = {};
};

// Each is defined in the file that bears its name, in the order in which lists show it.
[[nodiscard]] std::vector<FieldRow> scenario_rows();
[[nodiscard]] std::vector<FieldRow> model_rows();
[[nodiscard]] std::span<const TopicRow> profile_topics();
[[nodiscard]] std::span<const TopicRow> metric_topics();
[[nodiscard]] std::span<const TopicRow> long_run_topics();
[[nodiscard]] std::span<const TopicRow> plan_topics();
[[nodiscard]] std::span<const TopicRow> document_topics();
[[nodiscard]] std::vector<Topic> preset_topics();
[[nodiscard]] std::vector<Topic> term_topics();

/// The name of the topic that texts and tables print as `printed`; empty if none does.
[[nodiscard]] std::string topic_of_label(std::string_view printed);

}  // namespace headway

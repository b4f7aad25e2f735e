#pragma once

#include <span>
#include <string_view>
#include <vector>

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

// Each is defined in the file that bears its name, in the order in which lists show it.
[[nodiscard]] std::span<const TopicRow> scenario_topics();
[[nodiscard]] std::span<const TopicRow> reliability_topics();
[[nodiscard]] std::span<const TopicRow> model_topics();
[[nodiscard]] std::span<const TopicRow> topology_topics();
[[nodiscard]] std::span<const TopicRow> fabric_topics();
[[nodiscard]] std::span<const TopicRow> strategy_topics();
[[nodiscard]] std::span<const TopicRow> profile_topics();
[[nodiscard]] std::span<const TopicRow> device_topics();
[[nodiscard]] std::span<const TopicRow> metric_topics();
[[nodiscard]] std::span<const TopicRow> long_run_topics();
[[nodiscard]] std::span<const TopicRow> plan_topics();
[[nodiscard]] std::vector<Topic> preset_topics();
[[nodiscard]] std::vector<Topic> term_topics();

}  // namespace headway

#include "reports/answers/replay_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <numeric>

#include "sim/base/text_table.h"
#include "sim/base/utf8.h"
#include "sim/result/number_text.h"

namespace headway {
namespace {

constexpr std::size_t kShown = 8;  ///< groups of a kind that the text lists
constexpr double kLengthImbalance = 0.9;

double mean(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

template <class Key>
void add_groups(TextTable& table, std::string_view kind,
                const std::vector<GroupSlowdown<Key>>& groups) {
  for (std::size_t i = 0; i < groups.size() && i < kShown; ++i) {
    table.add_row(
        {fmt::format("{} {}", kind, groups[i].group), fmt::format("{:.3f}", groups[i].slowdown)});
  }
}

template <class Key>
nlohmann::json groups_json(const std::vector<GroupSlowdown<Key>>& groups,
                           const std::vector<int>& steps) {
  nlohmann::json list = nlohmann::json::array();
  for (const GroupSlowdown<Key>& group : groups) {
    nlohmann::json by_step = nlohmann::json::object();
    for (std::size_t i = 0; i < steps.size(); ++i) {
      by_step[std::to_string(steps[i])] = group.by_step[i];
    }
    list.push_back(
        {{"group", group.group}, {"slowdown", group.slowdown}, {"slowdown_by_step", by_step}});
  }
  return list;
}

nlohmann::json effect_json(const RepairEffect& effect) {
  return {{"step_time_repaired_s", effect.with_it_repaired_s},
          {"step_time_with_only_it_s", effect.with_only_it_s},
          {"removed_share", effect.removed_share},
          {"added_share", effect.added_share}};
}

}  // namespace

std::string replay_text(const ReplayResult& result) {
  std::string text = fmt::format(
      "{}: {} step{}, {} data-parallel replicas of {} stages\n\n"
      "  measured      {:.3f} s, mean of steps\n"
      "  replayed      {:.3f} s without delays between operations ({:.2f} % of the step)\n"
      "  ideal         {:.3f} s with every operation at its typical time\n"
      "  slowdown      S = {:.3f}: {} % of the GPU-hours lost to stragglers\n",
      printable(result.trace), result.steps.size(), result.steps.size() == 1 ? "" : "s",
      result.replicas, result.stages, mean(result.measured_s), mean(result.replayed_s),
      100.0 * (1.0 - 1.0 / result.launch_slowdown), mean(result.ideal_s), result.slowdown,
      percent(1.0 - 1.0 / result.slowdown));
  text += fmt::format("  last stage    repairing it gives {} % of that back\n",
                      percent(result.last_stage.removed_share));
  text += fmt::format("  worst ranks   repairing {} gives {} % of it back\n",
                      fmt::join(result.worst, ", "), percent(result.worst_ranks.removed_share));
  text += fmt::format("  micro-batches forward and backward times correlate with r = {:.2f}{}\n\n",
                      result.forward_backward_correlation,
                      result.forward_backward_correlation >= kLengthImbalance
                          ? ": they differ in work, as sequences of different length do"
                          : "");
  TextTable table({{"slowdown if only this were slow"}, {"S", TextTable::Align::right}});
  add_groups(table, "replica", result.by_replica);
  add_groups(table, "stage", result.by_stage);
  add_groups(table, "operation", result.by_operation);
  return text + table.text(2);
}

nlohmann::json replay_json(const ReplayResult& result) {
  nlohmann::json steps = nlohmann::json::array();
  for (std::size_t i = 0; i < result.steps.size(); ++i) {
    steps.push_back({{"step", result.steps[i]},
                     {"measured_s", result.measured_s[i]},
                     {"replayed_s", result.replayed_s[i]},
                     {"ideal_s", result.ideal_s[i]}});
  }
  return {{"schema", "headway/replay/1"},
          {"trace", result.trace},
          {"data_parallel", result.replicas},
          {"pipeline_parallel", result.stages},
          {"steps", std::move(steps)},
          {"measured_s", mean(result.measured_s)},
          {"replayed_s", mean(result.replayed_s)},
          {"ideal_s", mean(result.ideal_s)},
          {"launch_slowdown", result.launch_slowdown},
          {"slowdown", result.slowdown},
          {"slowdown_by_data_parallel_rank", groups_json(result.by_replica, result.steps)},
          {"slowdown_by_stage", groups_json(result.by_stage, result.steps)},
          {"slowdown_by_operation", groups_json(result.by_operation, result.steps)},
          {"last_stage", effect_json(result.last_stage)},
          {"worst_ranks", effect_json(result.worst_ranks)},
          {"worst", result.worst},
          {"forward_backward_correlation", result.forward_backward_correlation}};
}

}  // namespace headway

#include "sim/result/replay.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "reports/answers/answers.h"
#include "reports/document/csv_text.h"
#include "reports/document/text_document.h"
#include "sim/base/join_words.h"
#include "sim/base/quantile.h"
#include "sim/files/json_output.h"
#include "sim/result/number_text.h"

namespace headway {
namespace {

constexpr std::size_t kShown = 8;  ///< groups of a kind that the text lists
constexpr double kLengthImbalance = 0.9;

/// The slowest groups of each kind.
struct ShownGroups {
  TextTable table =
      TextTable({{"slowdown if only this were slow"}, {"S", TextTable::Align::right}});
  Chart chart = {.kind = Chart::Kind::bars, .x_title = "% slower than without stragglers"};
  Chart::Series series = {.name = "slowdown", .colour = 1};

  template <class Key>
  void add(std::string_view kind, const std::vector<GroupSlowdown<Key>>& groups) {
    for (std::size_t i = 0; i < groups.size() && i < kShown; ++i) {
      const std::string name = fmt::format("{} {}", kind, groups[i].group);
      table.add_row({name, fmt::format("{:.3f}", groups[i].slowdown)});
      chart.labels.push_back(name);
      series.values.push_back(100.0 * (groups[i].slowdown - 1.0));
    }
  }
};

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

FactList slowdown_facts(const ReplayResult& result) {
  const double launch = 1.0 - 1.0 / result.launch_slowdown;
  const bool differ_in_work = result.forward_backward_correlation >= kLengthImbalance;
  return {
      {{"measured", fmt::format("{:.3f} s, mean of steps", mean(result.measured_s))},
       {"replayed", fmt::format("{:.3f} s without delays between operations ({:.2f} % of the step)",
                                mean(result.replayed_s), 100.0 * launch)},
       {"ideal",
        fmt::format("{:.3f} s with every operation at its typical time", mean(result.ideal_s))},
       {"slowdown", fmt::format("S = {:.3f}: {} % of the GPU-hours lost to stragglers",
                                result.slowdown, percent(1.0 - 1.0 / result.slowdown))},
       {"last stage", fmt::format("repairing it gives {} % of that back",
                                  percent(result.last_stage.removed_share))},
       {"worst ranks",
        fmt::format("repairing {} gives {} % of it back", join_words(result.worst, ", "),
                    percent(result.worst_ranks.removed_share))},
       {"micro-batches",
        fmt::format(
            "forward and backward times correlate with r = {:.2f}{}",
            result.forward_backward_correlation,
            differ_in_work ? ": they differ in work, as sequences of different length do" : "")}}};
}

DocumentSection step_section(const ReplayResult& result) {
  TextTable table(
      {{"step", kRight}, {"measured s", kRight}, {"replayed", kRight}, {"ideal", kRight}});
  Chart chart{.x_title = "step", .y_title = "s"};
  for (std::size_t i = 0; i < result.steps.size(); ++i) {
    chart.x.push_back(result.steps[i]);
    table.add_row({fmt::format("{}", result.steps[i]), fmt::format("{:.3f}", result.measured_s[i]),
                   fmt::format("{:.3f}", result.replayed_s[i]),
                   fmt::format("{:.3f}", result.ideal_s[i])});
  }
  chart.series = {
      {.name = "measured", .values = result.measured_s, .colour = 0},
      {.name = "replayed", .values = result.replayed_s, .colour = 1},
      {.name = "ideal", .values = result.ideal_s, .style = Chart::Style::dashed, .colour = 2}};
  return {"Step by step",
          {Figure{.title = "Step times",
                  .caption = "Replayed: without delays that operations do not explain. Ideal: with "
                             "every operation at its typical time.",
                  .picture = std::move(chart),
                  .table = std::move(table)}},
          Shown::on_pages};
}

Document replay_document(const ReplayResult& result) {
  ShownGroups groups;
  groups.add("replica", result.by_replica);
  groups.add("stage", result.by_stage);
  groups.add("operation", result.by_operation);
  groups.chart.series.push_back(std::move(groups.series));
  Document document{.title = fmt::format("{}: {} step{}, {} data-parallel replicas of {} stages",
                                         std::filesystem::path(result.trace).filename().string(),
                                         result.steps.size(), result.steps.size() == 1 ? "" : "s",
                                         result.replicas, result.stages)};
  document.sections = {
      {"Answer", {slowdown_facts(result)}},
      {"Who is slow",
       {Figure{.title = "What each replica, stage and kind of operation costs by itself",
               .caption = "Left of 0: faster than typical.",
               .picture = std::move(groups.chart),
               .table = std::move(groups.table)}}}};
  if (result.steps.size() > 1) document.sections.push_back(step_section(result));
  return document;
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

/// A row a replica, stage and kind of operation.
std::string replay_csv(const ReplayResult& result) {
  nlohmann::json records = nlohmann::json::array();
  const auto add = [&](const char* kind, const auto& groups) {
    for (const auto& group : groups) {
      records.push_back({{"kind", kind}, {"group", group.group}, {"slowdown", group.slowdown}});
    }
  };
  add("replica", result.by_replica);
  add("stage", result.by_stage);
  add("operation", result.by_operation);
  return csv_of(records, {"kind", "group", "slowdown"});
}

}  // namespace

Answer replay_answer(const ReplayResult& result) {
  return {.text =
              [&](const Screen& screen) {
                return brief_text_of(replay_document(result), screen.columns);
              },
          .document = [&] { return replay_document(result); },
          .json = [&] { return json_document_text(replay_json(result)); },
          .csv = [&] { return replay_csv(result); }};
}

}  // namespace headway

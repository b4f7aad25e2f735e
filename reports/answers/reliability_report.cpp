#include "reports/answers/reliability_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/base/quantity_text.h"
#include "sim/base/text_table.h"
#include "sim/base/utf8.h"
#include "sim/result/number_text.h"
#include "sim/scenario/recovery/recovery.h"

namespace headway {
namespace {

/// The mean, and where nine of ten runs are: a rare long outage pulls the mean out of there.
std::string percent_range(const Percentiles& of_runs) {
  const bool is_inside = of_runs.low <= of_runs.mean && of_runs.mean <= of_runs.high;
  return fmt::format("{} %{} ({}{} .. {})", percent(of_runs.mean), is_inside ? "" : " on average",
                     is_inside ? "" : "nine of ten runs ", percent(of_runs.low),
                     percent(of_runs.high));
}

std::string goodput_sentence(const ReliabilityPrediction& of) {
  std::string text =
      fmt::format("goodput {}, ETTR {} %", percent_range(of.goodput), percent(of.ettr.mean));
  if (of.interruptions.mean == 0.0) return text + ", nothing interrupts it";
  return text + fmt::format(", {:.0f} interruptions ({:.0f} .. {:.0f}), one every {}",
                            of.interruptions.mean, of.interruptions.low, of.interruptions.high,
                            short_text(of.job_mttf));
}

std::string checkpoint_sentence(const ReliabilityPrediction& of) {
  return fmt::format("{} every {} of training ({}), which stands still {} for each",
                     short_text(of.checkpoint_size), short_text(of.checkpoint_interval),
                     of.interval_by, short_text(of.checkpoint_blocking));
}

/// How it gets over failures, where that is no plain restart.
std::optional<std::string> recovery_sentence(const ReliabilityPrediction& of) {
  const auto known = std::ranges::find(recoveries(), of.recovery, &Recovery::name);
  if (known == recoveries().end() || known == recoveries().begin()) return std::nullopt;
  std::string text(known->title);
  if (of.step_overhead > 0.0) {
    text += fmt::format(", for which every step takes {} % more", percent(of.step_overhead));
  }
  return text;
}

std::optional<std::string> spot_sentence(const ReliabilityPrediction& of) {
  if (!of.spot) return std::nullopt;
  return fmt::format("{} of {} nodes, {} % of them there on average", of.spot->nodes,
                     of.spot->of_nodes, percent(of.spot->there));
}

/// A share of the time in percent, to two digits where it is rare.
std::string rare_percent(double share) {
  const double value = 100.0 * share;
  if (value < 0.001) return "less than 0.001 %";
  return value >= 1.0 ? percent(share) + " %" : fmt::format("{:.2g} %", value);
}

std::optional<std::string> repair_sentence(const ReliabilityPrediction& of) {
  if (!of.repair) return std::nullopt;
  const std::string in_repair = fmt::format("{:.3g} nodes in repair on average", of.repair->nodes);
  const std::string share = rare_percent(of.repair->beyond_spares);
  if (of.repair->spares == 0) return fmt::format("none; {}, some {} of the time", in_repair, share);
  return fmt::format("{}; {}, more than these {} of the time", grouped_digits(of.repair->spares),
                     in_repair, share);
}

std::string_view loss_title(std::string_view name) {
  if (name == "lost_work") return "work done again";
  if (name == "waiting_for_nodes") return "waiting for nodes";
  if (name == "reduced_speed") return "slower steps";
  return name;
}

/// Name and number, largest first, those that are not 0.
std::vector<std::pair<std::string, double>> largest(const std::map<std::string, double>& of) {
  std::vector<std::pair<std::string, double>> sorted;
  for (const auto& entry : of) {
    if (entry.second > 0.0) sorted.emplace_back(entry);
  }
  std::ranges::stable_sort(sorted, std::greater<>(), &std::pair<std::string, double>::second);
  return sorted;
}

TextTable loss_table(const ReliabilityPrediction& of) {
  TextTable table({{"GPU-hours lost to"}, {"hours", kRight}});
  for (const auto& [name, hours] : largest(of.lost_gpu_hours)) {
    table.add_row({std::string(loss_title(name)), prefixed_count(hours)});
  }
  return table;
}

Chart loss_chart(const ReliabilityPrediction& of) {
  Chart chart{.kind = Chart::Kind::bars, .x_title = "GPU-hours"};
  Chart::Series series{.name = "lost", .colour = 1};
  for (const auto& [name, hours] : largest(of.lost_gpu_hours)) {
    chart.labels.emplace_back(loss_title(name));
    series.values.push_back(hours);
  }
  chart.series.push_back(std::move(series));
  return chart;
}

TextTable cause_table(const ReliabilityPrediction& of) {
  TextTable table({{"cause"}, {"interruptions", kRight}, {"GPU-hours", kRight}});
  for (const auto& [name, count] : largest(of.interruptions_by_cause)) {
    table.add_row({printable(name), fmt::format("{:.1f}", count),
                   prefixed_count(of.lost_gpu_hours_by_cause.at(name))});
  }
  return table;
}

}  // namespace

std::string reliability_text(const ReliabilityPrediction& of) {
  std::string text = fmt::format("  {:<14}{}\n", "over weeks", goodput_sentence(of));
  if (const auto recovery = recovery_sentence(of)) {
    text += fmt::format("  {:<14}{}\n", "recovery", *recovery);
  }
  if (const auto spot = spot_sentence(of)) text += fmt::format("  {:<14}{}\n", "spot", *spot);
  if (const auto repair = repair_sentence(of)) {
    text += fmt::format("  {:<14}{}\n", "spare nodes", *repair);
  }
  text += fmt::format("  {:<14}{}\n", "checkpoints", checkpoint_sentence(of));
  text += "\n";
  if (!largest(of.lost_gpu_hours).empty()) text += loss_table(of).text(2) + "\n";
  return text;
}

DocumentSection reliability_section(const ReliabilityPrediction& of) {
  std::string text = fmt::format("Mean of {}, 90 % of them in brackets: {}. ",
                                 of.runs == 1 ? "1 history" : fmt::format("{} histories", of.runs),
                                 goodput_sentence(of));
  if (const auto recovery = recovery_sentence(of)) text += fmt::format("Recovery: {}. ", *recovery);
  if (const auto spot = spot_sentence(of)) text += fmt::format("Spot nodes: {}. ", *spot);
  if (const auto repair = repair_sentence(of)) text += fmt::format("Spare nodes: {}. ", *repair);
  text += fmt::format("Checkpoints: {}.", checkpoint_sentence(of));
  DocumentSection section{"Over weeks", {Paragraph{std::move(text)}}};
  if (!largest(of.lost_gpu_hours).empty()) {
    section.blocks.emplace_back(Figure{.title = "Where GPU-hours go that train nothing",
                                       .caption = "Mean of a history.",
                                       .picture = loss_chart(of),
                                       .table = loss_table(of)});
  }
  if (!largest(of.interruptions_by_cause).empty()) section.blocks.emplace_back(cause_table(of));
  return section;
}

}  // namespace headway

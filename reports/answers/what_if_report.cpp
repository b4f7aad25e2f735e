#include "reports/answers/what_if_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/text_table.h"
#include "sim/base/utf8.h"
#include "sim/result/number_text.h"

namespace headway {
namespace {

/// The share of the iteration from which slowness is worth words: repeated measurements of one step
/// differ by about as much.
constexpr double kNoticeable = 0.005;

TextTable removal_table(const WhatIf& what_if) {
  const TimeScale scale(what_if.time);
  const TimeScale gains(std::ranges::max(what_if.removals, {}, &Removal::gain).gain);
  TextTable table({{"without the slowness of"},
                   {scale.unit(), kRight},
                   {"gain " + gains.unit(), kRight},
                   {"%", kRight},
                   {"GPU-hours a day", kRight}});
  for (const Removal& removal : what_if.removals) {
    table.add_row({printable(removal.what), scale.part(removal.without), gains.part(removal.gain),
                   percent(share_of(removal.gain, what_if.time)),
                   prefixed_count(what_if.gpu_hours_a_day(removal.gain))});
  }
  return table;
}

TextTable help_table(const char* title, const std::vector<Sensitivity>& helps,
                     const TimeScale& scale) {
  TextTable table({{title}, {scale.unit(), kRight}, {"throughput", kRight}});
  for (const Sensitivity& one : helps) {
    table.add_row(
        {one.title, scale.part(one.iteration_time), signed_percent(one.speedup - 1.0) + " %"});
  }
  return table;
}

Chart removal_chart(const WhatIf& what_if) {
  Chart chart{.kind = Chart::Kind::bars, .x_title = "% of the iteration"};
  Chart::Series series{.name = "gain", .colour = 1};
  for (const Removal& removal : what_if.removals) {
    chart.labels.push_back(removal.what);
    series.values.push_back(100.0 * share_of(removal.gain, what_if.time));
  }
  chart.series.push_back(std::move(series));
  return chart;
}

TextTable sensitivity_table(const WhatIf& what_if) {
  return help_table("what would help", what_if.sensitivities, TimeScale(what_if.time));
}

TextTable mitigation_table(const WhatIf& what_if) {
  return help_table("what to do about stragglers", what_if.mitigations, TimeScale(what_if.time));
}

TextTable extreme_table(const WhatIf& what_if) {
  return help_table("the network at its worst", what_if.network_extremes, TimeScale(what_if.time));
}

Chart help_chart(const std::vector<Sensitivity>& helps) {
  Chart chart{.kind = Chart::Kind::bars, .x_title = "% more throughput"};
  Chart::Series series{.name = "gain", .colour = 2};
  for (const Sensitivity& one : helps) {
    chart.labels.push_back(one.title);
    series.values.push_back(100.0 * (one.speedup - 1.0));
  }
  chart.series.push_back(std::move(series));
  return chart;
}

std::string imbalance_sentence(const WhatIf& what_if) {
  return fmt::format("stage {} has {} % more work than the mean stage", what_if.slowest_stage,
                     percent(what_if.stage_imbalance - 1.0));
}

/// The node, rank group or cable that costs most, if that deserves a name.
const Removal* worst_place(const WhatIf& what_if) {
  const Removal* worst = nullptr;
  for (const Removal& removal : what_if.removals) {
    if (removal.kind != RemovalKind::node && removal.kind != RemovalKind::rank &&
        removal.kind != RemovalKind::link) {
      continue;
    }
    if (share_of(removal.gain, what_if.time) < kNoticeable) continue;
    if (worst == nullptr || removal.gain > worst->gain) worst = &removal;
  }
  return worst;
}

bool is_imbalanced(const WhatIf& what_if) { return what_if.stage_imbalance > 1.0 + kNoticeable; }

}  // namespace

std::string straggler_sentence(const WhatIf& what_if) {
  const TimeScale scale(what_if.time);
  const auto in_unit = [&](Seconds time) { return scale.part(time) + " " + scale.unit(); };
  const Seconds lost = what_if.time - what_if.ideal;
  if (-what_if.wasted_share() > kNoticeable) {
    return fmt::format(
        "none lost: were all ranks alike, transfers that now pass one after the other would meet "
        "on the links they share, {} more than {} (S = {:.3f})",
        scale.part(-lost), scale.with_unit(what_if.time), what_if.slowdown());
  }
  if (what_if.wasted_share() < kNoticeable) {
    return fmt::format("no stragglers: ranks that differ cost {} of {} (S = {:.3f})",
                       scale.part(lost), scale.with_unit(what_if.time), what_if.slowdown());
  }
  std::string text = fmt::format(
      "{} of {} lost to ranks and links slower than the job's typical ones (S = {:.3f}), {} "
      "GPU-hours a day",
      scale.part(lost), scale.with_unit(what_if.time), what_if.slowdown(),
      prefixed_count(what_if.gpu_hours_a_day(lost)));
  const Removal* worst = worst_place(what_if);
  if (worst != nullptr) {
    text +=
        fmt::format("; {} alone costs {} and {} GPU-hours a day, without its slowness {}",
                    worst->what, in_unit(worst->gain),
                    prefixed_count(what_if.gpu_hours_a_day(worst->gain)), in_unit(worst->without));
  }
  return text;
}

std::string what_if_text(const WhatIf& what_if) {
  std::string text = fmt::format("  {:<14}{}\n", "stragglers", straggler_sentence(what_if));
  if (is_imbalanced(what_if)) {
    text += fmt::format("  {:<14}{}\n", "stages", imbalance_sentence(what_if));
  }
  text += "\n";
  if (!what_if.removals.empty()) text += removal_table(what_if).text(2) + "\n";
  if (!what_if.mitigations.empty()) text += mitigation_table(what_if).text(2) + "\n";
  if (!what_if.sensitivities.empty()) text += sensitivity_table(what_if).text(2) + "\n";
  if (!what_if.network_extremes.empty()) text += extreme_table(what_if).text(2) + "\n";
  return text;
}

DocumentSection what_if_section(const WhatIf& what_if) {
  std::string text = fmt::format("Stragglers: {}.", straggler_sentence(what_if));
  if (is_imbalanced(what_if)) text += fmt::format(" Also, {}.", imbalance_sentence(what_if));
  text += " The median replica, run again with one thing changed:";
  DocumentSection section{"What if", {Paragraph{std::move(text)}}};
  if (!what_if.removals.empty()) {
    section.blocks.emplace_back(Figure{.title = "What stragglers cost",
                                       .caption = "What the iteration gains without the slowness "
                                                  "of one cause or place.",
                                       .picture = removal_chart(what_if),
                                       .table = removal_table(what_if)});
  }
  if (!what_if.mitigations.empty()) {
    section.blocks.emplace_back(
        Figure{.title = "What to do about stragglers",
               .caption = "Throughput of the whole job, in samples a second. What a sample teaches "
                          "is taken to be the same.",
               .picture = help_chart(what_if.mitigations),
               .table = mitigation_table(what_if)});
  }
  if (!what_if.sensitivities.empty()) {
    section.blocks.emplace_back(Figure{.title = "What would help",
                                       .caption = "Throughput gained by one change at a time.",
                                       .picture = help_chart(what_if.sensitivities),
                                       .table = sensitivity_table(what_if)});
  }
  if (!what_if.network_extremes.empty()) {
    section.blocks.emplace_back(Paragraph{
        "Links are shared fairly here, at any instant. What that does not see, each at its worst; "
        "the truth lies between:"});
    section.blocks.emplace_back(extreme_table(what_if));
  }
  return section;
}

}  // namespace headway

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "reports/sections/prediction_sections.h"
#include "sim/base/quantity_text.h"
#include "sim/result/number_text.h"
#include "sim/result/words/advice.h"
#include "sim/result/words/memory_margin.h"

namespace headway {
namespace {

/// A pipeline of more stages than this is shown by its first, fullest and last one.
constexpr std::size_t kStagesShown = 8;
constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;

std::vector<std::size_t> shown_stages(const MemoryPrediction& memory) {
  const std::size_t count = memory.stages.size();
  std::set<std::size_t> shown;
  if (count > kStagesShown) {
    shown = {0, static_cast<std::size_t>(std::max(memory.fullest_stage, 0)), count - 1};
  } else {
    for (std::size_t i = 0; i < count; ++i) shown.insert(i);
  }
  return {shown.begin(), shown.end()};
}

/// Results of before stages had capacities of their own know one for all.
Bytes capacity_of(const MemoryPrediction& memory, std::size_t stage) {
  const Bytes own = memory.stages[stage].capacity;
  return own > Bytes(0.0) ? own : memory.capacity;
}

Chart memory_chart(const MemoryPrediction& memory, const std::vector<std::size_t>& shown) {
  Chart chart{.kind = Chart::Kind::stacked_bars, .x_title = "GiB"};
  for (const std::size_t i : shown) chart.labels.push_back(fmt::format("stage {}", i));
  int colour = 0;
  for (const auto& [name, part] : kMemoryParts) {
    Chart::Series series{.name = std::string(name), .colour = colour++};
    for (const std::size_t i : shown) {
      series.values.push_back((memory.stages[i].*part).count() / kGibibyte);
    }
    chart.series.push_back(std::move(series));
  }
  Chart::Series capacity{.name = "capacity", .style = Chart::Style::dashed};
  for (const std::size_t i : shown) {
    capacity.values.push_back(capacity_of(memory, i).count() / kGibibyte);
  }
  chart.series.push_back(std::move(capacity));
  return chart;
}

}  // namespace

DocumentSection memory_section(const MemoryPrediction& memory) {
  std::vector<TextTable::Column> columns = {{"stage"}};
  for (const auto& [name, part] : kMemoryParts) columns.push_back({std::string(name), kRight});
  columns.push_back({"total", kRight});
  columns.push_back({"% of capacity", kRight});
  TextTable table(std::move(columns));
  const std::vector<std::size_t> shown = shown_stages(memory);
  for (const std::size_t i : shown) {
    const StageMemory& stage = memory.stages[i];
    const Bytes capacity = capacity_of(memory, i);
    const double share = capacity > Bytes(0.0) ? stage.total() / capacity : 0.0;
    std::vector<std::string> row = {fmt::format("{}", i)};
    for (const auto& [name, part] : kMemoryParts) row.push_back(short_text(stage.*part));
    row.push_back(short_text(stage.total()));
    row.push_back(percent(share));
    table.add_row(std::move(row));
  }
  DocumentSection section{"Memory", {}};
  const std::string margin = memory_margin(memory);
  section.blocks.emplace_back(
      Paragraph{fmt::format("Needed on {}: {} of {}{}.", fullest_place(memory),
                            short_text(fullest_memory(memory).total()), short_text(memory.capacity),
                            !memory.fits     ? "; it does not fit"
                            : margin.empty() ? ""
                                             : "; " + margin + ", by the same estimate")});
  if (memory.host) {
    section.blocks.emplace_back(Paragraph{fmt::format("Offloaded: {}.", host_memory_text(memory))});
  }
  section.blocks.emplace_back(Figure{.title = "Memory by stage and cause, against capacity",
                                     .picture = memory_chart(memory, shown),
                                     .table = std::move(table)});
  const std::size_t left_out = memory.stages.size() - shown.size();
  if (left_out > 0) {
    section.blocks.emplace_back(Paragraph{fmt::format(
        "The first, the fullest and the last stage; {} others are left out.", left_out)});
  }
  return section;
}

}  // namespace headway

#include "reports/markdown_sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <vector>

#include "reports/advice.h"
#include "reports/markdown_text.h"
#include "reports/number_text.h"
#include "sim/base/quantity_text.h"
#include "sim/base/text_table.h"

namespace headway {
namespace {

constexpr TextTable::Align kRight = TextTable::Align::right;

/// A pipeline of more stages than this is shown by its first, fullest and last one.
constexpr std::size_t kStagesShown = 8;

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

}  // namespace

std::string time_section(const Prediction& prediction) {
  const TimeScale scale(prediction.iteration_time);
  TextTable table({{"cause"}, {scale.unit(), kRight}, {"%", kRight}, {"remark"}});
  for (const TimeShare& share : largest_shares(prediction)) {
    table.add_row({std::string(cause_title(share.cause)), scale.part(share.time),
                   percent(share.share), std::string(cause_remark(share.cause))});
  }
  std::string text = "## Where the time goes\n\n";
  if (!prediction.critical_rank.empty()) {
    text += fmt::format("On {}, which finishes last:\n\n", markdown_text(prediction.critical_rank));
  }
  return text + table.markdown();
}

std::string memory_section(const MemoryPrediction& memory) {
  TextTable table({{"stage"},
                   {"parameters", kRight},
                   {"gradients", kRight},
                   {"optimizer", kRight},
                   {"activations", kRight},
                   {"buffers", kRight},
                   {"total", kRight},
                   {"% of capacity", kRight}});
  const std::vector<std::size_t> shown = shown_stages(memory);
  for (const std::size_t i : shown) {
    const StageMemory& stage = memory.stages[i];
    const double share = memory.capacity > Bytes(0.0) ? stage.total() / memory.capacity : 0.0;
    table.add_row({fmt::format("{}", i), short_text(stage.parameters), short_text(stage.gradients),
                   short_text(stage.optimizer), short_text(stage.activations),
                   short_text(stage.buffers), short_text(stage.total()), percent(share)});
  }
  std::string text =
      fmt::format("## Memory\n\nNeeded on {}: {} of {}{}.\n\n", fullest_place(memory),
                  short_text(fullest_memory(memory).total()), short_text(memory.capacity),
                  memory.fits ? "" : "; it does not fit");
  text += table.markdown();
  const std::size_t left_out = memory.stages.size() - shown.size();
  if (left_out > 0) {
    text += fmt::format("\nThe first, the fullest and the last stage; {} others are left out.\n",
                        left_out);
  }
  return text;
}

std::string links_section(const std::vector<LinkUse>& links) {
  if (links.empty()) return "## Fabric: busiest links\n\nNothing crosses the fabric.\n";
  TextTable table(
      {{"from"}, {"to"}, {"capacity", kRight}, {"carried", kRight}, {"% used", kRight}});
  for (const LinkUse& link : links) {
    table.add_row({markdown_text(link.from), markdown_text(link.to), short_text(link.capacity),
                   short_text(link.carried), percent(link.utilisation)});
  }
  return fmt::format("## Fabric: busiest links\n\nAveraged over the iteration:\n\n{}",
                     table.markdown());
}

}  // namespace headway

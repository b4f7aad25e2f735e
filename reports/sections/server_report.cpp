#include "reports/sections/server_report.h"

#include <fmt/format.h>

#include "sim/base/text_table.h"
#include "sim/result/number_text.h"

namespace headway {
namespace {

std::string share_text(double share) { return fmt::format("{:.1f} %", 100.0 * share); }

TextTable server_table(const ServerUse& use) {
  TextTable table({{"parameter servers"}, {"", kRight}});
  table.add_row({"servers, workers",
                 fmt::format("{}, {}", whole_number(use.servers), whole_number(use.workers))});
  table.add_row({"workers idle", share_text(use.idle_share)});
  table.add_row(
      {fmt::format("{} at work, the hottest", use.hottest), share_text(use.hottest_busy)});
  if (use.dropped_share > 0.0) {
    table.add_row({"pushes dropped, too late", share_text(use.dropped_share)});
  }
  if (!use.staleness.empty()) {
    table.add_row({"updates stale by, on average", fmt::format("{:.2f}", use.mean_staleness)});
    table.add_row({"at most", whole_number(std::ssize(use.staleness) - 1)});
  }
  return table;
}

}  // namespace

std::string server_text(const ServerUse& use) { return server_table(use).text(2) + "\n"; }

DocumentSection server_section(const ServerUse& use) {
  if (use.staleness.empty()) return {"Parameter servers", {server_table(use)}};
  Chart chart{.kind = Chart::Kind::bars, .x_title = "% of updates"};
  Chart::Series series{.name = "updates", .colour = 1};
  for (std::size_t i = 0; i < use.staleness.size(); ++i) {
    chart.labels.push_back(std::to_string(i));
    series.values.push_back(100.0 * use.staleness[i]);
  }
  chart.series.push_back(std::move(series));
  return {
      "Parameter servers",
      {Figure{.title = "How stale updates are",
              .caption = "Updates of the same parameters by others, between a worker's read and "
                         "its own update.",
              .picture = std::move(chart),
              .table = server_table(use)}}};
}

}  // namespace headway

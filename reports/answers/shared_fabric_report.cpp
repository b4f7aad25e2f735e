#include "reports/answers/shared_fabric_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/base/quantity_text.h"
#include "sim/base/text_table.h"
#include "sim/base/utf8.h"
#include "sim/result/number_text.h"

namespace headway {
namespace {

TextTable stay_table(const SharedFabric& shared) {
  TextTable table({{"jobs on the fabric"},
                   {"from", kRight},
                   {"to", kRight},
                   {"GPUs", kRight},
                   {"alone", kRight},
                   {"here", kRight},
                   {"slowdown", kRight}});
  for (const SharedFabric::Stay& stay : shared.stays) {
    const TimeScale scale(stay.shared);
    table.add_row({printable(stay.job), short_text(Seconds(stay.from)),
                   std::isfinite(stay.to) ? short_text(Seconds(stay.to)) : "end",
                   whole_number(stay.accelerators), scale.with_unit(stay.alone),
                   scale.with_unit(stay.shared), fmt::format("{:.3f}", stay.slowdown())});
  }
  return table;
}

}  // namespace

std::string shared_fabric_text(const SharedFabric& shared) {
  return stay_table(shared).text(2) + "\n";
}

DocumentSection shared_fabric_section(const SharedFabric& shared) {
  Chart chart{.kind = Chart::Kind::bars, .x_title = "% slower than alone"};
  Chart::Series series{.name = "slowdown", .colour = 1};
  for (const SharedFabric::Total& total : shared.totals()) {
    double slowest = 1.0;
    for (const SharedFabric::Stay& stay : shared.stays) {
      if (stay.job == total.job) slowest = std::max(slowest, stay.slowdown());
    }
    chart.labels.push_back(total.job);
    series.values.push_back(100.0 * (slowest - 1.0));
  }
  chart.series.push_back(std::move(series));
  return {
      "Jobs on the fabric",
      {Figure{
          .title = "What the jobs cost each other",
          .caption = fmt::format(
              "Each job while the others slow it down most: an iteration against that of the same "
              "job on the same nodes with nobody else on the fabric. The table has every stretch "
              "of "
              "time between one that joins, leaves or moves and the next. Iteration, throughput, "
              "time and cost on this page are of this job over its run beside the others: {:.3f} "
              "times as long as alone.",
              shared.slowdown),
          .picture = std::move(chart),
          .table = stay_table(shared)}}};
}

}  // namespace headway

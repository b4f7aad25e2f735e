#include <fmt/format.h>

#include "reports/sections/prediction_sections.h"
#include "sim/result/number_text.h"
#include "sim/result/words/advice.h"

namespace headway {

DocumentSection time_section(const Prediction& prediction) {
  const TimeScale scale(prediction.iteration_time);
  TextTable table({{"cause"}, {scale.unit(), kRight}, {"%", kRight}, {"remark"}});
  Chart chart{.kind = Chart::Kind::bars, .x_title = "% of the iteration"};
  Chart::Series series{.name = "share"};
  for (const TimeShare& share : largest_shares(prediction)) {
    table.add_row({std::string(cause_title(share.cause)), scale.part(share.time),
                   percent(share.share), std::string(cause_remark(share.cause, prediction))});
    chart.labels.emplace_back(cause_title(share.cause));
    series.values.push_back(100.0 * share.share);
  }
  chart.series.push_back(std::move(series));
  DocumentSection section{"Where the time goes", {}};
  if (is_of_workers(prediction)) {
    section.blocks.emplace_back(
        Paragraph{"Workers do not wait for each other, so that none is the last. Of the average "
                  "one:"});
  } else if (!prediction.critical_rank.empty()) {
    section.blocks.emplace_back(Paragraph{
        fmt::format("The last to finish is {}. In its replica, of the stage that computes most:",
                    prediction.critical_rank)});
  }
  section.blocks.emplace_back(Figure{.title = "Where the time goes, by cause",
                                     .picture = std::move(chart),
                                     .table = std::move(table)});
  return section;
}

}  // namespace headway

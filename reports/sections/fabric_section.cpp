#include <fmt/format.h>

#include "reports/sections/fabric_drawing.h"
#include "reports/sections/prediction_sections.h"
#include "sim/base/quantity_text.h"
#include "sim/result/number_text.h"

namespace headway {

DocumentSection fabric_section(const Prediction& prediction) {
  const std::string heading = "Fabric: busiest links";
  const std::vector<LinkUse>& links = prediction.busiest_links;
  if (links.empty()) return {heading, {Paragraph{"Nothing crosses the fabric."}}};
  TextTable table(
      {{"from"}, {"to"}, {"capacity", kRight}, {"carried", kRight}, {"% used", kRight}});
  Chart chart{.kind = Chart::Kind::bars, .x_title = "% of capacity used"};
  Chart::Series series{.name = "used", .colour = 6};
  for (const LinkUse& link : links) {
    table.add_row({link.from, link.to, short_text(link.capacity), short_text(link.carried),
                   percent(link.utilisation)});
    chart.labels.push_back(fmt::format("{} > {}", link.from, link.to));
    series.values.push_back(100.0 * link.utilisation);
  }
  chart.series.push_back(std::move(series));
  DocumentSection section{heading, {Paragraph{"Averaged over the iteration:"}}};
  if (!prediction.fabric.cables.empty()) {
    section.blocks.emplace_back(fabric_figure(prediction.fabric));
  }
  section.blocks.emplace_back(
      Figure{.title = "The links that are used most",
             .caption = "A link that is busy all the time stands at 100; averages hide bursts. "
                        "Exchanges inside layers that cross the fabric count.",
             .picture = std::move(chart),
             .table = std::move(table)});
  return section;
}

}  // namespace headway

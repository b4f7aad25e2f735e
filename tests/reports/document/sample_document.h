#pragma once

#include "reports/document/document.h"

namespace headway {

/// One of each block, with texts that are marks in some format.
inline Document sample_document() {
  TextTable table({{"name"}, {"n", TextTable::Align::right}});
  table.add_row({"a*b", "-1"});
  Chart chart{.kind = Chart::Kind::bars, .x_title = "share", .labels = {"a<b"}};
  chart.series = {{.name = "one", .values = {0.5}}};
  const Figure figure{
      .title = "a \"figure\"", .caption = "how to read it", .picture = chart, .table = table};
  const HeatMap map{.row_title = "tp",
                    .column_title = "pp",
                    .columns = {"1", "2"},
                    .rows = {{"8", {{"5.0 s", 1.0, ""}, {"no", std::nullopt, "short by 2 GiB"}}}}};
  return {.title = "A *title*",
          .lead = "a lead",
          .sections = {{"First", {Paragraph{"5 < 6"}, Notice{"careful"}, BulletList{{"x", "y_"}},
                         FactList{{{"a|b", "c<d"}}}}},
                       {"Second",
                        {KeyNumbers{{{"time", "6.9 s", "6 .. 7 s"}}}, figure, table, map,
                         Code{.text = "a < b\nc", .language = "sh"},
                         Code{.text = "{}",
                              .language = "json",
                              .summary = "all of it",
                              .file_name = "all.json"}}}}};
}

}  // namespace headway

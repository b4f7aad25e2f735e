#include "reports/sections/kinds_report.h"

#include <fmt/format.h>

#include "sim/base/quantity_text.h"
#include "sim/base/text_table.h"
#include "sim/result/number_text.h"

namespace headway {
namespace {

std::string count_text(std::int64_t least, std::int64_t most) {
  return least == most ? whole_number(most)
                       : fmt::format("{} to {}", whole_number(least), whole_number(most));
}

TextTable kinds_table(const KindsUse& use) {
  TextTable table({{"accelerators"},
                   {"GPUs", kRight},
                   {"micro-batches", kRight},
                   {"busy %", kRight},
                   {"waiting %", kRight},
                   {"memory", kRight},
                   {"of", kRight}});
  for (const KindsUse::Kind& kind : use.kinds) {
    table.add_row({kind.accelerator, whole_number(kind.accelerators),
                   count_text(kind.least_micro_batches, kind.most_micro_batches),
                   percent(kind.busy_share), percent(kind.waiting_share), short_text(kind.needed),
                   short_text(kind.capacity)});
  }
  return table;
}

}  // namespace

std::string kinds_text(const KindsUse& use) { return kinds_table(use).text(2) + "\n"; }

DocumentSection kinds_section(const KindsUse& use) {
  return {"Kinds of accelerators",
          {Paragraph{"What those of each kind do: micro-batches of a replica, the share of their "
                     "time that they compute, and that they wait for others which do."},
           kinds_table(use)}};
}

}  // namespace headway

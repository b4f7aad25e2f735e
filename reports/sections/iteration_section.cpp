#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "reports/sections/gantt_drawing.h"
#include "reports/sections/prediction_sections.h"
#include "sim/base/quantity_text.h"
#include "sim/result/number_text.h"

namespace headway {
namespace {

/// Kinds of segments of the critical path that get a row of their own.
constexpr std::size_t kPathKindsShown = 8;

/// Segments of the critical path that differ only in where they are.
struct PathKind {
  std::string what;
  Seconds time;
  std::int64_t operations = 0;
  const CriticalSegment* longest = nullptr;
};

/// "transfer from stage 2" -> "transfer", "gradient reduce, stage 3" -> "gradient reduce".
std::string kind_of_segment(const std::string& what) {
  return what.substr(0, std::min(what.find(" from "), what.find(", ")));
}

Seconds length(const CriticalSegment& segment) { return segment.end - segment.start; }

/// Longest first.
std::vector<PathKind> path_kinds(const std::vector<CriticalSegment>& path) {
  std::vector<PathKind> kinds;
  for (const CriticalSegment& segment : path) {
    const std::string what = kind_of_segment(segment.what);
    auto kind = std::ranges::find(kinds, what, &PathKind::what);
    if (kind == kinds.end()) kind = kinds.insert(kinds.end(), PathKind{.what = what});
    kind->time += length(segment);
    kind->operations += segment.operations;
    if (kind->longest == nullptr || length(segment) > length(*kind->longest)) {
      kind->longest = &segment;
    }
  }
  std::ranges::stable_sort(kinds, std::ranges::greater{}, &PathKind::time);
  return kinds;
}

TextTable path_table(const Prediction& prediction) {
  const TimeScale scale(prediction.iteration_time);
  TextTable table({{"what"},
                   {scale.unit(), kRight},
                   {"%", kRight},
                   {"operations", kRight},
                   {"longest stretch"}});
  Seconds rest;
  std::int64_t rest_operations = 0;
  const std::vector<PathKind> kinds = path_kinds(prediction.critical_path);
  for (std::size_t i = 0; i < kinds.size(); ++i) {
    const PathKind& kind = kinds[i];
    if (i >= kPathKindsShown) {
      rest += kind.time;
      rest_operations += kind.operations;
      continue;
    }
    table.add_row({kind.what, scale.part(kind.time),
                   percent(share_of(kind.time, prediction.iteration_time)),
                   whole_number(kind.operations),
                   fmt::format("{} from {} on {}", short_text(length(*kind.longest)),
                               short_text(kind.longest->start), kind.longest->where)});
  }
  if (rest_operations > 0) {
    table.add_row({"everything else", scale.part(rest),
                   percent(share_of(rest, prediction.iteration_time)),
                   whole_number(rest_operations)});
  }
  return table;
}

}  // namespace

DocumentSection iteration_section(const Prediction& prediction) {
  DocumentSection section{"One iteration and its critical path", {}};
  if (prediction.critical_path.empty()) {
    section.blocks.emplace_back(Paragraph{"Not known."});
    return section;
  }
  const Seconds input = prediction.breakdown[Cause::data_loading];
  const std::string besides =
      input > Seconds(0.0)
          ? fmt::format(", besides {} that ranks wait for input", short_text(input))
          : "";
  section.blocks.emplace_back(
      Paragraph{fmt::format("What decides how long the iteration takes, by kind{}:", besides)});
  TextTable table = path_table(prediction);
  if (prediction.activity.rows.empty()) {
    section.blocks.emplace_back(std::move(table));
  } else {
    section.blocks.emplace_back(
        Figure{.title = "One iteration, a row for each pipeline stage",
               .caption = "One replica, a row for each pipeline stage. The line below a bar marks "
                          "what lies on the critical path. --trace writes every operation for "
                          "Perfetto.",
               .picture = gantt_drawing(prediction),
               .table = std::move(table)});
  }
  return section;
}

}  // namespace headway

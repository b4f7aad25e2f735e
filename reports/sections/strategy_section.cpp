#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "reports/sections/study_sections.h"
#include "sim/base/letter_case.h"
#include "sim/result/number_text.h"

namespace headway {
namespace {

constexpr std::size_t kMostNames = 40;  ///< a map of more rows or columns is none

/// Those that can be rows or columns.
std::vector<StudyAxis> map_axes(const Study& study) {
  std::vector<StudyAxis> axes = varying_axes(study);
  std::erase_if(axes, [](const StudyAxis& axis) { return axis.values.size() > kMostNames; });
  return axes;
}

/// Rows and columns: what is not the size of the job, where there are two such.
bool choose(std::vector<StudyAxis>& axes) {
  std::ranges::stable_partition(axes, [](const StudyAxis& axis) { return axis.name != "gpus"; });
  return axes.size() >= 2;
}

double per_accelerator(const Prediction& prediction) {
  return throughput_of(prediction) / static_cast<double>(prediction.question.accelerators);
}

/// The best point at a place of the map; if none has a speed, the first one.
const StudyPoint* point_at(const Study& study, const StudyAxis& row, const std::string& row_value,
                           const StudyAxis& column, const std::string& column_value) {
  const StudyPoint* best = nullptr;
  for (const StudyPoint& point : study.points) {
    if (point.axes[row.index].second != row_value) continue;
    if (point.axes[column.index].second != column_value) continue;
    const bool is_better =
        best == nullptr ||
        (has_speed(point) && (!has_speed(*best) || per_accelerator(*point.prediction) >
                                                       per_accelerator(*best->prediction)));
    if (is_better) best = &point;
  }
  return best;
}

HeatMap::Cell cell_of(const StudyPoint* point, double fastest) {
  if (point == nullptr) return {"", std::nullopt, "not tried"};
  if (!has_speed(*point)) {
    const bool is_memory = point->prediction.has_value();
    return {is_memory ? "does not fit" : "not possible", std::nullopt, point->reason};
  }
  const double rate = per_accelerator(*point->prediction);
  return {prefixed_count(rate), fastest > 0.0 ? rate / fastest : 0.0, ""};
}

}  // namespace

DocumentSection strategy_section(const Study& study) {
  std::vector<StudyAxis> axes = map_axes(study);
  if (!choose(axes)) return {"Strategies", {}};
  const StudyAxis& row = axes[0];
  const StudyAxis& column = axes[1];
  double fastest = 0.0;
  std::string unit = "tokens";
  for (const StudyPoint& point : study.points) {
    if (!has_speed(point)) continue;
    fastest = std::max(fastest, per_accelerator(*point.prediction));
    unit = throughput_unit(*point.prediction);
  }
  HeatMap map{.row_title = row.name, .column_title = column.name, .columns = column.values};
  for (const std::string& row_value : row.values) {
    std::vector<HeatMap::Cell> cells;
    for (const std::string& column_value : column.values) {
      cells.push_back(cell_of(point_at(study, row, row_value, column, column_value), fastest));
    }
    map.rows.emplace_back(row_value, std::move(cells));
  }
  std::string text =
      with_capital(fmt::format("{} a second of each GPU; the darker, the faster.", unit));
  if (axes.size() > 2) text += " Of what else varies, the best.";
  return {"Strategies", {Paragraph{text}, std::move(map)}};
}

}  // namespace headway

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <optional>
#include <utility>
#include <variant>

#include "reports/sections/study_sections.h"
#include "sim/base/letter_case.h"
#include "sim/base/quantity_text.h"
#include "sim/result/number_text.h"

namespace headway {
namespace {

constexpr std::size_t kMostLines = 6;  ///< that can be told from each other
constexpr double kCloseTogether =
    0.5;                             ///< least over greatest from which a line from 0 says little
constexpr double kManyTimes = 16.0;  ///< greatest over least from which doublings are drawn alike

std::optional<double> plain_number(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool is_number = !text.empty() && end == text.c_str() + text.size() && std::isfinite(value);
  return is_number ? std::optional(value) : std::nullopt;
}

template <class Q>
std::optional<double> number_with_unit(const std::string& text) {
  const ParsedQuantity<Q> read = parse_quantity<Q>(text);
  return std::holds_alternative<Q>(read) ? std::optional(std::get<Q>(read).count()) : std::nullopt;
}

struct AxisDimension {
  std::optional<double> (*read)(const std::string&);
  const char* unit;
  double scale;
};
constexpr std::array<AxisDimension, 4> kAxisDimensions{{
    {plain_number, "", 1.0},
    {number_with_unit<Seconds>, "min", 60.0},
    {number_with_unit<Bytes>, "GB", 1e9},
    {number_with_unit<BytesPerSecond>, "GB/s", 1e9},
}};

/// Values of an axis: numbers of one dimension, ascending, and words ("daly").
struct AxisValues {
  std::vector<std::string> numbers;
  std::vector<double> x;  ///< of the numbers
  std::string unit;       ///< "min"; empty for plain numbers
  std::vector<std::string> words;

  /// By the dimension that most of them have.
  explicit AxisValues(const std::vector<std::string>& texts) : words(texts) {
    for (const AxisDimension& dimension : kAxisDimensions) {
      std::vector<std::pair<double, std::string>> read;
      std::vector<std::string> others;
      for (const std::string& text : texts) {
        if (const auto value = dimension.read(text)) {
          read.emplace_back(*value / dimension.scale, text);
        } else {
          others.push_back(text);
        }
      }
      if (read.size() <= numbers.size()) continue;
      std::ranges::stable_sort(read, {}, &std::pair<double, std::string>::first);
      numbers.clear();
      x.clear();
      for (auto& [value, text] : read) {
        x.push_back(value);
        numbers.push_back(std::move(text));
      }
      unit = dimension.unit;
      words = std::move(others);
    }
  }

  [[nodiscard]] std::vector<std::string> in_order() const {
    std::vector<std::string> all = numbers;
    all.insert(all.end(), words.begin(), words.end());
    return all;
  }
};

/// Points along one axis: at each value the best of the points given.
class AxisFigure {
 public:
  AxisFigure(const Study& study, const StudyAxis& axis, Objective objective)
      : study_(study), axis_(axis), objective_(objective) {
    for (const StudyPoint& point : study.points) {
      if (!has_speed(point)) continue;
      some_ = decision_numbers(*point.prediction);
      break;
    }
  }

  [[nodiscard]] Figure figure(const std::vector<StudyAxis>& all) const {
    const AxisValues values(axis_.values);
    const StudyAxis* const other = line_axis(all);
    Figure figure{.title = fmt::format("{} against {}", title(), axis_.name),
                  .caption = "",
                  .picture = Chart{},
                  .table = table(values.in_order())};
    Chart chart = values.x.size() > 1 ? lines(values, other) : bars(values.in_order());
    if (chart.kind == Chart::Kind::lines) {
      chart.x_title = axis_.name + (values.unit.empty() ? "" : ", " + values.unit);
      if (!chart.from_zero) figure.caption = "The axis of numbers does not begin at 0. ";
      if (other == nullptr) figure.caption += "The band: 5th to 95th percentile. ";
    }
    if (all.size() > (other == nullptr ? 1U : 2U)) {
      figure.caption += "Of what else varies, the best.";
    }
    figure.picture = std::move(chart);
    return figure;
  }

 private:
  [[nodiscard]] std::string title() const {
    return with_capital(std::string(objective_title(objective_)));
  }

  /// Another axis with few values, of which each is a line, if it is the only other one.
  [[nodiscard]] const StudyAxis* line_axis(const std::vector<StudyAxis>& all) const {
    if (all.size() != 2) return nullptr;
    const StudyAxis& other = all[0].index == axis_.index ? all[1] : all[0];
    return other.values.size() <= kMostLines ? &other : nullptr;
  }

  /// nullptr where no point is there that has the objective's number.
  [[nodiscard]] const StudyPoint* best_at(const std::string& value, const StudyAxis* other,
                                          const std::string& of_other) const {
    const StudyPoint* best = nullptr;
    std::optional<double> most;
    for (const StudyPoint& point : study_.points) {
      if (!has_speed(point) || point.axes[axis_.index].second != value) continue;
      if (other != nullptr && point.axes[other->index].second != of_other) continue;
      const std::optional<double> here = merit(objective_, decision_numbers(*point.prediction));
      if (!here || (most && *here <= *most)) continue;
      most = here;
      best = &point;
    }
    return best;
  }

  [[nodiscard]] double number_of(const StudyPoint* point) const {
    constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
    if (point == nullptr) return kNone;
    return objective_number(objective_, decision_numbers(*point->prediction)).value_or(kNone);
  }

  [[nodiscard]] Chart lines(const AxisValues& values, const StudyAxis* other) const {
    Chart chart{
        .kind = Chart::Kind::lines,
        .y_title = objective_unit(objective_, some_),
        .logarithmic_x = values.x.front() > 0.0 && values.x.back() / values.x.front() >= kManyTimes,
        .x = values.x};
    if (other != nullptr) {
      add_lines(chart, values.numbers, *other);
    } else {
      add_line(chart, values.numbers);
    }
    int colour = static_cast<int>(chart.series.size());
    for (const std::string& word : values.words) {
      const double number = number_of(best_at(word, nullptr, ""));
      chart.series.push_back({.name = word,
                              .values = std::vector<double>(values.x.size(), number),
                              .style = Chart::Style::dashed,
                              .colour = colour++});
    }
    chart.from_zero = !is_close_together(chart);
    return chart;
  }

  /// A line for each value of the other axis.
  void add_lines(Chart& chart, const std::vector<std::string>& values,
                 const StudyAxis& other) const {
    for (std::size_t i = 0; i < other.values.size(); ++i) {
      Chart::Series series{.name = fmt::format("{} {}", other.name, other.values[i]),
                           .colour = static_cast<int>(i)};
      for (const std::string& value : values) {
        series.values.push_back(number_of(best_at(value, &other, other.values[i])));
      }
      chart.series.push_back(std::move(series));
    }
  }

  /// One line in its band.
  void add_line(Chart& chart, const std::vector<std::string>& values) const {
    Chart::Series low{.name = "low", .style = Chart::Style::band_low};
    Chart::Series high{.name = "high"};
    Chart::Series series{.name = std::string(objective_title(objective_))};
    for (const std::string& value : values) {
      const StudyPoint* const point = best_at(value, nullptr, "");
      const double number = number_of(point);
      const std::optional<Interval> interval =
          point == nullptr ? std::nullopt
                           : objective_interval(objective_, decision_numbers(*point->prediction));
      series.values.push_back(number);
      low.values.push_back(interval ? interval->low : number);
      high.values.push_back(interval ? interval->high : number);
    }
    chart.series = {std::move(low), std::move(high), std::move(series)};
  }

  [[nodiscard]] Chart bars(const std::vector<std::string>& values) const {
    Chart chart{
        .kind = Chart::Kind::bars, .x_title = objective_unit(objective_, some_), .labels = values};
    Chart::Series series{.name = std::string(objective_title(objective_))};
    for (const std::string& value : values) {
      series.values.push_back(number_of(best_at(value, nullptr, "")));
    }
    chart.series.push_back(std::move(series));
    return chart;
  }

  /// A line from 0 would be flat.
  [[nodiscard]] static bool is_close_together(const Chart& chart) {
    double least = std::numeric_limits<double>::infinity();
    double most = 0.0;
    for (const Chart::Series& series : chart.series) {
      for (const double value : series.values) {
        if (!std::isfinite(value)) continue;
        least = std::min(least, value);
        most = std::max(most, value);
      }
    }
    return least > kCloseTogether * most;
  }

  [[nodiscard]] TextTable table(const std::vector<std::string>& values) const {
    std::vector<std::vector<std::string>> rows;
    bool has_remark = false;
    for (const std::string& value : values) {
      const StudyPoint* const point = best_at(value, nullptr, "");
      if (point == nullptr) {
        rows.push_back({value, "", "", reason_at(value)});
      } else {
        const DecisionNumbers numbers = decision_numbers(*point->prediction);
        rows.push_back({value, objective_text(objective_, numbers),
                        objective_interval_text(objective_, numbers), others_of(*point)});
      }
      has_remark = has_remark || !rows.back().back().empty();
    }
    std::vector<TextTable::Column> columns = {{axis_.name, kRight},
                                              {std::string(objective_title(objective_)), kRight},
                                              {"5th to 95th percentile", kRight}};
    if (has_remark) columns.push_back({"remark"});
    TextTable table(std::move(columns));
    for (std::vector<std::string>& row : rows) {
      if (!has_remark) row.pop_back();
      table.add_row(std::move(row));
    }
    return table;
  }

  /// What else tells the point from others.
  [[nodiscard]] std::string others_of(const StudyPoint& point) const {
    Candidate rest;
    for (std::size_t i = 0; i < point.axes.size(); ++i) {
      if (i != axis_.index) rest.axes.push_back(point.axes[i]);
    }
    return rest.name();
  }

  [[nodiscard]] std::string reason_at(const std::string& value) const {
    for (const StudyPoint& point : study_.points) {
      if (point.axes[axis_.index].second == value && !has_speed(point)) return point.reason;
    }
    return "never through";
  }

  const Study& study_;
  const StudyAxis& axis_;
  Objective objective_;
  DecisionNumbers some_;
};

bool is_scale(const std::string& name) {
  return name == "gpus" || name == "gpus_weak" || name == "nodes" || name == "/cluster/nodes";
}

}  // namespace

std::vector<StudyAxis> varying_axes(const Study& study) {
  std::vector<StudyAxis> axes;
  if (study.points.empty()) return axes;
  for (std::size_t i = 0; i < study.points.front().axes.size(); ++i) {
    StudyAxis axis{i, study.points.front().axes[i].first, {}};
    for (const StudyPoint& point : study.points) {
      const std::string& value = point.axes[i].second;
      if (std::ranges::find(axis.values, value) == axis.values.end()) axis.values.push_back(value);
    }
    if (axis.values.size() > 1) axes.push_back(std::move(axis));
  }
  return axes;
}

DocumentSection axis_section(const Study& study, Objective objective) {
  DocumentSection section{"What the axes do", {}};
  const std::vector<StudyAxis> axes = varying_axes(study);
  for (const StudyAxis& axis : axes) {
    // The scaling section has drawn that.
    if (objective == Objective::throughput && is_scale(axis.name)) continue;
    section.blocks.emplace_back(AxisFigure(study, axis, objective).figure(axes));
  }
  return section;
}

}  // namespace headway

#include "reports/answers/sweep_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "sim/base/quantity_text.h"
#include "sim/base/text_table.h"
#include "sim/result/number_text.h"
#include "sim/sweep/point_columns.h"

namespace headway {
namespace {

using nlohmann::json;

constexpr std::size_t kMostRows = 40;
constexpr std::size_t kFastest = 10;

/// "3 points", "1 point".
std::string counted(std::int64_t count, std::string_view what) {
  return fmt::format("{} {}{}", grouped_digits(count), what, count == 1 ? "" : "s");
}

double speed_of(const SweepPoint& point) {
  return point.result->is_object() && point.result->at("tokens_per_s_per_gpu").is_number()
             ? point.result->at("tokens_per_s_per_gpu").get<double>()
             : 0.0;
}

std::string value_text(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

std::vector<std::string> cells_of(const SweepPoint& point) {
  std::vector<std::string> cells;
  for (const auto& [name, value] : point.axes->items()) cells.push_back(value_text(value));
  if (point.status == PointStatus::done) {
    const json& result = point.result;
    const Seconds time(result.at("iteration_time_s").get<double>());
    cells.push_back(TimeScale(time).with_unit(time));
    cells.push_back(fmt::format("{:.0f}", speed_of(point)));
    cells.push_back(fmt::format("{:.1f} %", 100.0 * result.at("mfu").get<double>()));
    cells.emplace_back();
  } else {
    cells.insert(cells.end(), 3, "-");
    std::string status(status_name(point.status));
    std::ranges::replace(status, '_', ' ');
    cells.push_back(fmt::format("{}: {}", status, point.reason));
  }
  return cells;
}

std::string table_text(const std::vector<SweepPoint>& points) {
  std::vector<TextTable::Column> columns;
  for (const auto& [name, value] : points.front().axes->items()) {
    columns.push_back({name, TextTable::Align::right});
  }
  columns.push_back({"iteration", TextTable::Align::right});
  columns.push_back({"tokens/s/GPU", TextTable::Align::right});
  columns.push_back({"MFU", TextTable::Align::right});
  columns.push_back({""});
  TextTable table(columns);
  for (const SweepPoint& point : points) table.add_row(cells_of(point));
  return table.text(2);
}

json point_json(const SweepPoint& point) {
  json values = {{"key", point.key}, {"axes", *point.axes}, {"status", status_name(point.status)}};
  values["reason"] = point.reason.empty() ? json(nullptr) : json(point.reason);
  for (const PointColumn& column : kPointColumns) {
    const auto value = column_value(column, point.result);
    values[std::string(column.name)] = value ? json(*value) : json(nullptr);
  }
  return values;
}

/// How many points there are of each reason, the most frequent first.
std::vector<std::pair<std::string, std::int64_t>> reasons_of(const std::vector<SweepPoint>& points,
                                                             PointStatus status) {
  std::map<std::string, std::int64_t> counts;
  for (const SweepPoint& point : points) {
    if (point.status == status) ++counts[point.reason];
  }
  std::vector<std::pair<std::string, std::int64_t>> reasons(counts.begin(), counts.end());
  std::ranges::stable_sort(reasons, std::greater(), &std::pair<std::string, std::int64_t>::second);
  return reasons;
}

}  // namespace

std::string sweep_text(const SweepSummary& summary, const SweepContent& content,
                       const std::filesystem::path& store) {
  std::string text =
      fmt::format("{}: {} simulated, {} do not fit, {} refused, {} failed, {} done before\n",
                  counted(summary.points, "point"), summary.simulated, summary.does_not_fit,
                  summary.refused, summary.failed, summary.settled);
  std::vector<SweepPoint> points = content.points;
  if (points.size() > kMostRows) {
    std::ranges::stable_sort(points, std::greater(), speed_of);
    points.resize(kFastest);
    text += fmt::format("the {} of {} with the most tokens a second and GPU:\n", kFastest,
                        counted(std::ssize(content.points), "stored point"));
  }
  if (!points.empty()) text += "\n" + table_text(points);
  return text + fmt::format("\nstore: {}\n", store.string());
}

json sweep_json(const SweepSummary& summary, const SweepContent& content,
                const std::filesystem::path& store) {
  json points = json::array();
  for (const SweepPoint& point : content.points) points.push_back(point_json(point));
  return {{"schema", "headway/sweep/1"},
          {"store", store.string()},
          {"counts",
           {{"points", summary.points},
            {"done_before", summary.settled},
            {"simulated", summary.simulated},
            {"does_not_fit", summary.does_not_fit},
            {"refused", summary.refused},
            {"failed", summary.failed}}},
          {"points", std::move(points)}};
}

std::string sweep_plan_text(const std::vector<SweepPoint>& points, std::int64_t all) {
  const auto count_of = [&](PointStatus status) {
    return std::ranges::count(points, status, &SweepPoint::status);
  };
  std::string text =
      fmt::format("{}, {} to do: {} to simulate, {} do not fit, {} refused\n",
                  counted(all, "point"), points.size(), count_of(PointStatus::done),
                  count_of(PointStatus::does_not_fit), count_of(PointStatus::refused));
  for (const auto& [reason, count] : reasons_of(points, PointStatus::refused)) {
    text += fmt::format("  refused {}: {}\n", counted(count, "time"), reason);
  }
  return text;
}

json sweep_plan_json(const std::vector<SweepPoint>& points, std::int64_t all) {
  json list = json::array();
  for (const SweepPoint& point : points) {
    const bool is_done = point.status == PointStatus::done;
    list.push_back({{"key", point.key},
                    {"axes", *point.axes},
                    {"status", is_done ? "to_simulate" : std::string(status_name(point.status))},
                    {"reason", point.reason.empty() ? json(nullptr) : json(point.reason)}});
  }
  return {{"schema", "headway/sweep-plan/1"}, {"points", all}, {"to_do", std::move(list)}};
}

}  // namespace headway

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>

#include "reports/sections/study_sections.h"
#include "sim/result/number_text.h"
#include "sim/result/words/advice.h"

namespace headway {
namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

/// Predictions and measurements over the same axis of accelerators.
struct Scale {
  double accelerators = 0.0;
  const Prediction* prediction = nullptr;
  double measured = kNothing;
};

std::vector<Scale> scales_of(const Study& study, const std::vector<const StudyPoint*>& best) {
  std::map<double, Scale> scales;
  for (const StudyPoint* const point : best) {
    const auto count = static_cast<double>(point->prediction->question.accelerators);
    scales[count] = {count, &*point->prediction, kNothing};
  }
  for (const MeasuredThroughput& measured : study.measured) {
    const auto count = static_cast<double>(measured.accelerators);
    scales[count].accelerators = count;
    scales[count].measured = measured.per_second;
  }
  std::vector<Scale> list;
  for (const auto& [count, scale] : scales) list.push_back(scale);
  return list;
}

double work_of(const Prediction& prediction) {
  return throughput_of(prediction) * prediction.iteration_time.count();
}

Figure throughput_figure(const Study& study, const std::vector<const StudyPoint*>& best) {
  const Prediction& first = *best.front()->prediction;
  const double per_accelerator =
      throughput_of(first) / static_cast<double>(first.question.accelerators);
  const std::string unit = throughput_unit(first) + "/s";
  Chart chart{.kind = Chart::Kind::lines,
              .x_title = "GPUs",
              .y_title = unit,
              .logarithmic_x = true,
              .logarithmic_y = true};
  Chart::Series low{.name = "low", .style = Chart::Style::band_low};
  Chart::Series high{.name = "high"};
  Chart::Series predicted{.name = "predicted"};
  Chart::Series ideal{.name = "ideal", .style = Chart::Style::dashed, .colour = 8};
  Chart::Series measured{.name = "measured", .style = Chart::Style::points, .colour = 1};
  TextTable table({{"GPUs", kRight},
                   {unit, kRight},
                   {"5th to 95th percentile", kRight},
                   {"measured", kRight},
                   {"efficiency %", kRight},
                   {"MFU %", kRight},
                   {"strategy"}});
  for (const Scale& scale : scales_of(study, best)) {
    chart.x.push_back(scale.accelerators);
    ideal.values.push_back(per_accelerator * scale.accelerators);
    measured.values.push_back(scale.measured);
    const std::string was_measured =
        scale.measured == scale.measured ? prefixed_count(scale.measured) : "";
    if (scale.prediction == nullptr) {
      for (Chart::Series* const series : {&low, &high, &predicted}) {
        series->values.push_back(kNothing);
      }
      table.add_row({fmt::format("{:.0f}", scale.accelerators), "", "", was_measured});
      continue;
    }
    const Prediction& prediction = *scale.prediction;
    const double throughput = throughput_of(prediction);
    const Interval& time = prediction.iteration_interval;
    low.values.push_back(work_of(prediction) / time.high);
    high.values.push_back(work_of(prediction) / time.low);
    predicted.values.push_back(throughput);
    table.add_row({whole_number(prediction.question.accelerators), prefixed_count(throughput),
                   fmt::format("{} .. {}", prefixed_count(low.values.back()),
                               prefixed_count(high.values.back())),
                   was_measured, percent(throughput / ideal.values.back()), percent(prediction.mfu),
                   prediction.question.strategy});
  }
  chart.series = {std::move(low), std::move(high), std::move(predicted), std::move(ideal)};
  if (!study.measured.empty()) chart.series.push_back(std::move(measured));
  return {.title = "Throughput against GPUs",
          .caption = fmt::format("The fastest job of each size. Ideal: the throughput of {} GPUs "
                                 "times as many more. The band holds 90 % of what to expect.",
                                 whole_number(first.question.accelerators)),
          .picture = std::move(chart),
          .table = std::move(table)};
}

Figure efficiency_figure(const std::vector<const StudyPoint*>& best) {
  const Prediction& first = *best.front()->prediction;
  const double per_accelerator =
      throughput_of(first) / static_cast<double>(first.question.accelerators);
  Chart chart{.kind = Chart::Kind::lines, .x_title = "GPUs", .y_title = "%", .logarithmic_x = true};
  Chart::Series efficiency{.name = "scaling efficiency"};
  Chart::Series mfu{.name = "MFU", .colour = 2};
  TextTable table({{"GPUs", kRight}, {"efficiency %", kRight}, {"MFU %", kRight}});
  for (const StudyPoint* const point : best) {
    const Prediction& prediction = *point->prediction;
    const auto count = static_cast<double>(prediction.question.accelerators);
    const double share = throughput_of(prediction) / (per_accelerator * count);
    chart.x.push_back(count);
    efficiency.values.push_back(100.0 * share);
    mfu.values.push_back(100.0 * prediction.mfu);
    table.add_row(
        {whole_number(prediction.question.accelerators), percent(share), percent(prediction.mfu)});
  }
  chart.series = {std::move(efficiency), std::move(mfu)};
  return {.title = "Efficiency against GPUs",
          .caption = "",
          .picture = std::move(chart),
          .table = std::move(table)};
}

}  // namespace

DocumentSection scaling_section(const Study& study, const std::vector<const StudyPoint*>& best) {
  return {"Scaling", {throughput_figure(study, best), efficiency_figure(best)}};
}

DocumentSection time_by_scale_section(const std::vector<const StudyPoint*>& best) {
  Chart chart{.kind = Chart::Kind::stacked_bars, .x_title = "% of the iteration"};
  std::vector<TextTable::Column> columns = {{"GPUs", kRight}, {"iteration", kRight}};
  std::vector<Cause> shown;
  for (std::size_t i = 0; i < kCauses; ++i) {
    const auto cause = static_cast<Cause>(i);
    constexpr double kSmallest = 0.0005;
    if (std::ranges::any_of(best, [&](const StudyPoint* point) {
          return share_of(point->prediction->breakdown[cause], point->prediction->iteration_time) >
                 kSmallest;
        })) {
      shown.push_back(cause);
      columns.push_back({std::string(cause_title(cause)), kRight});
      chart.series.push_back(
          {.name = std::string(cause_title(cause)), .colour = static_cast<int>(i)});
    }
  }
  TextTable table(std::move(columns));
  for (const StudyPoint* const point : best) {
    const Prediction& prediction = *point->prediction;
    const std::string count = whole_number(prediction.question.accelerators);
    chart.labels.push_back(count + " GPUs");
    std::vector<std::string> row = {
        count, TimeScale(prediction.iteration_time).with_unit(prediction.iteration_time)};
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const double share = share_of(prediction.breakdown[shown[i]], prediction.iteration_time);
      chart.series[i].values.push_back(100.0 * share);
      row.push_back(percent(share));
    }
    table.add_row(std::move(row));
  }
  return {"Where the time goes",
          {Figure{.title = "Shares of causes by scale",
                  .caption = "The fastest job of each size; numbers in % of its iteration.",
                  .picture = std::move(chart),
                  .table = std::move(table)}}};
}

}  // namespace headway

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

#include "reports/answers/answers.h"
#include "reports/document/csv_text.h"
#include "sim/base/diagnostic.h"
#include "sim/base/quantity_text.h"
#include "sim/base/utf8.h"
#include "sim/files/json_output.h"
#include "sim/predict/collective/collective_table.h"

namespace headway {
namespace {

constexpr double kMicro = 1e6;
constexpr double kGiga = 1e9;

bool is_told(const CollectiveRow& row) { return row.doubt == nullptr; }

/// Over the sizes that are told, each counted once, as nccl-tests does.
double average_bus_bandwidth(const std::vector<CollectiveRow>& rows) {
  double sum = 0.0;
  for (const CollectiveRow& row : rows) sum += is_told(row) ? row.bus_bandwidth.count() : 0.0;
  const auto told = std::ranges::count_if(rows, is_told);
  return told == 0 ? 0.0 : sum / static_cast<double>(told);
}

/// "8 KiB to 8 MiB: not told, as ...", one for each reason.
std::vector<std::string> doubts_of(const std::vector<CollectiveRow>& rows) {
  std::vector<std::string> doubts;
  for (auto row = rows.begin(); row != rows.end();) {
    const auto end = std::find_if(
        row, rows.end(), [&](const CollectiveRow& other) { return other.doubt != row->doubt; });
    if (!is_told(*row)) {
      doubts.push_back(fmt::format("{} to {}: not told, as {}", short_text(row->size),
                                   short_text(std::prev(end)->size), row->doubt->because));
    }
    row = end;
  }
  return doubts;
}

/// With as many digits as nccl-tests shows: fewer as the number grows.
std::string microseconds(Seconds time) {
  const double value = time.count() * kMicro;
  if (value >= 1e4) return fmt::format("{:.0f}", value);
  return value >= 100.0 ? fmt::format("{:.1f}", value) : fmt::format("{:.2f}", value);
}

std::string gigabytes(BytesPerSecond rate) { return fmt::format("{:.2f}", rate.count() / kGiga); }

/// "tree LL128".
std::string algorithm_text(const CollectiveRow& row) {
  const std::string_view name = row.algorithm.name;
  return row.protocol.empty() ? std::string(name) : fmt::format("{} {}", name, row.protocol);
}

std::string costs_text(const CollectiveReport& report) {
  switch (report.library) {
    case CollectiveLibrary::hardware:
      return "hardware alone";
    case CollectiveLibrary::profile:
      return "profile " + report.profile;
    case CollectiveLibrary::nccl:
      return "costs of NCCL";
  }
  HEADWAY_CHECK(false, "unknown costs");
}

TextTable size_table(const CollectiveReport& report) {
  TextTable table({{"size(B)", kRight},
                   {"algorithm"},
                   {"time(us)", kRight},
                   {"algbw(GB/s)", kRight},
                   {"busbw(GB/s)", kRight},
                   {"closed form(us)", kRight},
                   {"ratio", kRight}});
  for (const CollectiveRow& row : report.rows) {
    if (!is_told(row)) {
      table.add_row(
          {fmt::format("{:.0f}", row.size.count()), algorithm_text(row), "-", "-", "-", "-", "-"});
      continue;
    }
    table.add_row({fmt::format("{:.0f}", row.size.count()), algorithm_text(row),
                   microseconds(row.time), gigabytes(row.algorithm_bandwidth),
                   gigabytes(row.bus_bandwidth), microseconds(row.closed_form),
                   fmt::format("{:.3f}", row.time / row.closed_form)});
  }
  return table;
}

std::string title_of(const CollectiveReport& report) {
  return fmt::format(
      "{} of {}{} ranks on {} node{} of {}, {}", collective_name(report.kind),
      report.groups == 1 ? "" : fmt::format("{} groups of ", grouped_digits(report.groups)),
      grouped_digits(report.ranks), grouped_digits(report.nodes), report.nodes == 1 ? "" : "s",
      report.cluster, costs_text(report));
}

/// As nccl-tests prints it, whose readers know where to look.
std::string collective_text(const CollectiveReport& report, std::size_t columns) {
  std::string text =
      fmt::format("# {}\n{}", printable(title_of(report)), size_table(report).text(2, columns));
  for (const std::string& doubt : doubts_of(report.rows)) text += "# " + doubt + "\n";
  return text + fmt::format("# Avg bus bandwidth    : {:.4f}\n",
                            average_bus_bandwidth(report.rows) / kGiga);
}

Figure bandwidth_figure(const CollectiveReport& report) {
  Chart chart{.x_title = "message, bytes",
              .y_title = "bus bandwidth, GB/s",
              .logarithmic_x = true,
              .binary_x = true};
  Chart::Series simulated{.name = "simulated", .colour = 0};
  Chart::Series alone{.name = "one group by itself", .style = Chart::Style::dashed, .colour = 1};
  for (const CollectiveRow& row : report.rows) {
    chart.x.push_back(row.size.count());
    const double rate =
        is_told(row) ? row.bus_bandwidth.count() / kGiga : std::numeric_limits<double>::quiet_NaN();
    simulated.values.push_back(rate);
    alone.values.push_back(rate * (row.time / row.closed_form));
  }
  chart.series = {std::move(simulated), std::move(alone)};
  return {.title = "Bus bandwidth against message size",
          .caption =
              "Dashed: one group with the fabric to itself, by its closed form. A fabric too "
              "narrow for that one group slows both.",
          .picture = std::move(chart),
          .table = size_table(report)};
}

Document collective_document(const CollectiveReport& report) {
  const auto best = std::ranges::max_element(report.rows, {}, [](const CollectiveRow& row) {
    return is_told(row) ? row.bus_bandwidth : BytesPerSecond(0.0);
  });
  DocumentSection answer{
      "Answer",
      {Paragraph{fmt::format(
          "The bus bandwidth is {} GB/s on average over the sizes, and {} GB/s at its best, with "
          "messages of {}. Bandwidths are in 1e9 bytes a second, as nccl-tests has them.",
          gigabytes(BytesPerSecond(average_bus_bandwidth(report.rows))),
          gigabytes(best->bus_bandwidth), short_text(best->size))}}};
  for (const std::string& doubt : doubts_of(report.rows)) {
    answer.blocks.emplace_back(Paragraph{doubt + "."});
  }
  DocumentSection sizes{"By message size", {}};
  if (report.rows.size() > 1) {
    sizes.blocks.emplace_back(bandwidth_figure(report));
  } else {
    sizes.blocks.emplace_back(size_table(report));
  }
  return {.title = title_of(report), .sections = {std::move(answer), std::move(sizes)}};
}

nlohmann::json collective_json(const CollectiveReport& report) {
  nlohmann::json rows = nlohmann::json::array();
  for (const CollectiveRow& row : report.rows) {
    const auto told = [&](double number) {
      return is_told(row) ? json_number(number) : nlohmann::json();
    };
    rows.push_back(
        {{"size_bytes", static_cast<std::int64_t>(row.size.count())},
         {"algorithm", row.algorithm.name},
         {"protocol", row.protocol.empty() ? nlohmann::json() : nlohmann::json(row.protocol)},
         {"time_s", told(row.time.count())},
         {"algorithm_bandwidth_bytes_per_s", told(row.algorithm_bandwidth.count())},
         {"bus_bandwidth_bytes_per_s", told(row.bus_bandwidth.count())},
         {"closed_form_s", told(row.closed_form.count())},
         {"refused", is_told(row) ? nlohmann::json() : nlohmann::json(row.doubt->because)}});
  }
  return {{"schema", "headway/collective/1"},
          {"cluster", report.cluster},
          {"nodes", report.nodes},
          {"library",
           report.library == CollectiveLibrary::nccl ? nlohmann::json("nccl") : nlohmann::json()},
          {"profile", report.profile.empty() ? nlohmann::json() : nlohmann::json(report.profile)},
          {"op", collective_name(report.kind)},
          {"ranks", report.ranks},
          {"groups", report.groups},
          {"rows", rows},
          {"average_bus_bandwidth_bytes_per_s", json_number(average_bus_bandwidth(report.rows))}};
}

}  // namespace

Answer collective_answer(const CollectiveReport& report) {
  return {.text = [&](const Screen& screen) { return collective_text(report, screen.columns); },
          .document = [&] { return collective_document(report); },
          .json = [&] { return json_document_text(collective_json(report)); },
          .csv =
              [&] {
                return csv_of(collective_json(report).at("rows"),
                              {"size_bytes", "algorithm", "protocol", "time_s",
                               "algorithm_bandwidth_bytes_per_s", "bus_bandwidth_bytes_per_s",
                               "closed_form_s", "refused"});
              }};
}

}  // namespace headway

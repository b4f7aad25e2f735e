#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>

#include "sim/base/quantity_text.h"
#include "sim/costs/read_estimate.h"
#include "sim/costs/read_measurements.h"

namespace headway {
namespace {

MeasuredAttention read_attention_row(ObjectReader& point) {
  const auto size = [&point](std::string_view key) {
    return static_cast<double>(point.integer(key, at_least(1)));
  };
  MeasuredAttention row;
  row.pass = point.choice<Pass>("pass", kWords<Pass>);
  row.shape.sequences = size("sequences");
  row.shape.query_length = row.shape.key_length = size("length");
  row.shape.query_heads = size("query_heads");
  row.shape.key_heads = size("key_heads");
  row.shape.head_size = size("head_size");
  row.shape.causal = point.flag("causal", true);
  row.time = Seconds(point.number("time_s", positive()));
  row.spread = point.number("spread", between(0.0, 1.0));
  return row;
}

void report_faster_than_peak(ObjectReader& point, const MeasuredAttention& row,
                             const Estimate& peak) {
  const FlopsPerSecond rate =
      Flops(row.shape.forward_flops() * fused_operations(row.pass)) / row.time;
  if (rate <= FlopsPerSecond(peak.value)) return;
  point.report(
      "time_s", "measured attention is faster than the peak of the device",
      fmt::format("{}, the peak is {}", short_text(rate), short_text(FlopsPerSecond(peak.value))),
      "measure it again, or mend peak_flops_per_s");
}

}  // namespace

std::vector<MeasuredAttention> read_attention_table(ObjectReader& device,
                                                    const std::optional<Estimate>& peak) {
  std::vector<MeasuredAttention> table;
  const auto part = device.part("attention_table");
  if (!part) return table;
  ObjectReader reader(*part, device.diagnostics());
  (void)read_source(reader);
  report_if_no_points(reader);

  for (const JsonCursor& element : reader.elements("points")) {
    ObjectReader point(element, reader.diagnostics());
    const std::size_t problems = reader.diagnostics().errors();
    const MeasuredAttention row = read_attention_row(point);
    point.report_unknown();
    if (reader.diagnostics().errors() > problems) continue;  // the rest would follow from them
    if (std::fmod(row.shape.query_heads, row.shape.key_heads) != 0.0) {
      point.report("key_heads", "the heads of the queries do not share those of the keys evenly",
                   fmt::format("{} among {}", row.shape.query_heads, row.shape.key_heads),
                   "write a divisor of query_heads");
    }
    if (peak) report_faster_than_peak(point, row, *peak);
    const bool is_twice = std::any_of(table.begin(), table.end(), [&row](const auto& other) {
      return other.pass == row.pass && other.shape == row.shape;
    });
    if (is_twice) {
      point.report("pass", "the same attention is measured twice",
                   fmt::format("{} of {} sequences of {}, {} heads of {}", word_of(row.pass),
                               row.shape.sequences, row.shape.query_length, row.shape.query_heads,
                               row.shape.head_size),
                   "keep one of the two");
    }
    table.push_back(row);
  }
  reader.report_unknown();
  return table;
}

}  // namespace headway

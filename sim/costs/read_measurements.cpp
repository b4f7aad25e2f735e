#include "sim/costs/read_measurements.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "sim/base/quantity_text.h"
#include "sim/costs/kernel_cost.h"
#include "sim/costs/read_estimate.h"

namespace headway {
namespace {

constexpr Word<CollectiveKind> word_for(CollectiveKind kind) {
  return {collective_name(kind), kind};
}

/// Those that the calibrator measures.
constexpr Word<CollectiveKind> kMeasuredKinds[] = {
    word_for(CollectiveKind::all_reduce),     word_for(CollectiveKind::all_gather),
    word_for(CollectiveKind::reduce_scatter), word_for(CollectiveKind::broadcast),
    word_for(CollectiveKind::all_to_all),     word_for(CollectiveKind::send_receive)};

/// "spread", "source" and "points" of an object that holds a curve.
void read_curve_into(MeasuredCurve& curve, ObjectReader& reader, std::string_view size_key) {
  curve.spread = reader.number("spread", between(0.0, 1.0));
  curve.source = read_source(reader);
  report_if_no_points(reader);
  for (const JsonCursor& element : reader.elements("points")) {
    ObjectReader point(element, reader.diagnostics());
    const Bytes size(point.number(size_key, positive()));
    const Seconds time(point.number("time_s", positive()));
    point.report_unknown();
    if (!curve.points.empty() && size <= curve.points.back().size) {
      point.report(size_key, "the sizes of a curve must rise", "not above the one before");
    }
    curve.points.push_back({size, time});
  }
}

void report_faster_than_peak(ObjectReader& point, const MeasuredGemm& gemm, double peak) {
  const FlopsPerSecond rate = Flops(gemm.shape.flops()) / gemm.time;
  if (rate <= FlopsPerSecond(peak)) return;
  point.report(
      "time_s", "a measured product is faster than the peak of the device",
      fmt::format("{}, the peak is {}", short_text(rate), short_text(FlopsPerSecond(peak))),
      "measure it again, or mend peak_flops_per_s");
}

bool is_bound_by_memory(const DeviceCosts& device, const MeasuredGemm& row) {
  const double compute = row.shape.flops() / (device.peak_flops.at(row.precision).value *
                                              device.gemm_efficiency.at(row.precision).value);
  const double streaming = gemm_traffic(row.shape, row.precision).count() /
                           (device.memory_bandwidth.value * device.memory_efficiency.value);
  return streaming > compute;
}

}  // namespace

void report_if_no_points(ObjectReader& reader) {
  if (!reader.cursor().is_object()) return;  // already reported
  const auto points = reader.cursor().member("points");
  if (!points) {
    reader.report("points", "missing field \"points\"");
  } else if (points->is_array() && points->size() == 0) {
    reader.report("points", "a measurement of no points", "", "leave the whole field out");
  }
}

std::vector<MeasuredGemm> read_gemm_table(ObjectReader& device,
                                          const std::map<Precision, Estimate>& peak_flops) {
  std::vector<MeasuredGemm> table;
  const auto part = device.part("gemm_table");
  if (!part) return table;
  ObjectReader reader(*part, device.diagnostics());
  (void)read_source(reader);
  report_if_no_points(reader);

  std::set<std::tuple<Precision, double, double, double>> seen;
  for (const JsonCursor& element : reader.elements("points")) {
    ObjectReader point(element, reader.diagnostics());
    MeasuredGemm gemm;
    const std::string name = point.text("precision");
    gemm.shape.m = static_cast<double>(point.integer("m", at_least(1)));
    gemm.shape.n = static_cast<double>(point.integer("n", at_least(1)));
    gemm.shape.k = static_cast<double>(point.integer("k", at_least(1)));
    const bool has_time = point.has("time_s");
    gemm.time = Seconds(point.number("time_s", positive()));
    gemm.spread = point.number("spread", between(0.0, 1.0));
    point.report_unknown();

    const auto precision = value_named<Precision>(name);
    if (!precision) {
      if (!name.empty()) {
        point.report("precision", fmt::format("unknown precision \"{}\"", name), "",
                     precision_help(name));
      }
      continue;
    }
    gemm.precision = *precision;
    const auto peak = peak_flops.find(*precision);
    if (peak != peak_flops.end()) {
      if (has_time) report_faster_than_peak(point, gemm, peak->second.value);
    } else if (!peak_flops.empty()) {
      point.report("precision", "a measured product in a precision without a peak", "",
                   fmt::format("add \"{}\" to peak_flops_per_s and gemm_efficiency", name));
    }
    if (!seen.emplace(*precision, gemm.shape.m, gemm.shape.n, gemm.shape.k).second) {
      point.report(
          "m", "the same product is measured twice",
          fmt::format("{} x {} x {} in {}", gemm.shape.m, gemm.shape.n, gemm.shape.k, name));
    }
    table.push_back(gemm);
  }
  reader.report_unknown();
  return table;
}

MeasuredCurve read_curve(ObjectReader& reader, std::string_view key, std::string_view size_key) {
  MeasuredCurve curve;
  const auto part = reader.part(key);
  if (!part) return curve;
  ObjectReader object(*part, reader.diagnostics());
  read_curve_into(curve, object, size_key);
  object.report_unknown();
  return curve;
}

std::vector<MeasuredCollective> read_collectives(ObjectReader& scope) {
  std::vector<MeasuredCollective> collectives;
  for (const JsonCursor& element : scope.elements("collectives")) {
    ObjectReader reader(element, scope.diagnostics());
    MeasuredCollective collective;
    collective.kind = reader.choice("kind", Words<CollectiveKind>(kMeasuredKinds));
    collective.ranks = static_cast<int>(reader.integer("ranks", between(2, 1 << 24)));
    read_curve_into(collective.curve, reader, "message_bytes");
    reader.report_unknown();

    const bool is_twice = std::any_of(
        collectives.begin(), collectives.end(), [&collective](const MeasuredCollective& other) {
          return other.kind == collective.kind && other.ranks == collective.ranks;
        });
    if (is_twice) {
      reader.report(
          "kind", "the same collective is measured twice",
          fmt::format("{} of {} ranks", collective_name(collective.kind), collective.ranks));
    }
    collectives.push_back(std::move(collective));
  }
  return collectives;
}

void sustain(DeviceCosts& device, double rate) {
  std::set<Precision> measured;
  for (MeasuredGemm& row : device.gemm_table) {
    measured.insert(row.precision);
    if (!is_bound_by_memory(device, row)) row.time = row.time / rate;
  }
  for (const Precision precision : measured) device.gemm_efficiency.at(precision).value *= rate;
  for (MeasuredAttention& row : device.attention_table) row.time = row.time / rate;
  if (!device.attention_table.empty()) device.attention_efficiency.value *= rate;
}

}  // namespace headway

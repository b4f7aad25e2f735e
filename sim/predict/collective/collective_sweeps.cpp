#include "sim/predict/collective/collective_sweeps.h"

#include <nlohmann/json.hpp>

#include "sim/files/json_reader.h"

namespace headway {
namespace {

constexpr std::pair<std::string_view, CollectiveAlgorithm> kNcclAlgorithms[] = {
    {"ring", CollectiveAlgorithm::ring},
    {"tree", CollectiveAlgorithm::tree},
    {"nvls", CollectiveAlgorithm::nvls},
};
constexpr double kMicro = 1e-6;

/// [bytes, microseconds], both above 0.
std::optional<PublishedSweep::Point> read_point(const JsonCursor& element,
                                                Diagnostics& diagnostics) {
  const nlohmann::json& pair = element.value();
  const bool is_pair = pair.is_array() && pair.size() == 2 && pair[0].is_number() &&
                       pair[1].is_number() && pair[0] > 0 && pair[1] > 0;
  if (is_pair) {
    return PublishedSweep::Point{Bytes(pair[0].get<double>()),
                                 Seconds(kMicro * pair[1].get<double>())};
  }
  diagnostics.add(element.problem("a point is [bytes, microseconds], both above 0"));
  return std::nullopt;
}

PublishedSweep read_sweep(const JsonCursor& element, Diagnostics& diagnostics) {
  constexpr double kMostNodes = 1 << 20;
  ObjectReader reader(element, diagnostics);
  PublishedSweep sweep;
  sweep.id = reader.text("id");
  sweep.source = reader.text("source");
  sweep.stated = reader.text("stated", "");
  sweep.topology = reader.text("topology");
  sweep.nodes = static_cast<int>(reader.integer("nodes", between(1, kMostNodes)));
  sweep.kind = reader.choice<CollectiveKind>("op", kWords<CollectiveKind>);
  if (reader.has("algorithm")) {
    sweep.algorithm = reader.choice<CollectiveAlgorithm>("algorithm", kNcclAlgorithms);
  }
  for (const JsonCursor& point : reader.elements("points")) {
    if (const auto read = read_point(point, diagnostics)) sweep.points.push_back(*read);
  }
  if (sweep.points.empty()) reader.report("points", "a sweep needs points");
  reader.report_unknown();
  return sweep;
}

UnscoredSweep read_unscored(const JsonCursor& element, Diagnostics& diagnostics) {
  ObjectReader reader(element, diagnostics);
  UnscoredSweep sweep{
      .id = reader.text("id"), .source = reader.text("source"), .reason = reader.text("reason")};
  reader.report_unknown();
  return sweep;
}

}  // namespace

PublishedSweeps read_collective_sweeps(const JsonCursor& root, Diagnostics& diagnostics) {
  ObjectReader reader(root, diagnostics);
  PublishedSweeps sweeps;
  if (!read_schema(reader, "headway/collective-sweeps/1")) return sweeps;
  for (const JsonCursor& element : reader.elements("sweeps")) {
    sweeps.scored.push_back(read_sweep(element, diagnostics));
  }
  for (const JsonCursor& element : reader.elements("unscored")) {
    sweeps.unscored.push_back(read_unscored(element, diagnostics));
  }
  if (sweeps.scored.empty()) reader.report("sweeps", "there is nothing to predict");
  reader.report_unknown();
  return sweeps;
}

}  // namespace headway

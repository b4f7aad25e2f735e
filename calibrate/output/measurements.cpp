#include "calibrate/output/measurements.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "calibrate/output/complete_profile.h"
#include "calibrate/output/point_fields.h"
#include "sim/files/input_files.h"
#include "sim/files/json_text.h"

namespace headway {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSchema = "headway/measurements/1";
constexpr std::string_view kPoints = "points";
constexpr std::string_view kRefused = "refused";

constexpr Range kNotNegative = at_least(0.0);
constexpr Range kSamples = between(0.0, 1e9);  // fits in an int

template <class Object>
FieldMember<Object> seconds(Seconds Object::*member) {
  return member_of(
      number_type(positive()), member,
      [](ObjectReader& reader, std::string_view key, auto... before) {
        return Seconds(reader.number(key, positive(), before.count()...));
      },
      [](Seconds time) { return json_of(time.count()); });
}

/// A list or a set of them.
template <class Object, class Texts>
FieldMember<Object> texts(Texts Object::*member) {
  return {.type = array_type(text_type(), "texts"),
          .read =
              [=](ObjectReader& reader, std::string_view key, bool required, Object& object) {
                if (required && !reader.required_part(key)) return;
                Texts& held = object.*member;
                for (const JsonCursor& element : reader.elements(key)) {
                  if (const auto text = element.text()) {
                    held.insert(held.end(), *text);
                  } else {
                    reader.diagnostics().add(element.problem(fmt::format("{} must be texts", key)));
                  }
                }
              },
          .write =
              [=](const Object& object) {
                const Texts& held = object.*member;
                return json_of(std::vector<std::string_view>(held.begin(), held.end()));
              }};
}

/// A list of objects with a table of their own, at least one.
template <class Object, class Part>
FieldMember<Object> parts(std::vector<Part> Object::*member, const FieldTable<Part>& (*fields)()) {
  return {.type = array_type(object_type(), "objects"),
          .read =
              [=](ObjectReader& reader, std::string_view key, bool, Object& object) {
                for (const JsonCursor& element : reader.elements(key)) {
                  ObjectReader part(element, reader.diagnostics());
                  fields().read(part, (object.*member).emplace_back());
                  part.report_unknown();
                }
                if ((object.*member).empty()) reader.report(key, fmt::format("no {}", key));
              },
          .write =
              [=](const Object& object) {
                nlohmann::json json = nlohmann::json::array();
                for (const Part& part : object.*member) json.push_back(*fields().written(part));
                return JsonValue(std::move(json));
              }};
}

bool is_known(const DeviceState& state) {
  return state.clock_hz > 0.0 || state.watts > 0.0 || !state.throttled_by.empty();
}

const FieldTable<DeviceState>& state_fields() {
  static const auto kFields =
      required_fields<DeviceState>({{"clock_hz", number(&DeviceState::clock_hz, kNotNegative)},
                                    {"watts", number(&DeviceState::watts, kNotNegative)},
                                    {"throttled_by", texts(&DeviceState::throttled_by)}});
  return kFields;
}

/// Left out where nobody tells.
template <class Object>
FieldMember<Object> state(DeviceState Object::*member) {
  FieldMember<Object> field = part(member, state_fields);
  field.is_used = [=](const Object& object) { return is_known(object.*member); };
  return field;
}

const FieldTable<MeasuredPoint>& measured_fields() {
  const auto of_measured = [](const FieldMember<Measured>& member) {
    return within(&MeasuredPoint::measured, member);
  };
  static const auto kFields = required_fields<MeasuredPoint>(
      {{"time_s", of_measured(seconds(&Measured::time))},
       {"mad", of_measured(number(&Measured::mad, kNotNegative))},
       {"pass_spread", of_measured(number(&Measured::pass_spread, kNotNegative))},
       {"p95_s", of_measured(seconds(&Measured::p95))},
       {"samples", of_measured(whole(&Measured::samples, kSamples))},
       {"contaminated", of_measured(whole(&Measured::contaminated, kSamples))},
       {"device_spread", number(&MeasuredPoint::device_spread, kNotNegative)},
       {"state", state(&MeasuredPoint::state)}});
  return kFields;
}

const FieldTable<RefusedPoint>& refused_fields() {
  static const auto kFields =
      required_fields<RefusedPoint>({{"reason", text(&RefusedPoint::reason)}});
  return kFields;
}

const FieldTable<SustainedRun::Part>& sustained_part_fields() {
  using Part = SustainedRun::Part;
  static const auto kFields =
      required_fields<Part>({{"passes", number(&Part::passes, between(0.0, 1.0))},
                             {"once_s", seconds(&Part::once)},
                             {"state", state(&Part::state)}});
  return kFields;
}

const FieldTable<SustainedRun>& sustained_fields() {
  static const auto kFields = required_fields<SustainedRun>(
      {{"product", part(&SustainedRun::product, gemm_fields)},
       {"in_sweep_s", seconds(&SustainedRun::in_sweep)},
       {"time_s", seconds(&SustainedRun::time)},
       {"parts", parts(&SustainedRun::parts, sustained_part_fields)}});
  return kFields;
}

FieldMember<JitterRun> over_median() {
  constexpr auto kMember = &JitterRun::over_median;
  return {.type = array_type(number_type(positive()), "numbers"),
          .read =
              [](ObjectReader& reader, std::string_view key, bool, JitterRun& run) {
                for (const JsonCursor& element : reader.elements(key)) {
                  const auto sample = element.number();
                  if (sample && *sample > 0.0) {
                    (run.*kMember).push_back(*sample);
                  } else {
                    reader.diagnostics().add(
                        element.problem(fmt::format("{} must be numbers above 0", key)));
                  }
                }
                if ((run.*kMember).empty()) reader.report(key, fmt::format("no {}", key));
              },
          .write = [](const JitterRun& run) { return JsonValue(nlohmann::json(run.*kMember)); }};
}

const FieldTable<JitterRun>& jitter_fields() {
  static const auto kFields =
      required_fields<JitterRun>({{"product", part(&JitterRun::product, gemm_fields)},
                                  {"time_s", seconds(&JitterRun::time)},
                                  {"over_median", over_median()},
                                  {"lag_one", number(&JitterRun::lag_one, between(-1.0, 1.0))},
                                  {"at_end", state(&JitterRun::at_end)},
                                  {"contaminated", whole(&JitterRun::contaminated, kSamples)}});
  return kFields;
}

const FieldTable<BlockRun>& block_fields() {
  const auto size = [](int BlockShape::*member) {
    return within(&BlockRun::shape, whole(member, between(1.0, 1e6)));
  };
  static const auto kFields =
      required_fields<BlockRun>({{"sequences", size(&BlockShape::sequences)},
                                 {"sequence", size(&BlockShape::sequence)},
                                 {"hidden", size(&BlockShape::hidden)},
                                 {"heads", size(&BlockShape::heads)},
                                 {"precision", word(&BlockRun::precision)},
                                 {"steps", whole(&BlockRun::steps, kSamples)},
                                 {"time_s", seconds(&BlockRun::time)},
                                 {"spread", number(&BlockRun::spread, kNotNegative)}});
  return kFields;
}

FieldMember<Offer> peak_flops() {
  return {.type = object_type(),
          .read =
              [](ObjectReader& reader, std::string_view key, bool, Offer& offer) {
                const auto given = reader.required_part(key);
                if (!given) return;
                ObjectReader peaks(*given, reader.diagnostics());
                for (const auto& [name, precision] : kWords<Precision>) {
                  if (!peaks.has(name)) continue;
                  offer.peak_flops[precision] = peaks.number(name, positive());
                }
                peaks.report_unknown();
              },
          .write =
              [](const Offer& offer) {
                JsonValue json = empty_object();
                for (const auto& [precision, peak] : offer.peak_flops) {
                  set_member(*json, word_of(precision), json_of(peak));
                }
                return json;
              }};
}

FieldMember<Offer> provenance() {
  return {.type = object_type(),
          .read =
              [](ObjectReader& reader, std::string_view key, bool, Offer& offer) {
                const auto given = reader.required_part(key);
                if (!given) return;
                ObjectReader texts(*given, reader.diagnostics());
                for (const auto& [name, unused] : reader.members(key)) {
                  offer.provenance[name] = texts.text(name);
                }
              },
          .write = [](const Offer& offer) { return JsonValue(nlohmann::json(offer.provenance)); }};
}

/// What fits and provenance need of an offer; the rest said what to measure.
const FieldTable<Offer>& offer_fields() {
  static const auto kFields = required_fields<Offer>(
      {{"device", text(&Offer::device)},
       {"accelerator", text(&Offer::accelerator)},
       {"devices", whole(&Offer::devices, between(1.0, 1e6))},
       {"memory_bytes", number(&Offer::memory_bytes, kNotNegative)},
       {"activation_bytes", number(&Offer::activation_bytes, positive())},
       {"multiprocessors", whole(&Offer::multiprocessors, between(1.0, 1e6))},
       {"peak_flops_per_s", peak_flops()},
       {"memory_bytes_per_s", number(&Offer::memory_bytes_per_s, kNotNegative)},
       {"peak_source", text(&Offer::peak_source)},
       {"collective_implementations", texts(&Offer::collective_implementations)},
       {"ranks_per_node", whole(&Offer::ranks_per_node, between(1.0, 1e6))},
       {"node_link_bytes_per_s", number(&Offer::node_link_bytes_per_s, kNotNegative)},
       {"link_bytes_per_s", number(&Offer::link_bytes_per_s, kNotNegative)},
       {"link_burst_bytes", number(&Offer::link_burst_bytes, kNotNegative)},
       {"launches", flag(&Offer::launches)},
       {"provenance", provenance()}});
  return kFields;
}

const FieldTable<Measurements>& run_fields() {
  static const auto kFields =
      required_fields<Measurements>({{"name", text(&Measurements::name)},
                                     {"command", text(&Measurements::command)},
                                     {"created_utc", text(&Measurements::created_utc)},
                                     {"tool", text(&Measurements::tool)},
                                     {"backend", text(&Measurements::backend)},
                                     {"seed", text(&Measurements::seed)}});
  return kFields;
}

/// All but the points.
const FieldTable<Calibration>& calibration_fields() {
  static const auto kFields = required_fields<Calibration>(
      {{"offer", part(&Calibration::offer, offer_fields)},
       {"aborted", flag(&Calibration::is_aborted)},
       {"missing", texts(&Calibration::missing)},
       {"sustained",
        part(&Calibration::sustained, sustained_fields).where([](const Calibration& calibration) {
          return calibration.sustained.has_value();
        })},
       {"jitter",
        part(&Calibration::jitter, jitter_fields).where([](const Calibration& calibration) {
          return calibration.jitter.has_value();
        })},
       {"block", part(&Calibration::block, block_fields).where([](const Calibration& calibration) {
          return calibration.block.has_value();
        })}});
  return kFields;
}

/// Points with what else is told of each.
template <class Row>
Json rows_json(const std::vector<Row>& rows, const FieldTable<Row>& fields) {
  Json json = Json::array();
  for (const Row& row : rows) {
    Json line;
    append_point(line, row.point);
    append_members(line, fields, row);
    json.push_back(std::move(line));
  }
  return json;
}

template <class Row>
std::vector<Row> read_rows(ObjectReader& reader, std::string_view key,
                           const FieldTable<Row>& fields) {
  std::vector<Row> rows;
  if (!reader.required_part(key)) return rows;
  for (const JsonCursor& element : reader.elements(key)) {
    ObjectReader line(element, reader.diagnostics());
    auto point = read_point(line);
    if (!point) continue;
    Row& row = rows.emplace_back();
    row.point = *std::move(point);
    fields.read(line, row);
    line.report_unknown();
  }
  return rows;
}

void check_block(ObjectReader& reader, const Calibration& calibration) {
  const auto& block = calibration.block;
  if (!block) return;
  if (block->shape.hidden % block->shape.heads != 0) {
    reader.report("block", "heads must divide hidden");
  }
  const bool is_priced = std::ranges::any_of(calibration.points, [&block](const auto& point) {
    const auto* gemm = std::get_if<GemmPoint>(&point.point);
    return gemm != nullptr && gemm->precision == block->precision;
  });
  if (!is_priced) reader.report("block", "no product was measured in its precision");
}

std::string lines(const Json& list) {
  std::string text = "[";
  for (const Json& element : list) {
    text += (text.size() > 1 ? ",\n  " : "\n  ") + compact_json(element);
  }
  return text + (list.empty() ? "]" : "\n]");
}

}  // namespace

CalibratedProfile fitted_profile(Measurements all) {
  Calibration& calibration = all.calibration;
  const auto published = published_profile(calibration.offer.accelerator);
  if (published) add_published(calibration.offer, *published);
  CalibratedProfile built = built_profile(calibration, all.name);
  if (published) complete(built, *published);
  built.provenance["command"] = all.command;
  built.provenance["created_utc"] = all.created_utc;
  built.provenance["tool"] = all.tool;
  built.provenance["backend"] = all.backend;
  built.provenance["seed"] = all.seed;
  if (!all.refitted.empty()) built.provenance["refitted"] = all.refitted;
  return built;
}

std::string measurements_json(const Measurements& all) {
  const Calibration& calibration = all.calibration;
  Json document = {{"schema", kSchema}};
  append_members(document, run_fields(), all);
  append_members(document, calibration_fields(), calibration);
  document[kPoints] = rows_json(calibration.points, measured_fields());
  document[kRefused] = rows_json(calibration.refused, refused_fields());
  std::string text;
  for (const auto& [key, value] : document.items()) {
    text += (text.empty() ? "{\n" : ",\n") + compact_json(Json(key)) + ": " +
            (value.is_array() ? lines(value) : compact_json(value));
  }
  return text + "\n}\n";
}

Measurements read_measurements(const std::string& path) {
  Diagnostics diagnostics;
  InputFiles files({}, {}, diagnostics);
  Measurements all;
  if (const auto cursor = files.open(path, "")) {
    ObjectReader reader(*cursor, diagnostics);
    if (read_schema(reader, kSchema)) {
      Calibration& calibration = all.calibration;
      run_fields().read(reader, all);
      calibration_fields().read(reader, calibration);
      calibration.points = read_rows(reader, kPoints, measured_fields());
      calibration.refused = read_rows(reader, kRefused, refused_fields());
      check_block(reader, calibration);
      reader.report_unknown();
    }
  }
  diagnostics.throw_if_errors();
  return all;
}

}  // namespace headway

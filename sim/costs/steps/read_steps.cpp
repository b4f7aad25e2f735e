#include "sim/costs/steps/read_steps.h"

#include <fmt/format.h>

#include "sim/files/input_files.h"
#include "sim/files/json_reader.h"

namespace headway {
namespace {

/// The fields of a step, which a measured row has too.
TrainingStep read_step(ObjectReader& reader) {
  TrainingStep step;
  const auto integer = [&reader](const char* key, int least, int most, int fallback) {
    return static_cast<int>(reader.integer(key, between(least, most), fallback));
  };
  step.id = reader.text("id");
  step.layers = integer("layers", 1, 1000, step.layers);
  step.width = integer("width", 1, 16384, step.width);
  step.batch = integer("batch", 1, 16384, step.batch);
  step.pipeline_stages = integer("pipeline_stages", 1, 4, step.pipeline_stages);
  step.micro_batches = integer("micro_batches", 1, 1024, step.micro_batches);
  step.overlap = reader.flag("overlap", step.overlap);
  step.steps = integer("steps", 3, 10000, step.steps);
  step.slow_rank = integer("slow_rank", -1, 1023, step.slow_rank);
  step.slow_factor = reader.number("slow_factor", between(1.0, 100.0), step.slow_factor);
  step.jitter = reader.number("jitter", between(0.0, 10.0), step.jitter);
  step.emulated_flops_per_s =
      reader.number("emulated_flops_per_s", at_least(0.0), step.emulated_flops_per_s);
  if (step.emulated_flops_per_s == 0.0 && (step.slow_rank >= 0 || step.jitter > 0.0)) {
    reader.report("emulated_flops_per_s", "a straggler needs emulated compute", "",
                  "a rank that really computes cannot be slowed down: set emulated_flops_per_s");
  }
  const auto divides = [&reader](const char* key, int parts, const char* of, int whole) {
    if (whole % parts == 0) return;
    reader.report(key, fmt::format("{} must divide {}", key, of), "",
                  fmt::format("{} does not divide {}", parts, whole));
  };
  divides("pipeline_stages", step.pipeline_stages, "layers", step.layers);
  divides("micro_batches", step.micro_batches, "batch", step.batch);
  return step;
}

MeasuredStep read_step_row(ObjectReader& reader) {
  MeasuredStep row;
  row.step = read_step(reader);
  row.ranks = static_cast<int>(reader.integer("ranks", between(1, 1024)));
  row.time_s = reader.number("iteration_time_s", positive());
  row.spread = reader.number("spread", at_least(0.0));
  row.contaminated = reader.number("contaminated_share", between(0.0, 1.0));
  const std::string reason = unrunnable_reason(row.step, row.ranks);
  if (!reason.empty()) reader.report("ranks", reason);
  return row;
}

/// The elements of the array `key` in a file of that schema, each read by `read`.
template <class Row>
std::vector<Row> read_rows(const std::string& path, std::string_view schema, std::string_view key,
                           Row (*read)(ObjectReader&)) {
  Diagnostics diagnostics;
  InputFiles files({}, {}, diagnostics);
  std::vector<Row> rows;
  if (const auto cursor = files.open(path, "")) {
    ObjectReader reader(*cursor, diagnostics);
    if (read_schema(reader, schema)) {
      (void)reader.part("provenance");
      for (const JsonCursor& at : reader.elements(key)) {
        ObjectReader element(at, diagnostics);
        rows.push_back(read(element));
        element.report_unknown();
      }
      if (rows.empty()) {
        reader.report(key, "there is nothing in the file", "",
                      fmt::format("its steps stand in a list: \"{}\": [{{...}}]", key));
      }
      reader.report_unknown();
    }
  }
  diagnostics.throw_if_errors();
  return rows;
}

}  // namespace

std::vector<TrainingStep> read_steps(const std::string& path) {
  return read_rows<TrainingStep>(path, "headway/steps/1", "steps", read_step);
}

std::vector<MeasuredStep> read_measured(const std::string& path) {
  return read_rows<MeasuredStep>(path, "headway/measured/1", "rows", read_step_row);
}

}  // namespace headway

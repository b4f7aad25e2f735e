#include "sim/result/json/read_long_run.h"

#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

namespace headway {
namespace {

/// What is infinite was written as null.
double number_or_never(const JsonCursor& cursor) {
  const nlohmann::json& value = cursor.value();
  return value.is_number() ? value.get<double>() : std::numeric_limits<double>::infinity();
}

std::map<std::string, double> read_numbers(ObjectReader& reader, const char* key) {
  std::map<std::string, double> numbers;
  for (const auto& [name, value] : reader.members(key)) numbers[name] = number_or_never(value);
  return numbers;
}

}  // namespace

Percentiles read_percentiles(ObjectReader& reader, const char* key) {
  Percentiles read;
  const std::optional<JsonCursor> part = reader.required_part(key);
  if (!part) return read;
  ObjectReader inner(*part, reader.diagnostics());
  read.mean = inner.number("mean", at_least(0.0));
  read.low = inner.number("p5", at_least(0.0));
  read.median = inner.number("p50", at_least(0.0));
  read.high = inner.number("p95", at_least(0.0));
  return read;
}

ReliabilityPrediction read_long_run(ObjectReader& reader) {
  ReliabilityPrediction read;
  read.runs = static_cast<int>(reader.integer("runs", at_least(1)));
  read.goodput = read_percentiles(reader, "goodput");
  read.ettr = read_percentiles(reader, "ettr");
  read.interruptions = read_percentiles(reader, "interruptions");
  read.tokens_per_second = reader.number("tokens_per_s", at_least(0.0));
  read.interruptions_by_cause = read_numbers(reader, "interruptions_by_cause");
  read.lost_gpu_hours = read_numbers(reader, "lost_gpu_hours");
  read.lost_gpu_hours_by_cause = read_numbers(reader, "lost_gpu_hours_by_cause");
  for (const JsonCursor& time : reader.elements("time_to_train_s")) {
    read.time_to_train_s.push_back(number_or_never(time));
  }
  const auto time = [](ObjectReader& from, const char* key) {
    const std::optional<JsonCursor> part = from.required_part(key);
    return Seconds(part ? number_or_never(*part) : 0.0);
  };
  read.job_mttf = time(reader, "job_mttf_s");
  if (const std::optional<JsonCursor> part = reader.required_part("checkpoint")) {
    ObjectReader checkpoint(*part, reader.diagnostics());
    read.interval_by = checkpoint.text("interval_by");
    read.checkpoint_interval = time(checkpoint, "interval_s");
    read.young_interval = time(checkpoint, "young_interval_s");
    read.daly_interval = time(checkpoint, "daly_interval_s");
    read.checkpoint_size = Bytes(checkpoint.number("bytes", at_least(0.0)));
    read.checkpoint_blocking = time(checkpoint, "blocking_s");
  }
  return read;
}

}  // namespace headway

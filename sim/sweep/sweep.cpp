#include "sim/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <nlohmann/json.hpp>

#include "sim/base/parse_number.h"
#include "sim/base/refuse.h"
#include "sim/base/utf8.h"
#include "sim/files/json_text.h"
#include "sim/scenario/provenance.h"
#include "sim/sweep/stored_sweep.h"

namespace headway {
namespace {

/// Numbers of the shard's points that `settled` does not have.
std::vector<std::int64_t> missing_points(const SweepJob& job, const Shard& shard,
                                         const SettledPoints& settled) {
  std::vector<std::int64_t> missing;
  const std::int64_t count = point_count(job.axes);
  for (std::int64_t index = shard.index; index < count; index += shard.count) {
    if (!settled.axes.contains(compact_json(point_values(job.axes, index))))
      missing.push_back(index);
  }
  return missing;
}

std::int64_t shard_size(const SweepJob& job, const Shard& shard) {
  const std::int64_t count = point_count(job.axes);
  return shard.index < count ? (count - shard.index - 1) / shard.count + 1 : 0;
}

SweepHeader header_of(const SweepJob& job, const std::string& command_line) {
  nlohmann::json axes = nlohmann::json::array();
  for (const Axis& axis : job.axes) axes.push_back({{"name", axis.name}, {"values", axis.values}});
  return {.scenario = job.path,
          .inputs = job.inputs,
          .headway = headway_version(),
          .axes = std::move(axes),
          .command_line = command_line};
}

/// What a worker sends: a point, or nothing where another one is the same job.
std::string answer_of(const SweepJob& job, std::int64_t index, const FingerprintSet& keys,
                      bool only_read) {
  const auto before = std::chrono::steady_clock::now();
  const std::optional<SweepPoint> point = run_point(job, index, keys, only_read);
  if (!point) return "";
  PointRow row = row_of(*point);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - before;
  row.work = Seconds(taken.count());
  return row_bytes(row);
}

void count(PointStatus status, SweepSummary& summary) {
  switch (status) {
    case PointStatus::done:
      ++summary.simulated;
      return;
    case PointStatus::does_not_fit:
      ++summary.does_not_fit;
      return;
    case PointStatus::refused:
      ++summary.refused;
      return;
    case PointStatus::failed:
      ++summary.failed;
      return;
  }
}

/// Has the points done by forked children or by the crew.
void distribute(const SweepJob& job, const std::vector<std::int64_t>& points,
                const FingerprintSet& keys, bool only_read, const SweepOptions& options,
                const std::function<void(std::size_t, ChildOutcome&)>& finished) {
  if (options.crew != nullptr) {
    options.crew->lead(
        points.size(), [&](std::size_t place) { return std::to_string(points[place]); }, finished);
    return;
  }
  run_each_in_children(
      points.size(),
      [&](std::size_t place) { return answer_of(job, points[place], keys, only_read); },
      options.jobs, finished);
}

}  // namespace

Shard parse_shard(const std::string& text) {
  Shard shard;
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, shard.index);
  const bool has_slash = first.ec == std::errc() && first.ptr != end && *first.ptr == '/';
  if (has_slash) {
    const auto second = std::from_chars(first.ptr + 1, end, shard.count);
    const bool whole = second.ec == std::errc() && second.ptr == end;
    if (whole && shard.index >= 0 && shard.index < shard.count) return shard;
  }
  refuse(fmt::format("--shard cannot be {}", in_quotes(text)),
         "write I/N with 0 <= I < N: --shard 0/4 to --shard 3/4 are the parts of a sweep in four");
}

SweepSummary run_sweep(const SweepJob& job, const SweepOptions& options) {
  SweepStore store(options.folder, header_of(job, options.command_line));
  const SettledPoints settled = store.settled();
  const std::vector<std::int64_t> missing = missing_points(job, options.shard, settled);
  SweepSummary summary;
  summary.points = shard_size(job, options.shard);
  summary.settled = summary.points - std::ssize(missing);
  if (options.progress) options.progress(summary);
  bool is_kept = true;
  const auto finished = [&](std::size_t task, const ChildOutcome& outcome) {
    if (outcome.status == ChildOutcome::Status::done && outcome.output.empty()) {
      ++summary.settled;
    } else {
      const PointRow row = outcome.status == ChildOutcome::Status::done
                               ? row_of_bytes(outcome.output)
                               : row_of(failed_point(job, missing[task], outcome.failure));
      is_kept = store.put(row);
      count(row.status, summary);
    }
    if (is_kept && options.progress) options.progress(summary);
  };
  distribute(job, missing, settled.keys, false, options, finished);
  store.keep();
  summary.has_simulated = store.has_simulated();
  if (options.progress) options.progress(summary);
  return summary;
}

std::vector<SweepPoint> planned_points(const SweepJob& job, const SweepOptions& options) {
  std::vector<std::uint64_t> axes;
  if (std::filesystem::exists(options.folder / kStoreFile)) {
    const StoredSweep stored(options.folder);
    for (std::size_t i = 0; i < stored.size(); ++i) {
      const PointRow& point = stored.row(i);
      if (point.status != PointStatus::failed) axes.push_back(fingerprint(point.axes));
    }
  }
  const std::vector<std::int64_t> missing =
      missing_points(job, options.shard, {.axes = FingerprintSet(std::move(axes)), .keys = {}});
  std::vector<SweepPoint> points(missing.size());
  SweepOptions local = options;
  local.crew = nullptr;
  distribute(job, missing, {}, true, local, [&](std::size_t task, ChildOutcome& outcome) {
    Diagnostics none;  // nothing was simulated, so that there is no result to read
    points[task] = point_of(row_of_bytes(output_or_throw(std::move(outcome))), none);
  });
  return points;
}

void follow_sweep(MpiCrew& crew, const std::function<SweepJob()>& read_job) {
  std::optional<SweepJob> job;
  try {
    job = read_job();
  } catch (const InputError&) {
    job.reset();  // the leader meets the same problem, tells of it and hands out nothing
  }
  crew.follow([&](const std::string& index) {
    return answer_of(*job, parse_number<std::int64_t>(index).value(), {}, false);
  });
}

}  // namespace headway

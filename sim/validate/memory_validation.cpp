#include "sim/validate/memory_validation.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "sim/base/child_process.h"
#include "sim/files/json_text.h"
#include "sim/jobs/memory.h"
#include "sim/validate/published_steps.h"
#include "sim/validate/validation_row.h"

namespace headway {
namespace {

/// Runs in a child: what becomes of a row, as JSON.
std::string judged_row(const PublishedRow& row) {
  nlohmann::json answer;
  std::vector<std::string> assumed;
  const auto outcome = scenario_of_row(row, {}, assumed);
  if (const auto* refusal = std::get_if<Refusal>(&outcome)) {
    answer["refused"] = refusal->reason;
    return compact_json(answer);
  }
  const Scenario& scenario = std::get<Scenario>(outcome);
  Bytes needed;
  for (const StageMemory& stage : stage_memory(scenario.model, *scenario.strategy)) {
    needed = max(needed, stage.total());
  }
  answer["needed"] = needed.count();
  answer["capacity"] = scenario.profile->device.memory_bytes.value;
  return compact_json(answer);
}

MemoryRow row_of(const PublishedRow& published, const ChildOutcome& outcome) {
  MemoryRow row;
  row.head = published.head;
  row.ran = !published.ran_out_of_memory;
  if (outcome.status != ChildOutcome::Status::done) {
    row.refused = outcome.failure;
    return row;
  }
  const nlohmann::json answer = parsed_json(outcome.output);
  if (answer.contains("refused")) {
    answer.at("refused").get_to(row.refused);
    return row;
  }
  row.needed = Bytes(answer.at("needed").get<double>());
  row.capacity = Bytes(answer.at("capacity").get<double>());
  return row;
}

MemorySummary summary_of(std::string_view by, std::string group,
                         const std::vector<const MemoryRow*>& rows) {
  MemorySummary summary;
  summary.by = by;
  summary.group = std::move(group);
  for (const MemoryRow* row : rows) {
    if (!row->needed) {
      ++summary.refused;
      continue;
    }
    ++(row->ran ? summary.ran : summary.failed);
    if (row->is_right()) ++(row->ran ? summary.accepted : summary.rejected);
  }
  return summary;
}

std::vector<MemorySummary> memory_summaries(const std::vector<MemoryRow>& rows) {
  constexpr std::array<std::string_view, 2> kProperties = {"framework", "gpu"};
  std::vector<const MemoryRow*> all;
  all.reserve(rows.size());
  for (const MemoryRow& row : rows) all.push_back(&row);
  std::vector<MemorySummary> list{summary_of("", "all", all)};
  for (const RowProperty& property : row_properties()) {
    if (std::ranges::find(kProperties, property.name) == kProperties.end()) continue;
    std::map<std::string, std::vector<const MemoryRow*>> by_word;
    for (const MemoryRow& row : rows) by_word[property.of(row.head)].push_back(&row);
    for (const auto& [word, members] : by_word) {
      list.push_back(summary_of(property.name, word, members));
    }
  }
  return list;
}

std::vector<MemoryTradeOff> trade_off_of(const std::vector<MemoryRow>& rows) {
  std::vector<MemoryTradeOff> trade_off;
  for (const double limit : {0.8, 0.85, 0.9, 0.925, 0.95, 0.975, 1.0, 1.025, 1.05, 1.1}) {
    MemoryTradeOff at{.limit = limit};
    for (const MemoryRow& row : rows) {
      if (!row.needed) continue;
      const bool fits = *row.needed <= limit * row.capacity;
      if (row.ran && fits) ++at.accepted;
      if (!row.ran && !fits) ++at.rejected;
    }
    trade_off.push_back(at);
  }
  return trade_off;
}

std::int64_t undecidable_of(const std::vector<MemoryRow>& rows) {
  struct Ends {
    std::int64_t ran = 0;
    std::int64_t failed = 0;
  };
  std::map<std::tuple<std::string, double, double>, Ends> alike;
  for (const MemoryRow& row : rows) {
    if (!row.needed) continue;
    Ends& ends = alike[{row.head.framework, row.needed->count(), row.capacity.count()}];
    ++(row.ran ? ends.ran : ends.failed);
  }
  std::int64_t undecidable = 0;
  for (const auto& [job, ends] : alike) undecidable += std::min(ends.ran, ends.failed);
  return undecidable;
}

}  // namespace

MemoryValidation validate_memory(const std::string& path, const ValidateOptions& options,
                                 Diagnostics& diagnostics) {
  std::vector<std::string> paths{path};
  if (path.empty()) paths = {kBuiltInSteps, kBuiltInTrials};
  const std::vector<PublishedRow> published = asked_rows(paths, options.filter, diagnostics);
  std::vector<std::function<std::string()>> tasks;
  tasks.reserve(published.size());
  for (const PublishedRow& row : published) {
    tasks.emplace_back([&row] { return judged_row(row); });
  }
  std::size_t done = 0;
  const std::vector<ChildOutcome> outcomes =
      run_in_children(tasks, options.jobs, [&](std::size_t, ChildOutcome&) {
        if (options.progress) options.progress(++done, tasks.size());
      });
  MemoryValidation validation;
  for (std::size_t i = 0; i < published.size(); ++i) {
    validation.rows.push_back(row_of(published[i], outcomes[i]));
  }
  validation.summary = memory_summaries(validation.rows);
  validation.trade_off = trade_off_of(validation.rows);
  validation.undecidable = undecidable_of(validation.rows);
  return validation;
}

}  // namespace headway

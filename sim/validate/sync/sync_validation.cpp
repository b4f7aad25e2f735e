#include "sim/validate/sync/sync_validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "sim/base/child_process.h"
#include "sim/base/utf8.h"
#include "sim/files/input_files.h"
#include "sim/files/json_text.h"

namespace headway {
namespace {

std::vector<SyncRow> sync_rows_of(const std::string& path, Diagnostics& diagnostics) {
  InputFiles files({}, data_folders(), diagnostics);
  const auto root = files.open(path, "scenarios");
  diagnostics.throw_if_errors();
  std::vector<SyncRow> rows = read_sync_rows(*root, diagnostics);
  diagnostics.throw_if_errors();
  return rows;
}

/// Whether an error can be told of it.
bool is_comparable(const ComparedValue& value) {
  return std::isfinite(value.published) && std::isfinite(value.predicted) &&
         (value.is_share || value.published > 0.0);
}

SyncOutcome outcome_by(const SyncKind& kind, const SyncQuestion& question) {
  try {
    SyncOutcome outcome = kind.predict(question);
    if (std::ranges::all_of(outcome.values, is_comparable)) return outcome;
    return refused("its value, or one that it rests on, is not above 0");
  } catch (const InputError& error) {
    return refused(error.diagnostics().front().message);
  } catch (const nlohmann::json::exception&) {
    return refused("its value has another shape than those of its kind");
  }
}

/// Runs in a child.
std::string predicted_sync_row(const SyncRow& row, std::span<const SyncRow> known) {
  const SyncKind* const kind = sync_kind_of(row);
  SyncOutcome outcome;
  if (kind == nullptr) {
    outcome = refused(row.kind.empty()
                          ? "nothing predicts such rows, which name no kind"
                          : fmt::format("nothing predicts rows of kind {} whose metric is {}",
                                        in_quotes(row.kind), in_quotes(row.metric)));
  } else if (row.value->is_null()) {
    outcome = refused("it has no value");
  } else {
    outcome = outcome_by(*kind, {.row = row, .known = known});
  }
  nlohmann::json values = nlohmann::json::array();
  for (const ComparedValue& value : outcome.values) {
    values.push_back(
        {value.what, value.published, value.predicted, value.is_share, value.ordered_with});
  }
  const nlohmann::json told = {{"values", values},
                               {"refused", outcome.refused},
                               {"calibrates", outcome.calibrates},
                               {"assumed", outcome.assumed}};
  return compact_json(told);
}

SyncOutcome outcome_of(const ChildOutcome& child) {
  if (child.status != ChildOutcome::Status::done) return refused(child.failure);
  const nlohmann::json told = parsed_json(child.output);
  SyncOutcome outcome{.refused = told.at("refused"),
                      .calibrates = told.at("calibrates"),
                      .assumed = told.at("assumed")};
  for (const nlohmann::json& value : told.at("values")) {
    outcome.values.push_back({.what = value[0],
                              .published = value[1],
                              .predicted = value[2],
                              .is_share = value[3],
                              .ordered_with = value[4]});
  }
  return outcome;
}

SyncErrors sync_errors(std::vector<double> errors) {
  SyncErrors all{.count = errors.size()};
  if (errors.empty()) return all;
  for (double& error : errors) error = std::abs(error);
  std::ranges::sort(errors);
  const std::size_t half = errors.size() / 2;
  all.median = errors.size() % 2 == 1 ? errors[half] : 0.5 * (errors[half - 1] + errors[half]);
  for (const double error : errors) all.mean += error / static_cast<double>(errors.size());
  all.worst = errors.back();
  return all;
}

SyncSummary summary_of_rows(std::string kind, const std::vector<const PredictedSyncRow*>& rows) {
  constexpr double kApart = 1.05;
  SyncSummary summary{.kind = std::move(kind), .rows = rows.size()};
  std::vector<double> relative;
  std::vector<double> points;
  std::vector<const ComparedValue*> to_order;
  for (const PredictedSyncRow* row : rows) {
    if (!row->outcome.refused.empty()) ++summary.refused;
    if (row->outcome.calibrates) {
      ++summary.calibrating;
      continue;
    }
    for (const ComparedValue& value : row->outcome.values) {
      (value.is_share ? points : relative).push_back(value.error());
      if (!value.ordered_with.empty()) to_order.push_back(&value);
    }
  }
  summary.relative = sync_errors(std::move(relative));
  summary.points = sync_errors(std::move(points));
  for (std::size_t i = 0; i < to_order.size(); ++i) {
    for (std::size_t j = i + 1; j < to_order.size(); ++j) {
      const ComparedValue* low = to_order[i];
      const ComparedValue* high = to_order[j];
      if (low->ordered_with != high->ordered_with) continue;
      if (low->published > high->published) std::swap(low, high);
      if (high->published <= kApart * low->published) continue;
      ++summary.pairs;
      if (high->predicted > low->predicted) ++summary.ordered;
    }
  }
  return summary;
}

}  // namespace

std::vector<SyncSummary> sync_summaries(const std::vector<PredictedSyncRow>& rows) {
  std::vector<const PredictedSyncRow*> all;
  for (const PredictedSyncRow& row : rows) all.push_back(&row);
  std::vector<SyncSummary> summaries{summary_of_rows("all", all)};
  for (const SyncKind& kind : sync_kinds()) {
    std::vector<const PredictedSyncRow*> members;
    std::ranges::copy_if(all, std::back_inserter(members),
                         [&](const PredictedSyncRow* row) { return row->kind == kind.name; });
    if (!members.empty()) summaries.push_back(summary_of_rows(std::string(kind.name), members));
  }
  return summaries;
}

SyncValidation validate_sync(const SyncOptions& options, Diagnostics& diagnostics) {
  std::vector<SyncRow> known = sync_rows_of(kBuiltInSyncRows, diagnostics);
  std::vector<SyncRow> asked = known;
  if (!options.path.empty()) {
    asked = sync_rows_of(options.path, diagnostics);
    std::set<std::string> shipped;
    for (const SyncRow& row : known) shipped.insert(row.id);
    for (const SyncRow& row : asked) {
      if (!shipped.contains(row.id)) known.push_back(row);
    }
  }
  std::erase_if(asked, [&](const SyncRow& row) {
    return !options.id_prefixes.empty() &&
           std::ranges::none_of(options.id_prefixes,
                                [&](const std::string& id) { return row.id.starts_with(id); });
  });
  if (asked.empty()) {
    Diagnostic nothing;
    nothing.message = "no row is left";
    nothing.help = "`headway validate --sync` lists what --id may begin with";
    throw InputError(std::move(nothing));
  }
  std::vector<std::function<std::string()>> tasks;
  for (const SyncRow& row : asked) {
    tasks.emplace_back([&row, &known] { return predicted_sync_row(row, known); });
  }
  std::size_t done = 0;
  const std::vector<ChildOutcome> outcomes =
      run_in_children(tasks, options.jobs, [&](std::size_t, ChildOutcome&) {
        if (options.progress) options.progress(++done, tasks.size());
      });
  SyncValidation validation;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    const SyncKind* const kind = sync_kind_of(asked[i]);
    validation.rows.push_back({.row = asked[i],
                               .kind = kind == nullptr ? "" : std::string(kind->name),
                               .outcome = outcome_of(outcomes[i])});
  }
  validation.summary = sync_summaries(validation.rows);
  return validation;
}

}  // namespace headway

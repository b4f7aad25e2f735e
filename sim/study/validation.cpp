#include "sim/study/validation.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "sim/base/child_process.h"
#include "sim/base/input_files.h"
#include "sim/study/simulate.h"
#include "sim/study/validation_row.h"

namespace headway {
namespace {

/// Draws per row; the median of three is within half a percent of that of many.
constexpr int kReplicas = 3;

bool is_kept(const ValidationRow& row, const ValidateOptions& options) {
  const auto allows = [](const std::vector<std::string>& list, const std::string& value) {
    return list.empty() || std::ranges::find(list, value) != list.end();
  };
  const bool id_fits = options.id_prefixes.empty() ||
                       std::ranges::any_of(options.id_prefixes, [&](const std::string& prefix) {
                         return row.id.starts_with(prefix);
                       });
  return id_fits && allows(options.accelerators, row.accelerator) &&
         allows(options.precisions, row.precision);
}

/// Runs in a child: what becomes of a row, as JSON.
std::string predicted_row(const PublishedRow& row) {
  nlohmann::json answer;
  std::vector<std::string> assumed;
  auto scenario = scenario_of_row(row, assumed);
  if (const auto* refusal = std::get_if<Refusal>(&scenario)) {
    answer["refused"] = refusal->reason;
  } else {
    Scenario& known = std::get<Scenario>(scenario);
    known.run.replicas = kReplicas;
    // It ran, so it fitted: what our memory model thinks of it is another question.
    const Simulation simulation =
        simulate(known, {.jobs = 1, .scaling = false, .even_if_it_does_not_fit = true});
    answer["predicted_s"] = simulation.prediction.iteration_time.count();
    answer["low_s"] = simulation.prediction.iteration_interval.low;
    answer["high_s"] = simulation.prediction.iteration_interval.high;
  }
  answer["assumed"] = assumed;
  return answer.dump();
}

void take_answer(ValidationRow& row, const ChildOutcome& outcome) {
  if (outcome.status != ChildOutcome::Status::done) {
    row.refused = outcome.failure;
    return;
  }
  const nlohmann::json answer = nlohmann::json::parse(outcome.output);
  answer.at("assumed").get_to(row.assumed);
  if (answer.contains("refused")) {
    answer.at("refused").get_to(row.refused);
    return;
  }
  row.predicted_s = answer.at("predicted_s").get<double>();
  row.interval_s = {answer.at("low_s").get<double>(), answer.at("high_s").get<double>()};
}

ValidationSummary summary_of(std::string group, const std::vector<const ValidationRow*>& rows) {
  ValidationSummary summary;
  summary.group = std::move(group);
  std::vector<double> errors;
  std::int64_t covered = 0;
  for (const ValidationRow* row : rows) {
    if (!row->predicted_s) {
      ++summary.refused;
      continue;
    }
    errors.push_back(std::abs(row->error()));
    summary.bias += row->error();
    if (row->interval_s.low <= row->published_s && row->published_s <= row->interval_s.high) {
      ++covered;
    }
  }
  summary.rows = std::ssize(errors);
  if (errors.empty()) return summary;
  std::ranges::sort(errors);
  const auto count = static_cast<double>(errors.size());
  for (const double error : errors) summary.mean += error / count;
  summary.bias /= count;
  summary.covered = static_cast<double>(covered) / count;
  const auto quantile = [&](double q) {
    return errors[static_cast<std::size_t>(q * (count - 1.0) + 0.5)];
  };
  summary.median = quantile(0.5);
  summary.p90 = quantile(0.9);
  summary.worst = errors.back();
  return summary;
}

std::vector<ValidationSummary> summaries(const std::vector<ValidationRow>& rows) {
  std::vector<const ValidationRow*> all;
  std::map<std::string, std::vector<const ValidationRow*>> by_source;
  std::map<std::string, std::vector<const ValidationRow*>> by_accelerator;
  for (const ValidationRow& row : rows) {
    all.push_back(&row);
    by_source[row.source].push_back(&row);
    by_accelerator[row.accelerator].push_back(&row);
  }
  std::vector<ValidationSummary> list{summary_of("all", all)};
  for (const auto& [source, members] : by_source) list.push_back(summary_of(source, members));
  for (const auto& [name, members] : by_accelerator) list.push_back(summary_of(name, members));
  return list;
}

}  // namespace

Validation validate_rows(const std::string& path, const ValidateOptions& options,
                         Diagnostics& diagnostics) {
  const auto document = JsonDocument::read(path, diagnostics);
  diagnostics.throw_if_errors();
  const JsonCursor root(document);
  const auto list = root.value().is_object() ? root.member("rows") : std::nullopt;
  if (!list || !list->value().is_array()) {
    throw InputError(root.problem("this is no file of published rows", "",
                                  R"(it needs {"rows": [...]}, one object a measurement)"));
  }
  std::vector<PublishedRow> published;
  for (std::size_t i = 0; i < list->value().size(); ++i) {
    PublishedRow row = read_published_row(list->element(i), diagnostics);
    if (is_kept(row.head, options)) published.push_back(std::move(row));
  }
  diagnostics.throw_if_errors();

  std::vector<std::function<std::string()>> tasks;
  for (const PublishedRow& row : published) {
    tasks.emplace_back([&row] { return predicted_row(row); });
  }
  std::size_t done = 0;
  const std::vector<ChildOutcome> outcomes = run_in_children(tasks, options.jobs, [&](std::size_t) {
    if (options.progress) options.progress(++done, tasks.size());
  });
  Validation validation;
  for (std::size_t i = 0; i < published.size(); ++i) {
    validation.rows.push_back(std::move(published[i].head));
    take_answer(validation.rows.back(), outcomes[i]);
  }
  validation.summary = summaries(validation.rows);
  return validation;
}

}  // namespace headway

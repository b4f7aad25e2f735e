#include "sim/validate/validation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "sim/base/child_process.h"
#include "sim/base/join_words.h"
#include "sim/files/json_text.h"
#include "sim/predict/interval.h"
#include "sim/validate/published_steps.h"
#include "sim/validate/row_job.h"
#include "sim/validate/row_parts.h"
#include "sim/validate/source_effects.h"

namespace headway {
namespace {

/// Runs in a child: what becomes of a row, as JSON.
std::string predicted_row(const PublishedRow& row, const CostTerm* left_out,
                          const ValidateOptions& options) {
  nlohmann::json answer;
  std::vector<std::string> assumed;
  RowJobOptions how{.profiles = options.profiles};
  if (options.leave_out_choices) {
    how.knowledge = SourceKnowledge::shared;
    how.detail = RowDetail::no_choices;
  }
  if (options.leave_out_source) how.knowledge = SourceKnowledge::none;
  auto outcome = job_of_row(row, how, assumed);
  if (const auto* refusal = std::get_if<Refusal>(&outcome)) {
    answer["refused"] = refusal->reason;
  } else {
    // It ran, so it fitted: what our memory model thinks of it is another question.
    Scenario& known = std::get<Scenario>(outcome);
    const Scenario scenario =
        left_out == nullptr ? std::move(known) : without_term(std::move(known), *left_out);
    const JobRun run = run_row_job(scenario);
    const bool is_known =
        how.knowledge == SourceKnowledge::own && known_source_effects().contains(row.head.source);
    const Interval interval = expected_interval(
        run.times, run.cost.spread,
        is_known ? known_source_error(job_kind(scenario)) : model_error(scenario));
    answer["predicted_s"] = run.time().count();
    answer["low_s"] = interval.low;
    answer["high_s"] = interval.high;
  }
  answer["assumed"] = assumed;
  return compact_json(answer);
}

void take_answer(ValidationRow& row, const ChildOutcome& outcome) {
  if (outcome.status != ChildOutcome::Status::done) {
    row.refused = outcome.failure;
    return;
  }
  const nlohmann::json answer = parsed_json(outcome.output);
  answer.at("assumed").get_to(row.assumed);
  if (answer.contains("refused")) {
    answer.at("refused").get_to(row.refused);
    return;
  }
  row.predicted_s = answer.at("predicted_s").get<double>();
  row.interval_s = {answer.at("low_s").get<double>(), answer.at("high_s").get<double>()};
}

/// Every row predicted with each of the terms left out in turn (nullptr: none).
std::vector<std::vector<ValidationRow>> predictions(const std::vector<PublishedRow>& published,
                                                    const std::vector<const CostTerm*>& left_out,
                                                    const ValidateOptions& options) {
  const std::function<std::string(std::size_t)> task = [&](std::size_t number) {
    return predicted_row(published[number % published.size()], left_out[number / published.size()],
                         options);
  };
  std::vector<ChildOutcome> outcomes(left_out.size() * published.size());
  std::size_t done = 0;
  const std::function<void(std::size_t, ChildOutcome&)> finished = [&](std::size_t number,
                                                                       ChildOutcome& outcome) {
    outcomes[number] = std::move(outcome);
    if (options.progress) options.progress(++done, outcomes.size());
  };
  if (options.distribute) {
    options.distribute(outcomes.size(), task, finished);
  } else {
    run_each_in_children(outcomes.size(), task, options.jobs, finished);
  }
  std::vector<std::vector<ValidationRow>> by_term;
  for (std::size_t term = 0; term < left_out.size(); ++term) {
    std::vector<ValidationRow>& rows = by_term.emplace_back();
    for (std::size_t i = 0; i < published.size(); ++i) {
      rows.push_back(published[i].head);
      take_answer(rows.back(), outcomes[term * published.size() + i]);
    }
  }
  return by_term;
}

Ablation ablation_of(std::string_view term, const std::vector<ValidationRow>& with,
                     const std::vector<ValidationRow>& without) {
  constexpr double kMoved = 1e-4;  // of the prediction: below this nobody would notice
  Ablation ablation;
  ablation.term = term;
  ablation.without = summaries(without).front().rows;
  for (std::size_t i = 0; i < with.size(); ++i) {
    if (!with[i].predicted_s || !without[i].predicted_s) continue;
    if (std::abs(*without[i].predicted_s / *with[i].predicted_s - 1.0) < kMoved) continue;
    ablation.moved.push_back({with[i].id, with[i].error(), without[i].error()});
  }
  std::ranges::stable_sort(ablation.moved, std::greater(), [](const Ablation::Row& row) {
    return std::abs(row.without - row.with);
  });
  return ablation;
}

/// A profile that no row is predicted with is a slip.
void throw_if_unused(const Profile& profile, const std::vector<PublishedRow>& rows) {
  std::set<std::string> accelerators;
  for (const PublishedRow& row : rows) {
    if (const Accelerator* const of = accelerator_of(row)) accelerators.insert(of->name);
  }
  if (accelerators.contains(profile.accelerator)) return;
  throw InputError(Diagnostic{
      .message =
          fmt::format("no row is of {}, as profile {} is", profile.accelerator, profile.name),
      .help = accelerators.empty()
                  ? "no row is of an accelerator that has a profile"
                  : fmt::format("rows are of {}", join_words(accelerators, ", "))});
}

}  // namespace

Validation validate_rows(const std::string& path, const ValidateOptions& options,
                         Diagnostics& diagnostics) {
  const std::vector<PublishedRow> published =
      asked_rows({path.empty() ? kBuiltInSteps : path}, options.filter, diagnostics);
  for (const auto& profile : options.profiles) throw_if_unused(*profile, published);
  std::vector<const CostTerm*> left_out{nullptr};
  left_out.insert(left_out.end(), options.ablate.begin(), options.ablate.end());
  std::vector<std::vector<ValidationRow>> by_term = predictions(published, left_out, options);

  Validation validation;
  validation.left_out_source = options.leave_out_source;
  validation.left_out_choices = options.leave_out_choices;
  validation.rows = std::move(by_term.front());
  validation.summary = summaries(validation.rows);
  if (options.pairs) validation.knobs = pairs_by_knob(published, validation.rows);
  for (std::size_t i = 0; i < options.ablate.size(); ++i) {
    validation.ablations.push_back(
        ablation_of(options.ablate[i]->name, validation.rows, by_term[i + 1]));
  }
  return validation;
}

}  // namespace headway

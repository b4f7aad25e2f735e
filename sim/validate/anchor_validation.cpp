#include "sim/validate/anchor_validation.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

#include "sim/base/child_process.h"
#include "sim/files/json_text.h"
#include "sim/predict/anchor.h"
#include "sim/predict/apply_anchors.h"
#include "sim/predict/interval.h"
#include "sim/validate/published_steps.h"
#include "sim/validate/row_fields.h"
#include "sim/validate/row_job.h"

namespace headway {
namespace {

/// Between so many factors a row's time is a straight line of logarithms: it is one but for what
/// hides behind what, to a thousandth over the factors of a source.
constexpr std::size_t kMostFactors = 4;

/// With what users have, or without what any of its source's rows say.
std::variant<Scenario, Refusal> asked_job(const PublishedRow& row, const ValidateOptions& options) {
  std::vector<std::string> assumed;
  const auto knowledge = options.leave_out_source ? SourceKnowledge::none : SourceKnowledge::shared;
  const auto detail = options.leave_out_choices ? RowDetail::no_choices : RowDetail::all;
  return job_of_row(row, {.profiles = options.profiles, .knowledge = knowledge, .detail = detail},
                    assumed);
}

nlohmann::json traits_json(const ErrorTraits& traits) {
  return {{"model", traits.model},
          {"kernels", traits.kernels},
          {"release", traits.release},
          {"pipeline", traits.pipeline},
          {"micro_batch", traits.micro_batch},
          {"exchange", traits.exchange}};
}

ErrorTraits traits_of(const nlohmann::json& json) {
  return {.model = json.at("model").get<std::string>(),
          .kernels = json.at("kernels").get<std::string>(),
          .release = json.at("release").get<std::string>(),
          .pipeline = json.at("pipeline").get<std::string>(),
          .micro_batch = json.at("micro_batch").get<std::int64_t>(),
          .exchange = json.at("exchange").get<std::string>()};
}

/// A release that profiles have no factor for is told apart all the same.
ErrorTraits traits_of_row(const PublishedRow& row, const Scenario& scenario) {
  ErrorTraits traits = error_traits(scenario.model, *scenario.strategy);
  traits.release = row.release;
  return traits;
}

/// Runs in a child: a row without an anchor, and what its own step says of its software.
std::string row_alone(const PublishedRow& row, const ValidateOptions& options) {
  const auto outcome = asked_job(row, options);
  if (const auto* refusal = std::get_if<Refusal>(&outcome)) {
    return compact_json(nlohmann::json{{"refused", refusal->reason}});
  }
  Scenario scenario = std::get<Scenario>(outcome);
  const JobRun run = run_row_job(scenario);
  const Interval interval = expected_interval(run.times, run.cost.spread, model_error(scenario));
  nlohmann::json answer = {{"predicted_s", run.time().count()},
                           {"low_s", interval.low},
                           {"high_s", interval.high},
                           {"traits", traits_json(traits_of_row(row, scenario))}};
  scenario.run.replicas = static_cast<int>(run.times.size());
  try {
    answer["software_factor"] =
        fit_anchor(scenario, Seconds(row.head.published_s), 1).software_factor;
  } catch (const InputError&) {
    answer["software_factor"] = nullptr;  // faster than any software could be
  }
  return compact_json(answer);
}

/// What is asked of a row's job: to be as fast as this, with an interval for so much left open.
struct Asked {
  std::size_t measured = 0;
  double shared = 0.0;
  double software_factor = 1.0;
  double variance_left = 1.0;
};

/// A row's times with some factors, in their order.
struct TimesByFactor {
  std::vector<double> factors;
  std::vector<std::vector<double>> times;  ///< of its draws

  [[nodiscard]] std::vector<double> at(double factor) const;
};

std::vector<double> TimesByFactor::at(double factor) const {
  const auto above = std::ranges::lower_bound(factors, factor);
  const auto next = static_cast<std::size_t>(above - factors.begin());
  if (*above == factor) return times[next];
  const double part =
      std::log(factor / factors[next - 1]) / std::log(factors[next] / factors[next - 1]);
  std::vector<double> between = times[next - 1];
  for (std::size_t draw = 0; draw < between.size(); ++draw) {
    between[draw] *= std::pow(times[next][draw] / between[draw], part);
  }
  return between;
}

/// The factors of these, or of as many as are simulated over the same range.
std::vector<double> simulated_factors(const std::vector<Asked>& asked) {
  std::set<double> distinct;
  for (const Asked& one : asked) distinct.insert(one.software_factor);
  if (distinct.size() <= kMostFactors) return {distinct.begin(), distinct.end()};
  std::vector<double> factors;
  const double range = *distinct.rbegin() / *distinct.begin();
  for (std::size_t i = 0; i + 1 < kMostFactors; ++i) {
    factors.push_back(*distinct.begin() *
                      std::pow(range, static_cast<double>(i) / (kMostFactors - 1)));
  }
  factors.push_back(*distinct.rbegin());
  return factors;
}

/// Runs in a child: a row's time with each of these anchors, [time, low, high].
std::string row_with_anchors(const PublishedRow& row, const std::vector<Asked>& asked,
                             const ValidateOptions& options) {
  const auto outcome = asked_job(row, options);
  Scenario scenario = std::get<Scenario>(outcome);
  const double error = model_error(job_kind(scenario));
  TimesByFactor known{.factors = simulated_factors(asked), .times = {}};
  double spread = 0.0;
  for (const double factor : known.factors) {
    scenario.software_factor = factor;
    JobRun run = run_row_job(scenario);
    spread = run.cost.spread;
    known.times.push_back(std::move(run.times));
  }
  nlohmann::json answer = nlohmann::json::array();
  for (const Asked& one : asked) {
    const std::vector<double> times = known.at(one.software_factor);
    const Interval interval = anchored_interval(times, spread, error, one.variance_left);
    answer.push_back({times[median_index(times)], interval.low, interval.high});
  }
  return compact_json(answer);
}

AnchoredRow anchored_row(const PublishedRow& published, const ChildOutcome& outcome) {
  AnchoredRow row;
  row.head = published.head;
  if (outcome.status != ChildOutcome::Status::done) {
    row.head.refused = outcome.failure;
    return row;
  }
  const nlohmann::json answer = parsed_json(outcome.output);
  if (answer.contains("refused")) {
    answer.at("refused").get_to(row.head.refused);
    return row;
  }
  row.head.predicted_s = answer.at("predicted_s").get<double>();
  row.head.interval_s = {answer.at("low_s").get<double>(), answer.at("high_s").get<double>()};
  row.traits = traits_of(answer.at("traits"));
  const nlohmann::json& factor = answer.at("software_factor");
  if (!factor.is_null()) row.software_factor = factor.get<double>();
  return row;
}

/// What each row is asked for: every other one of its source, model and accelerator that has a
/// factor.
std::vector<std::vector<Asked>> pairs_of(const std::vector<PublishedRow>& published,
                                         const std::vector<AnchoredRow>& rows) {
  std::map<std::tuple<std::string, std::string, std::string>, std::vector<std::size_t>> alike;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows[i].head.predicted_s) continue;
    alike[{rows[i].head.source, word(published[i].model, "name"), rows[i].head.accelerator}]
        .push_back(i);
  }
  std::vector<std::vector<Asked>> pairs(rows.size());
  for (const auto& [key, members] : alike) {
    for (const std::size_t asked : members) {
      for (const std::size_t measured : members) {
        if (measured == asked || !rows[measured].software_factor) continue;
        const ErrorByOthers known = error_by_others(rows[asked].traits, {rows[measured].traits});
        pairs[asked].push_back(
            {.measured = measured,
             .shared = shared_error(rows[asked].traits, rows[measured].traits),
             .software_factor = weighted_factor({*rows[measured].software_factor}, known.weights),
             .variance_left = known.variance_left});
      }
    }
  }
  return pairs;
}

void take_predictions(AnchoredRow& row, const std::vector<Asked>& asked,
                      const ChildOutcome& outcome) {
  if (outcome.status != ChildOutcome::Status::done) return;
  const nlohmann::json answer = parsed_json(outcome.output);
  for (std::size_t i = 0; i < asked.size(); ++i) {
    row.by_anchor.push_back(
        {.measured = asked[i].measured,
         .shared = asked[i].shared,
         .predicted_s = answer[i][0].get<double>(),
         .interval_s = {answer[i][1].get<double>(), answer[i][2].get<double>()}});
  }
}

ErrorItem item_with(const AnchoredRow& row) {
  std::vector<ErrorItem> items;
  for (const PredictionByAnchor& one : row.by_anchor) {
    ValidationRow with = row.head;
    with.predicted_s = one.predicted_s;
    with.interval_s = one.interval_s;
    items.push_back(error_item(with));
  }
  return mean_item(items);
}

AnchorSummary anchor_summary(std::string_view by, std::string group,
                             const std::vector<const AnchoredRow*>& rows) {
  AnchorSummary summary;
  summary.by = by;
  summary.group = std::move(group);
  std::vector<ErrorItem> without;
  std::vector<ErrorItem> with;
  for (const AnchoredRow* row : rows) {
    summary.pairs += std::ssize(row->by_anchor);
    without.push_back(error_item(row->head));
    with.push_back(item_with(*row));
  }
  summary.without = error_statistics(std::move(without));
  summary.with = error_statistics(std::move(with));
  return summary;
}

std::vector<AnchorSummary> anchor_summaries(const std::vector<AnchoredRow>& rows) {
  constexpr std::array<std::string_view, 2> kProperties = {"kind", "source"};
  std::vector<const AnchoredRow*> anchored;
  for (const AnchoredRow& row : rows) {
    if (!row.by_anchor.empty()) anchored.push_back(&row);
  }
  std::vector<AnchorSummary> list{anchor_summary("", "all", anchored)};
  for (const RowProperty& property : row_properties()) {
    if (std::ranges::find(kProperties, property.name) == kProperties.end()) continue;
    std::map<std::string, std::vector<const AnchoredRow*>> by_word;
    for (const AnchoredRow* row : anchored) by_word[property.of(row->head)].push_back(row);
    for (const auto& [word, members] : by_word) {
      list.push_back(anchor_summary(property.name, word, members));
    }
  }
  return list;
}

}  // namespace

AnchorValidation validate_anchors(const std::string& path, const ValidateOptions& options,
                                  Diagnostics& diagnostics) {
  const std::vector<PublishedRow> published =
      asked_rows({path.empty() ? kBuiltInSteps : path}, options.filter, diagnostics);
  AnchorValidation validation;
  validation.left_out_source = options.leave_out_source;
  validation.left_out_choices = options.leave_out_choices;
  validation.rows.resize(published.size());
  std::size_t done = 0;
  const auto report = [&] {
    if (options.progress) options.progress(++done, 2 * published.size());
  };
  run_each_in_children(
      published.size(), [&](std::size_t i) { return row_alone(published[i], options); },
      options.jobs,
      [&](std::size_t i, ChildOutcome& outcome) {
        validation.rows[i] = anchored_row(published[i], outcome);
        report();
      });
  const std::vector<std::vector<Asked>> pairs = pairs_of(published, validation.rows);
  run_each_in_children(
      published.size(),
      [&](std::size_t i) {
        return pairs[i].empty() ? "[]" : row_with_anchors(published[i], pairs[i], options);
      },
      options.jobs,
      [&](std::size_t i, ChildOutcome& outcome) {
        take_predictions(validation.rows[i], pairs[i], outcome);
        report();
      });
  validation.summary = anchor_summaries(validation.rows);
  return validation;
}

}  // namespace headway

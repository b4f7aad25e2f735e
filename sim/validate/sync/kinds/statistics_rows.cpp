// Steps to the same quality at other batch sizes, from the gradient noise at one.
#include <fmt/format.h>

#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "sim/base/parse_number.h"
#include "sim/predict/statistics/steps_to_target.h"
#include "sim/validate/sync/sync_kind.h"

namespace headway {
namespace {

SyncOutcome predict_statistics(const SyncQuestion& question) {
  const nlohmann::json& value = *question.row.value;
  if (!value.is_object()) return refused("the row has no runs by batch size");
  struct Run {
    double steps = 0.0;
    double noise = 0.0;
  };
  std::map<std::int64_t, Run> runs;
  for (const auto& [batch, run] : value.items()) {
    const std::int64_t size = parse_number<std::int64_t>(batch).value_or(0);
    if (size > 0 && run.contains("last_iteration") && run.contains("mid_noise_scale")) {
      runs[size] = {run.at("last_iteration"), run.at("mid_noise_scale")};
    }
  }
  if (runs.size() < 2) return refused("one batch size has nothing to be held against");
  // Pollux's software keeps the variance of gradients of the batch that jobs begin with, whatever
  // their batch is, and estimates it from gradients of two steps where a step has but one, which it
  // calls biased (petuum/adaptdl at de5cad9, adaptdl/torch/gradient_noise_scale.py): the row's
  // product of variance and batch is too large by their ratio, and the least batch is left alone.
  const auto smallest = static_cast<double>(runs.begin()->first);
  const auto& [measured_batch, measured] = *std::next(runs.begin());
  const auto measured_samples = static_cast<double>(measured_batch);
  const double noise = measured.noise * smallest / measured_samples;
  SyncOutcome outcome;
  outcome.assumed = {
      fmt::format("the gradient noise scale of batch {}, {:.0f} samples: its variance is that of "
                  "batch {:g}",
                  measured_batch, noise, smallest)};
  for (const auto& [batch, run] : runs) {
    if (batch == measured_batch) continue;
    outcome.values.push_back({.what = fmt::format("steps at batch {}", batch),
                              .published = run.steps,
                              .predicted = measured.steps * steps_ratio(noise, measured_samples,
                                                                        static_cast<double>(batch)),
                              .ordered_with = "steps of " + question.row.id});
  }
  return outcome;
}

}  // namespace

SyncKind statistics_rows() {
  return {.name = "statistical efficiency",
          .about = "steps to the same quality at other batch sizes",
          .takes = [](const SyncRow& row) { return row.kind == "statistical_efficiency"; },
          .predict = predict_statistics};
}

}  // namespace headway

#include <fmt/format.h>

#include <optional>
#include <vector>

#include "reports/sections/prediction_sections.h"
#include "sim/base/quantity_text.h"
#include "sim/result/decision/choice.h"
#include "sim/result/decision/run_time.h"
#include "sim/result/number_text.h"
#include "sim/result/run_cost.h"
#include "sim/result/words/advice.h"
#include "sim/result/words/anchor_sentence.h"
#include "sim/result/words/cost_text.h"

namespace headway {
namespace {

/// What a rate would be if the iteration took `interval` instead of its median, lowest first.
Interval rate_interval(double rate, const Prediction& prediction) {
  const double work = rate * prediction.iteration_time.count();
  const Interval& time = prediction.iteration_interval;
  if (!(time.low > 0.0) || !(time.high > 0.0)) return {rate, rate};
  return {work / time.high, work / time.low};
}

std::string throughput_text(const Prediction& prediction, double rate) {
  return prefixed_count(rate) + (prediction.counts_tokens() ? " tokens/s" : " samples/s");
}

std::string sentences(const Prediction& prediction) {
  const TimeScale scale(prediction.iteration_time);
  std::string text =
      fmt::format("One iteration {} {}", prediction.memory.fits ? "takes" : "would take",
                  scale.with_unit(prediction.iteration_time));
  if (prediction.replicas > 1) {
    const Percentiles& runs = prediction.replica_time;
    text += fmt::format(
        ", the median of {} simulated runs (their own spread, by the draws alone, {} .. {})",
        prediction.replicas, scale.number(Seconds(runs.low)), scale.with_unit(Seconds(runs.high)));
  }
  return text +
         fmt::format(". That is {} at an MFU of {} %, {} of model work a second on each GPU. {}",
                     throughput_text(prediction, prediction.throughput()), percent(prediction.mfu),
                     short_text(Flops(prediction.model_flops_per_second_per_accelerator)),
                     closing_sentence(prediction));
}

KeyNumbers numbers(const Prediction& prediction) {
  const TimeScale scale(prediction.iteration_time);
  const Interval& time = prediction.iteration_interval;
  const Interval rate = rate_interval(prediction.throughput(), prediction);
  const double flops = prediction.model_flops_per_second_per_accelerator;
  const Interval work = rate_interval(flops, prediction);
  const Interval mfu = rate_interval(prediction.mfu, prediction);
  KeyNumbers key;
  const DecisionNumbers decision = decision_numbers(prediction);
  for (const Objective objective : objectives_beside_throughput({{{}, decision}})) {
    key.numbers.push_back({std::string(objective_title(objective)),
                           objective_text(objective, decision),
                           objective_interval_text(objective, decision)});
  }
  const bool is_about_more = !key.numbers.empty();
  key.numbers.push_back({"iteration", scale.with_unit(prediction.iteration_time),
                         fmt::format("{} .. {}", scale.number(Seconds(time.low)),
                                     scale.with_unit(Seconds(time.high)))});
  key.numbers.push_back(
      {"throughput", throughput_text(prediction, prediction.throughput()),
       fmt::format("{} .. {}", prefixed_count(rate.low), throughput_text(prediction, rate.high))});
  if (!is_about_more) {
    key.numbers.push_back({"model work a GPU", short_text(FlopsPerSecond(flops)),
                           fmt::format("{} .. {}", short_text(FlopsPerSecond(work.low)),
                                       short_text(FlopsPerSecond(work.high)))});
  }
  key.numbers.push_back({"MFU", percent(prediction.mfu) + " %",
                         fmt::format("{} .. {} %", percent(mfu.low), percent(mfu.high))});
  return key;
}

std::string further_numbers(const Prediction& prediction) {
  std::string text = fmt::format(
      "HFU, which counts recomputed operations too, is {} %; MFU with attention counted over the "
      "whole square is {} %.",
      percent(prediction.hfu), percent(prediction.mfu_whole_square));
  if (prediction.scaling) {
    const ScalingReference& reference = *prediction.scaling;
    text +=
        fmt::format(" Scaling efficiency is {} % of {} on {} GPU{}, where an iteration takes {}.",
                    percent(reference.efficiency), reference.description,
                    whole_number(reference.accelerators), reference.accelerators == 1 ? "" : "s",
                    TimeScale(reference.iteration_time).with_unit(reference.iteration_time));
  }
  return text;
}

/// "The run costs US$ 1.2 M, 45 GJ and 3 k kg of CO2." Empty where the scenario gives no prices.
std::string cost_sentence(const Prediction& prediction) {
  const std::optional<RunCost> cost = run_cost(prediction);
  const std::string text = cost ? cost_text(*cost) : "";
  if (text.empty()) return "";
  return fmt::format("{} costs {}.", cost->run ? "The whole run" : "An iteration", text);
}

/// What makes the interval of the time to train; empty where nothing says how long the run is.
std::string run_sentence(const Prediction& prediction) {
  if (!run_time(prediction)) return "";
  return fmt::format(
      "The run has {}. Its interval holds what the prediction of an iteration may be off{}.",
      prediction.statistics ? prefixed_count(prediction.statistics->steps) + " steps"
                            : prefixed_count(*run_tokens(prediction)) +
                                  (prediction.counts_tokens() ? " tokens" : " samples"),
      prediction.reliability ? " and how its histories with failures differ"
                             : "; nothing fails in this scenario");
}

}  // namespace

DocumentSection answer_section(const Prediction& prediction) {
  DocumentSection section{"Answer", {}};
  if (was_simulated(prediction)) {
    section.blocks = {Paragraph{sentences(prediction)}, numbers(prediction),
                      Paragraph{further_numbers(prediction)}};
    for (const std::string& sentence : {run_sentence(prediction), cost_sentence(prediction)}) {
      if (!sentence.empty()) section.blocks.emplace_back(Paragraph{sentence});
    }
    if (prediction.anchor) {
      section.blocks.emplace_back(Paragraph{
          fmt::format("Anchored by a measured step: {}.", anchor_sentence(*prediction.anchor))});
    }
  } else {
    section.blocks.emplace_back(Paragraph{closing_sentence(prediction) + " It was not simulated."});
  }
  for (const std::string& warning : prediction.warnings) {
    section.blocks.emplace_back(Notice{warning});
  }
  return section;
}

}  // namespace headway

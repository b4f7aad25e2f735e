#include "sim/result/json/result_parts_json.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace headway {
namespace {

nlohmann::json finite(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(nullptr);
}

}  // namespace

nlohmann::json percentiles_json(const Percentiles& of) {
  return {{"mean", of.mean}, {"p5", of.low}, {"p50", of.median}, {"p95", of.high}};
}

void add_reliability_json(nlohmann::json& result, const ReliabilityPrediction& of) {
  result["goodput"] = of.goodput.mean;
  result["ettr"] = of.ettr.mean;
  if (!of.time_to_train_s.empty()) {
    double sum = 0.0;
    for (const double time : of.time_to_train_s) sum += time;
    result["time_to_train_s"] = {
        {"mean", finite(sum / static_cast<double>(of.time_to_train_s.size()))},
        {"p5", finite(of.time_to_train(0.05).count())},
        {"p50", finite(of.time_to_train(0.5).count())},
        {"p95", finite(of.time_to_train(0.95).count())}};
  }
  nlohmann::json times = nlohmann::json::array();
  for (const double time : of.time_to_train_s) times.push_back(finite(time));
  result["long_run"] = {{"time_to_train_s", std::move(times)},
                        {"runs", of.runs},
                        {"goodput", percentiles_json(of.goodput)},
                        {"ettr", percentiles_json(of.ettr)},
                        {"tokens_per_s", of.tokens_per_second},
                        {"interruptions", percentiles_json(of.interruptions)},
                        {"interruptions_by_cause", of.interruptions_by_cause},
                        {"job_mttf_s", finite(of.job_mttf.count())},
                        {"lost_gpu_hours", of.lost_gpu_hours},
                        {"lost_gpu_hours_by_cause", of.lost_gpu_hours_by_cause},
                        {"checkpoint",
                         {{"interval_s", of.checkpoint_interval.count()},
                          {"interval_by", of.interval_by},
                          {"young_interval_s", finite(of.young_interval.count())},
                          {"daly_interval_s", finite(of.daly_interval.count())},
                          {"bytes", of.checkpoint_size.count()},
                          {"blocking_s", of.checkpoint_blocking.count()}}}};
}

nlohmann::json shared_fabric_json(const SharedFabric& shared) {
  nlohmann::json stays = nlohmann::json::array();
  for (const SharedFabric::Stay& stay : shared.stays) {
    stays.push_back(
        {{"job", stay.job},
         {"from_s", stay.from},
         {"to_s", std::isfinite(stay.to) ? nlohmann::json(stay.to) : nlohmann::json(nullptr)},
         {"gpus", stay.accelerators},
         {"samples", stay.samples},
         {"alone_s", stay.alone.count()},
         {"iteration_time_s", stay.shared.count()},
         {"slowdown", stay.slowdown()}});
  }
  nlohmann::json totals = nlohmann::json::array();
  for (const SharedFabric::Total& total : shared.totals()) {
    totals.push_back(
        {{"job", total.job}, {"samples", total.samples}, {"slowdown", total.slowdown}});
  }
  return {{"stays", std::move(stays)}, {"totals", std::move(totals)}};
}

nlohmann::json what_if_json(const WhatIf& what_if) {
  const Seconds lost = what_if.time - what_if.ideal;
  nlohmann::json removals = nlohmann::json::array();
  for (const Removal& removal : what_if.removals) {
    removals.push_back({{"kind", removal_kind_name(removal.kind)},
                        {"what", removal.what},
                        {"iteration_time_s", removal.without.count()},
                        {"gain_s", removal.gain.count()},
                        {"gpu_hours_per_iteration", what_if.gpu_hours_an_iteration(removal.gain)},
                        {"gpu_hours_per_day", what_if.gpu_hours_a_day(removal.gain)}});
  }
  return {{"iteration_time_s", what_if.time.count()},
          {"ideal_time_s", what_if.ideal.count()},
          {"slowdown", what_if.slowdown()},
          {"wasted_share", what_if.wasted_share()},
          {"wasted_gpu_hours_per_iteration", what_if.gpu_hours_an_iteration(lost)},
          {"wasted_gpu_hours_per_day", what_if.gpu_hours_a_day(lost)},
          {"slowest_stage", what_if.slowest_stage},
          {"stage_imbalance", what_if.stage_imbalance},
          {"removals", std::move(removals)}};
}

nlohmann::json helps_json(const std::vector<Sensitivity>& helps) {
  nlohmann::json list = nlohmann::json::array();
  for (const Sensitivity& one : helps) {
    list.push_back({{"name", one.name},
                    {"what", one.title},
                    {"iteration_time_s", one.iteration_time.count()},
                    {"speedup", one.speedup}});
  }
  return list;
}

}  // namespace headway

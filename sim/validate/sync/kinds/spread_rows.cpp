// Throughput in one machine and over machines of one accelerator each.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/validate/sync/sync_kind.h"
#include "sim/validate/sync/sync_scenario.h"

namespace headway {
namespace {

/// A job as a row tells it: accelerator and model, and what rows mostly leave open.
struct SpreadJob {
  NamedAccelerator accelerator;
  NamedModel model;
  int batch = 64;  ///< of an accelerator
  std::string precision = "fp32";
};

double spread_rate(const SpreadJob& job, int machines, int per_machine, double compute,
                   BytesPerSecond network) {
  SwitchedNodes cluster = nodes_of(job.accelerator);
  cluster.nodes = machines;
  cluster.per_node = per_machine;
  cluster.nic_bandwidth = network;
  const int samples = job.batch * machines * per_machine;
  Scenario scenario = scenario_from({{"model", *job.model.model},
                                     {"cluster", switched_nodes(cluster)},
                                     {"profile", job.accelerator.profile},
                                     {"strategy",
                                      {{"preset", "horovod"},
                                       {"precision", job.precision},
                                       {"micro_batch", job.batch},
                                       {"global_batch", samples}}}});
  scenario.software_factor = compute;
  return samples / iteration_seconds(scenario);
}

SyncOutcome predict_spread(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  const nlohmann::json& value = *row.value;
  const bool has_both = value.is_array() && value.size() == 2 && value[0].is_array() &&
                        value[1].is_array() && value[0].size() == value[1].size() &&
                        value[0].size() > 2;
  if (!has_both) return refused("the row does not tell both placements");
  const auto accelerator = named_accelerator(row.set_up);
  if (const auto* reason = std::get_if<std::string>(&accelerator)) return refused(*reason);
  const auto model = named_model(row.set_up);
  if (const auto* reason = std::get_if<std::string>(&model)) return refused(*reason);
  SpreadJob job{.accelerator = std::get<NamedAccelerator>(accelerator),
                .model = std::get<NamedModel>(model)};
  const auto batch = batch_of_each(row.set_up);
  if (batch) job.batch = static_cast<int>(*batch);
  if (const auto precision = said_precision(row.set_up)) job.precision = *precision;
  constexpr BytesPerSecond kAnyNetwork(1e9);
  const double alone = value[0][0];
  const double compute = spread_rate(job, 1, 1, 1.0, kAnyNetwork) / alone;
  constexpr double kSlowest = 1e7;
  constexpr double kFastest = 1e11;
  const double two = value[1][1];
  const BytesPerSecond network(where_it_is(two, kSlowest, kFastest, [&](double rate) {
    return spread_rate(job, 2, 1, compute, BytesPerSecond(rate));
  }));
  SyncOutcome outcome;
  outcome.assumed = {
      fmt::format("{} images an accelerator; compute {:.2f} times ours, from one accelerator",
                  job.batch, compute),
      fmt::format("{:.2f} Gb/s between machines, from two", network.count() * 8.0 / 1e9)};
  int accelerators = 2;
  for (std::size_t i = 1; i < value[0].size(); ++i, accelerators *= 2) {
    outcome.values.push_back({.what = fmt::format("images/s, {} in a machine", accelerators),
                              .published = value[0][i],
                              .predicted = spread_rate(job, 1, accelerators, compute, network),
                              .ordered_with = row.id});
    if (i == 1) continue;  // the network comes from it
    outcome.values.push_back({.what = fmt::format("images/s, {} machines", accelerators),
                              .published = value[1][i],
                              .predicted = spread_rate(job, accelerators, 1, compute, network),
                              .ordered_with = row.id});
  }
  return outcome;
}

}  // namespace

SyncKind spread_rows() {
  return {.name = "data parallel, spread",
          .about = "throughput in one machine and over machines of one accelerator each",
          .takes =
              [](const SyncRow& row) {
                return row.kind == "ddp_measured" &&
                       row.metric.find("images/s") != std::string::npos;
              },
          .predict = predict_spread};
}

}  // namespace headway

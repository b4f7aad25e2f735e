// Throughput in one machine and over machines of one accelerator each.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/validate/sync/sync_kind.h"
#include "sim/validate/sync/sync_scenario.h"

namespace headway {
namespace {

constexpr int kSpreadBatch = 64;

Scenario spread_job(int machines, int per_machine, double compute, BytesPerSecond network) {
  Scenario scenario =
      scenario_from({{"model", "resnet_50"},
                     {"cluster", switched_nodes({.accelerator = kV100Server.accelerator,
                                                 .nodes = machines,
                                                 .per_node = per_machine,
                                                 .scale_up_bandwidth = kV100Server.scale_up,
                                                 .nic_bandwidth = network})},
                     {"profile", kV100Server.profile},
                     {"strategy",
                      {{"preset", "horovod"},
                       {"precision", "fp32"},
                       {"micro_batch", kSpreadBatch},
                       {"global_batch", kSpreadBatch * machines * per_machine}}}});
  scenario.software_factor = compute;
  return scenario;
}

double spread_rate(int machines, int per_machine, double compute, BytesPerSecond network) {
  return kSpreadBatch * machines * per_machine /
         iteration_seconds(spread_job(machines, per_machine, compute, network));
}

SyncOutcome predict_spread(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  const nlohmann::json& value = *row.value;
  const bool has_both = value.is_array() && value.size() == 2 && value[0].is_array() &&
                        value[1].is_array() && value[0].size() == value[1].size() &&
                        value[0].size() > 2;
  if (!has_both || row.set_up.find("ResNet-50") == std::string::npos ||
      row.set_up.find("V100") == std::string::npos) {
    return refused("the row is not of ResNet-50 on V100, or does not tell both placements");
  }
  constexpr BytesPerSecond kAnyNetwork(1e9);
  const double alone = value[0][0];
  const double compute = spread_rate(1, 1, 1.0, kAnyNetwork) / alone;
  constexpr double kSlowest = 1e7;
  constexpr double kFastest = 1e11;
  const double two = value[1][1];
  const BytesPerSecond network(where_it_is(two, kSlowest, kFastest, [&](double rate) {
    return spread_rate(2, 1, compute, BytesPerSecond(rate));
  }));
  SyncOutcome outcome;
  outcome.assumed = {
      fmt::format("{} images an accelerator; compute {:.2f} times ours, from one accelerator",
                  kSpreadBatch, compute),
      fmt::format("{:.2f} Gb/s between machines, from two", network.count() * 8.0 / 1e9)};
  int accelerators = 2;
  for (std::size_t i = 1; i < value[0].size(); ++i, accelerators *= 2) {
    outcome.values.push_back({.what = fmt::format("images/s, {} in a machine", accelerators),
                              .published = value[0][i],
                              .predicted = spread_rate(1, accelerators, compute, network),
                              .ordered_with = row.id});
    if (i == 1) continue;  // the network comes from it
    outcome.values.push_back({.what = fmt::format("images/s, {} machines", accelerators),
                              .published = value[1][i],
                              .predicted = spread_rate(accelerators, 1, compute, network),
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
                       row.set_up.find("Horovod") != std::string::npos;
              },
          .predict = predict_spread};
}

}  // namespace headway

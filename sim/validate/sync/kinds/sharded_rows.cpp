// Fully sharded steps: rates over accelerators, and what fetching ahead is worth.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/predict/simulate.h"
#include "sim/validate/sync/sync_kind.h"
#include "sim/validate/sync/sync_scenario.h"

namespace headway {
namespace {

/// On nodes of eight.
struct ShardedJob {
  NamedModel model;
  NamedAccelerator accelerator;
  BytesPerSecond node_network;
  int micro_batch = 1;
};

Scenario sharded_scenario(const ShardedJob& job, int accelerators, bool ahead) {
  constexpr int kOfNode = 8;
  SwitchedNodes cluster = nodes_of(job.accelerator);
  cluster.nodes = std::max(1, accelerators / kOfNode);
  cluster.per_node = std::min(accelerators, kOfNode);
  cluster.nics = cluster.per_node;
  cluster.nic_bandwidth = job.node_network / kOfNode;
  cluster.nic_latency = Seconds(1e-6);
  return scenario_from({{"model", *job.model.model},
                        {"cluster", switched_nodes(cluster)},
                        {"profile", job.accelerator.profile},
                        {"strategy",
                         {{"preset", "pytorch-fsdp1"},
                          {"attention", "unfused"},
                          {"recompute", "full"},
                          {"overlap_parameter_gather", ahead},
                          {"micro_batch", job.micro_batch},
                          {"global_batch", job.micro_batch * accelerators}}}});
}

/// TFLOP/s of an accelerator, what is recomputed counted.
double counted_rate(const Scenario& scenario) {
  const Prediction prediction =
      simulate(scenario, {.scaling = false, .even_if_it_does_not_fit = true}).prediction;
  return prediction.hfu / prediction.mfu * prediction.model_flops_per_second_per_accelerator / 1e12;
}

SyncOutcome predict_sharded(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  const auto model = named_model(row.set_up);
  if (const auto* reason = std::get_if<std::string>(&model)) return refused(*reason);
  const auto accelerator = named_accelerator(row.set_up);
  if (const auto* reason = std::get_if<std::string>(&accelerator)) return refused(*reason);
  const auto network = network_rate(row.set_up);
  const auto published = value_at(row, 0);
  if (!network || !published) return refused("the row does not say the network of a node");
  ShardedJob job{.model = std::get<NamedModel>(model),
                 .accelerator = std::get<NamedAccelerator>(accelerator),
                 .node_network = *network};
  SyncOutcome outcome;
  outcome.assumed = {"eight NICs a node, which share what the row says of the network"};
  if (row.metric.find("prefetch") != std::string::npos) {
    constexpr int kMany = 128;
    const double fetched = iteration_seconds(sharded_scenario(job, kMany, true));
    const double waited = iteration_seconds(sharded_scenario(job, kMany, false));
    outcome.values = {{.what = "gained by fetching ahead",
                       .published = *published / 100.0,
                       .predicted = waited / fetched - 1.0,
                       .is_share = true}};
    return outcome;
  }
  if (row.metric.find("TFLOP") == std::string::npos) {
    return refused("its metric is neither TFLOP/s nor what prefetching is worth");
  }
  job.micro_batch = static_cast<int>(batch_of_each(row.set_up).value_or(1.0));
  const std::string sizes = parts_of(row.set_up, ";").back();
  const auto fewest = number_before(sizes, "to");
  const auto most = number_after(sizes, "to");
  if (!fewest || !most || *fewest < 1.0) {
    return refused("the row does not end with \"128 to 512 GPUs\"");
  }
  for (int size = static_cast<int>(*fewest); size <= static_cast<int>(*most); size *= 2) {
    outcome.values.push_back({.what = fmt::format("TFLOP/s on {}", size),
                              .published = *published,
                              .predicted = counted_rate(sharded_scenario(job, size, true))});
  }
  return outcome;
}

}  // namespace

SyncKind sharded_rows() {
  return {.name = "fully sharded",
          .about = "rates of FSDP over accelerators, and what fetching ahead is worth",
          .takes = [](const SyncRow& row) { return row.kind == "fsdp"; },
          .predict = predict_sharded};
}

}  // namespace headway

// Data-parallel steps by placement: compute from one accelerator, the network from one row.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "sim/validate/sync/sync_kind.h"
#include "sim/validate/sync/sync_scenario.h"

namespace headway {
namespace {

struct PlacedJob {
  NamedModel model;
  NamedAccelerator accelerator;
  std::string precision;
  std::optional<BytesPerSecond> network;  ///< of a node, as the row says it
  int nodes = 1;
  int per_node = 1;
  double batch = 1.0;  ///< of an accelerator

  [[nodiscard]] int accelerators() const { return nodes * per_node; }
};

/// Nodes and accelerators of "GPUs a node: 2+2", "GPUs per node: 2+2" or "8 nodes, 32 GPUs". Nodes
/// that hold unlike numbers count as alike ones with as many in all: a ring crosses each node's
/// network once.
std::optional<std::pair<int, int>> nodes_and_accelerators(const std::string& text) {
  std::string listed = text_between(text, "GPUs a node: ", ";");
  if (listed.empty()) listed = text_between(text, "GPUs per node: ", ";");
  if (!listed.empty()) {
    double sum = 0.0;
    const std::vector<std::string> nodes = parts_of(listed, "+");
    for (const std::string& node : nodes) {
      const auto count = number_after(node, "");
      if (!count) return std::nullopt;
      sum += *count;
    }
    return std::pair(static_cast<int>(nodes.size()), static_cast<int>(sum));
  }
  const auto nodes = number_before(text, "nodes,");
  auto all = number_before(text, "GPUs;");
  if (!all) all = number_before(text_between(text, "nodes,", ";"), "GPU");
  if (!nodes || !all) return std::nullopt;
  return std::pair(static_cast<int>(*nodes), static_cast<int>(*all));
}

ReadWords<PlacedJob> placed_job(const SyncRow& row) {
  if (row.metric.find("step time") == std::string::npos) return "its metric is no step time";
  const auto model = named_model(row.set_up);
  if (const auto* reason = std::get_if<std::string>(&model)) return *reason;
  const auto accelerator = named_accelerator(row.set_up);
  if (const auto* reason = std::get_if<std::string>(&accelerator)) return *reason;
  const auto of_each = batch_of_each(row.set_up);
  const auto of_all = said_batch(row.set_up).of_all;
  const auto placed = nodes_and_accelerators(row.set_up);
  if (!placed) return "the row does not say nodes: \"GPUs a node: 2+2\" or \"8 nodes, 32 GPUs\"";
  const auto [nodes, accelerators] = *placed;
  if (nodes < 1 || accelerators < nodes) return "it has fewer accelerators than nodes";
  if (!of_each && !of_all) return "the row does not say samples a GPU";
  // Nodes that hold unlike numbers count as one an accelerator where they do not divide: a ring
  // sends as much over a node's network then.
  const bool is_even = accelerators % nodes == 0;
  return PlacedJob{.model = std::get<NamedModel>(model),
                   .accelerator = std::get<NamedAccelerator>(accelerator),
                   .precision = said_precision(row.set_up).value_or("fp16"),
                   .network = network_rate(row.set_up),
                   .nodes = is_even ? nodes : accelerators,
                   .per_node = is_even ? accelerators / nodes : 1,
                   .batch = of_each ? *of_each : *of_all / accelerators};
}

/// Whether one tells something of the other: accelerators of one kind in nodes of one network.
bool are_of_one_cluster(const PlacedJob& a, const PlacedJob& b) {
  return a.accelerator.profile == b.accelerator.profile &&
         a.accelerator.words == b.accelerator.words && a.network == b.network;
}

/// What is calibrated: how much longer than by its data sheet an accelerator computes, and the rate
/// of a node's network.
struct Calibrated {
  double compute = 1.0;
  BytesPerSecond network = BytesPerSecond(6.25e9);
};

Scenario placed_scenario(const PlacedJob& job, const Calibrated& calibrated) {
  const auto batch = static_cast<std::int64_t>(job.batch);
  SwitchedNodes cluster = nodes_of(job.accelerator);
  cluster.nodes = job.nodes;
  cluster.per_node = job.per_node;
  cluster.nic_bandwidth = calibrated.network;
  Scenario scenario = scenario_from({{"model", *job.model.model},
                                     {"cluster", switched_nodes(cluster)},
                                     {"profile", job.accelerator.profile},
                                     {"strategy",
                                      {{"preset", "pytorch-ddp"},
                                       {"precision", job.precision},
                                       {"micro_batch", batch},
                                       {"global_batch", batch * job.accelerators()}}}});
  scenario.software_factor = calibrated.compute;
  return scenario;
}

/// A row of one accelerator of the model, the batch as near as may be; without one, what other rows
/// of it do not synchronise in.
struct ComputeRow {
  const SyncRow* row = nullptr;
  PlacedJob job;
  double seconds = 0.0;
};
std::optional<ComputeRow> compute_row(const SyncQuestion& question, const PlacedJob& job) {
  std::optional<ComputeRow> best;
  double nearest = 0.0;
  for (const SyncRow& row : question.known) {
    if (row.kind != question.row.kind) continue;
    const auto read = placed_job(row);
    const auto* other = std::get_if<PlacedJob>(&read);
    const auto step = value_at(row, 0);
    const auto exposed = value_at(row, 1);
    if (other == nullptr || !are_of_one_cluster(*other, job) || !step) continue;
    if (other->model.words != job.model.words) continue;
    const bool is_single = other->accelerators() == 1;
    if (!is_single && (row.id == question.row.id || !exposed)) continue;
    constexpr double kLastResort = 1e3;
    const double distance =
        std::abs(std::log(other->batch / job.batch)) + (is_single ? 0.0 : kLastResort);
    if (best && distance >= nearest) continue;
    nearest = distance;
    best = ComputeRow{&row, *other, *step - (is_single ? 0.0 : *exposed)};
  }
  if (best) best->job.nodes = best->job.per_node = 1;
  return best;
}

/// By what our time of one accelerator is to be multiplied. Nearly all of it scales.
double compute_factor(const ComputeRow& row) {
  const double ours = iteration_seconds(placed_scenario(row.job, {}));
  return row.seconds / ours;
}

struct NetworkRow {
  const SyncRow* row = nullptr;
  PlacedJob job;
};
/// The row of several nodes that the network is taken from: the first of a model that is rich in
/// parameters and poor in arithmetic, so that it tells the network well.
std::optional<NetworkRow> network_row(const SyncQuestion& question, const PlacedJob& asked) {
  for (const std::string_view model : {"BERT base", "YOLOv3", "ResNet 50"}) {
    for (const SyncRow& row : question.known) {
      if (row.kind != question.row.kind) continue;
      const auto read = placed_job(row);
      const auto* job = std::get_if<PlacedJob>(&read);
      if (job == nullptr || job->model.words != model || job->nodes == 1) continue;
      if (are_of_one_cluster(*job, asked) && value_at(row, 1)) return NetworkRow{&row, *job};
    }
  }
  return std::nullopt;
}

/// The rate at which that row's step comes out as published. Its own time outside of
/// synchronisation is its compute.
BytesPerSecond network_of(const NetworkRow& told) {
  const PlacedJob& job = told.job;
  const double step = *value_at(*told.row, 0);
  const double compute = step - *value_at(*told.row, 1);
  PlacedJob alone = job;
  alone.nodes = alone.per_node = 1;
  Calibrated calibrated{.compute = compute / iteration_seconds(placed_scenario(alone, {}))};
  constexpr double kSlowest = 1e7;
  constexpr double kFastest = 1e11;
  return BytesPerSecond(where_it_is(step, kSlowest, kFastest, [&](double rate) {
    calibrated.network = BytesPerSecond(rate);
    return iteration_seconds(placed_scenario(job, calibrated));
  }));
}

SyncOutcome predict_placed(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  const auto read = placed_job(row);
  if (const auto* reason = std::get_if<std::string>(&read)) return refused(*reason);
  const auto& job = std::get<PlacedJob>(read);
  const auto step = value_at(row, 0);
  if (!step) return refused("the row has no step time");
  const auto measured = compute_row(question, job);
  const auto network = network_row(question, job);
  SyncOutcome outcome;
  Calibrated calibrated;
  if (measured) {
    calibrated.compute = compute_factor(*measured);
    outcome.assumed.push_back(fmt::format("compute {:.2f} times the data sheet's, from {}",
                                          calibrated.compute, measured->row->id));
    outcome.calibrates = measured->row->id == row.id;
  } else {
    outcome.assumed.emplace_back("compute by the data sheet: no row is of one accelerator");
  }
  if (job.nodes > 1) {
    if (network) {
      calibrated.network = network_of(*network);
      outcome.assumed.push_back(fmt::format("{:.2f} Gb/s between nodes, from {}",
                                            calibrated.network.count() * 8.0 / 1e9,
                                            network->row->id));
      outcome.calibrates = outcome.calibrates || network->row->id == row.id;
    } else if (job.network || job.accelerator.network) {
      calibrated.network = job.network ? *job.network : *job.accelerator.network;
    } else {
      return refused("no row tells the rate of the network, and this one does not say it");
    }
  }
  outcome.values = {{.what = "step, s",
                     .published = *step,
                     .predicted = iteration_seconds(placed_scenario(job, calibrated)),
                     .ordered_with = "steps of " + job.model.words}};
  return outcome;
}

}  // namespace

SyncKind data_parallel_rows() {
  return {.name = "data parallel, placement",
          .about = "steps by placement, compute from one accelerator and the network from one row",
          .takes =
              [](const SyncRow& row) {
                return row.kind == "ddp_measured" &&
                       row.metric.find("images/s") == std::string::npos;
              },
          .predict = predict_placed};
}

}  // namespace headway

// Data-parallel steps by placement: compute from one accelerator, the network from one row.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

#include "sim/validate/sync/sync_kind.h"
#include "sim/validate/sync/sync_scenario.h"

namespace headway {
namespace {

/// How set-ups call what they train, and what the library has of it.
struct NamedModel {
  std::string_view words;
  std::string_view model;
};
constexpr std::array kPlacedModels = {NamedModel{"ResNet-18 on CIFAR-10", "resnet_18_cifar"},
                                      NamedModel{"ResNet-50", "resnet_50"},
                                      NamedModel{"BERT-base", "bert_base"},
                                      NamedModel{"YOLOv3", "yolov3"}, NamedModel{"NeuMF", "neumf"}};

struct PlacedJob {
  std::string model;
  int nodes = 1;
  int per_node = 1;
  double batch = 1.0;  ///< of an accelerator

  [[nodiscard]] int accelerators() const { return nodes * per_node; }
};

/// Nodes and accelerators of "GPUs a node: 2+2" or "8 nodes, 32 GPUs". Nodes that hold unlike
/// numbers count as alike ones with as many in all: a ring crosses each node's network once.
std::optional<std::pair<int, int>> nodes_and_accelerators(const std::string& text) {
  const std::string listed = text_between(text, "GPUs a node: ", ";");
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
  const auto all = number_before(text, "GPUs;");
  if (!nodes || !all) return std::nullopt;
  return std::pair(static_cast<int>(*nodes), static_cast<int>(*all));
}

std::optional<PlacedJob> placed_job(const SyncRow& row) {
  const NamedModel* const model = named_in(kPlacedModels, row.set_up);
  // The cluster stands before the first semicolons; placements after the model.
  const auto batch = number_before(row.set_up, "samples a GPU");
  const auto placed = nodes_and_accelerators(row.set_up);
  if (model == nullptr || !batch || !placed) return std::nullopt;
  const auto [nodes, accelerators] = *placed;
  // Nodes that hold unlike numbers count as one an accelerator where they do not divide: a ring
  // sends as much over a node's network then.
  const bool is_even = accelerators % nodes == 0;
  return PlacedJob{.model = std::string(model->model),
                   .nodes = is_even ? nodes : accelerators,
                   .per_node = is_even ? accelerators / nodes : 1,
                   .batch = *batch};
}

/// What is calibrated: how much longer than by its data sheet an accelerator computes, and the rate
/// of a node's network.
struct Calibrated {
  double compute = 1.0;
  BytesPerSecond network = BytesPerSecond(6.25e9);
};

Scenario placed_scenario(const PlacedJob& job, const Calibrated& calibrated) {
  const auto batch = static_cast<std::int64_t>(job.batch);
  Scenario scenario =
      scenario_from({{"model", job.model},
                     {"cluster", switched_nodes({.accelerator = "t4",
                                                 .nodes = job.nodes,
                                                 .per_node = job.per_node,
                                                 .nic_bandwidth = calibrated.network})},
                     {"profile", "t4"},
                     {"strategy",
                      {{"preset", "pytorch-ddp"},
                       {"precision", "fp16"},
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
    const auto other = row.kind == question.row.kind ? placed_job(row) : std::nullopt;
    const auto step = value_at(row, 0);
    const auto exposed = value_at(row, 1);
    if (!other || other->model != job.model || !step || !exposed) continue;
    const bool is_single = other->accelerators() == 1;
    if (!is_single && row.id == question.row.id) continue;
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

/// The row of several nodes that the network is taken from: the first of a model that is rich in
/// parameters and poor in arithmetic, so that it tells the network well.
const SyncRow* network_row(const SyncQuestion& question) {
  for (const std::string_view model : {"bert_base", "yolov3", "resnet_50"}) {
    for (const SyncRow& row : question.known) {
      const auto job = row.kind == question.row.kind ? placed_job(row) : std::nullopt;
      if (job && job->model == model && job->nodes > 1 && value_at(row, 1)) return &row;
    }
  }
  return nullptr;
}

/// The rate at which that row's step comes out as published. Its own time outside of
/// synchronisation is its compute.
BytesPerSecond network_of(const SyncRow& row) {
  PlacedJob job = *placed_job(row);
  const double step = *value_at(row, 0);
  const double compute = step - *value_at(row, 1);
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
  const auto job = placed_job(row);
  if (!job) return refused("its model is not in the library, or its nodes are not told");
  const auto step = value_at(row, 0);
  const auto measured = compute_row(question, *job);
  const SyncRow* const network = network_row(question);
  if (!step || !measured) return refused("no other row tells what one accelerator takes");
  SyncOutcome outcome;
  Calibrated calibrated{.compute = compute_factor(*measured)};
  outcome.assumed.push_back(fmt::format("compute {:.2f} times the data sheet's, from {}",
                                        calibrated.compute, measured->row->id));
  if (job->nodes > 1) {
    if (network == nullptr) return refused("no row tells the rate of the network");
    calibrated.network = network_of(*network);
    outcome.assumed.push_back(fmt::format("{:.2f} Gb/s between nodes, from {}",
                                          calibrated.network.count() * 8.0 / 1e9, network->id));
  }
  outcome.calibrates = measured->row->id == row.id || (network != nullptr && network->id == row.id);
  outcome.values = {{.what = "step, s",
                     .published = *step,
                     .predicted = iteration_seconds(placed_scenario(*job, calibrated)),
                     .ordered_with = "steps of " + job->model}};
  return outcome;
}

}  // namespace

SyncKind data_parallel_rows() {
  return {.name = "data parallel, placement",
          .about = "steps by placement, compute from one accelerator and the network from one row",
          .takes =
              [](const SyncRow& row) {
                return row.kind == "ddp_measured" && row.set_up.find("g4dn") != std::string::npos;
              },
          .predict = predict_placed};
}

}  // namespace headway

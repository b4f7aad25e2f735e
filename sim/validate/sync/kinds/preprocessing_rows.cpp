// Processor cores that an accelerator's input takes, from those that another network's takes.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <optional>

#include "sim/validate/sync/sync_kind.h"
#include "sim/validate/sync/sync_scenario.h"

namespace headway {
namespace {

struct FedNetwork {
  std::string_view words;
  std::string_view model;
};
constexpr std::array kFedNetworks = {
    FedNetwork{"ResNet-18", "resnet_18"}, FedNetwork{"ResNet18", "resnet_18"},
    FedNetwork{"ResNet-50", "resnet_50"}, FedNetwork{"ResNet50", "resnet_50"},
    FedNetwork{"AlexNet", "alexnet"},     FedNetwork{"VGG", "vgg_16"}};

bool tells_stall(const SyncRow& row) {
  return row.kind == "data_stall" && row.metric.find("stalled on prep") != std::string::npos;
}

bool tells_cores(const SyncRow& row) {
  return row.kind == "data_stall" && row.metric.find("cores") != std::string::npos;
}

/// The network that a metric is about; set-ups may name others.
const FedNetwork* fed_network(const SyncRow& row) {
  const FedNetwork* const of_metric = named_in(kFedNetworks, row.metric);
  return of_metric != nullptr ? of_metric : named_in(kFedNetworks, row.set_up);
}

/// The middle of "3 to 4" cores.
std::optional<double> cores_of(const SyncRow& row) {
  const auto fewest = value_at(row, 0);
  if (!fewest) return std::nullopt;
  return (*fewest + value_at(row, 1).value_or(*fewest)) / 2.0;
}

double images_fed(const FedNetwork& network, int batch) {
  const Scenario scenario = scenario_from(
      {{"model", network.model},
       {"cluster",
        switched_nodes({.accelerator = "v100-sxm", .nic_bandwidth = BytesPerSecond(1.25e9)})},
       {"profile", "v100_sxm"},
       {"strategy",
        {{"preset", "pytorch-ddp"},
         {"precision", "fp16"},
         {"micro_batch", batch},
         {"global_batch", batch}}}});
  return batch / iteration_seconds(scenario);
}

SyncOutcome predict_prepared(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  const FedNetwork* const network = fed_network(row);
  const bool is_stall = tells_stall(row);
  const auto published = is_stall ? value_at(row, 0) : cores_of(row);
  const auto given = number_before(row.set_up, "cores a GPU");
  const auto batch = number_before(row.set_up, "images a GPU");
  const bool is_v100 = row.set_up.find("V100") != std::string::npos;
  if (network == nullptr || !published || !batch || !is_v100 || (is_stall && !given)) {
    return refused("the row does not say cores for a network of the library on V100");
  }
  if (row.set_up.find("GPU preprocessing") != std::string::npos) {
    return refused("the row does not say how much of preparing the accelerator takes over");
  }
  const auto known = std::ranges::find_if(question.known, [&](const SyncRow& other) {
    return tells_cores(other) && fed_network(other) != nullptr && cores_of(other) &&
           fed_network(other)->model == "resnet_50";
  });
  if (known == question.known.end()) return refused("no row tells what a core prepares");
  const double rate =
      images_fed(*fed_network(*known), static_cast<int>(*batch)) / *cores_of(*known);
  SyncOutcome outcome;
  outcome.calibrates = known->id == row.id;
  outcome.assumed = {fmt::format("{:.0f} images a second and core, from {}", rate, known->id)};
  // Images are decoded and cropped alike whatever is trained: cores follow images a second.
  const double cores = images_fed(*network, static_cast<int>(*batch)) / rate;
  if (is_stall) {
    outcome.values = {{.what = "share of the time without input",
                       .published = *published / 100.0,
                       .predicted = std::max(0.0, 1.0 - *given / cores),
                       .is_share = true}};
    return outcome;
  }
  outcome.values = {
      {.what = "cores", .published = *published, .predicted = cores, .ordered_with = "cores"}};
  return outcome;
}

}  // namespace

SyncKind preprocessing_rows() {
  return {.name = "input, cores",
          .about = "processor cores that keep an accelerator fed, from those of another network",
          .takes = [](const SyncRow& row) { return tells_cores(row) || tells_stall(row); },
          .predict = predict_prepared};
}

}  // namespace headway

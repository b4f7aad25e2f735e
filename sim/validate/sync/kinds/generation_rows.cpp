// Steps by generation of accelerator, from data sheets alone, and by how workers are spread.
#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "sim/validate/sync/sync_kind.h"
#include "sim/validate/sync/sync_scenario.h"

namespace headway {
namespace {

/// As public clouds rent them: eight V100 on NVLink, four P100 that have PCIe only, four boards of
/// two K80, of which four share 16 lanes of PCIe.
struct Generation {
  std::string_view published;
  ServerKind server;
  int per_node;
};
constexpr std::array kGenerations = {
    Generation{"v100", kV100Server, 8},
    Generation{"p100", {kP100Server.accelerator, kP100Server.profile, BytesPerSecond(16e9)}, 4},
    Generation{"k80", {kK80Server.accelerator, kK80Server.profile, BytesPerSecond(4e9)}, 8}};
constexpr std::string_view kUnconsolidated = "_unconsolidated";
/// What servers of these accelerators have had in public clouds.
constexpr BytesPerSecond kCloudEthernet(1.25e9);

struct GenerationModel {
  std::string_view words;
  std::string_view model;
};
constexpr std::array kGenerationModels = {GenerationModel{"LM (batch", "lstm_wikitext2"},
                                          GenerationModel{"ResNet-50 (batch", "resnet_50"},
                                          GenerationModel{"ResNet-18 (batch", "resnet_18_cifar"}};

/// Steps of all workers count, as each takes a batch of its own.
double steps_a_second(const Generation& generation, std::string_view model, int batch, int workers,
                      bool is_spread) {
  const int nodes = is_spread ? workers : (workers + generation.per_node - 1) / generation.per_node;
  return workers /
         iteration_seconds(scenario_from(
             {{"model", model},
              {"cluster", switched_nodes({.accelerator = generation.server.accelerator,
                                          .nodes = nodes,
                                          .per_node = workers / nodes,
                                          .scale_up_bandwidth = generation.server.scale_up,
                                          .nic_bandwidth = kCloudEthernet})},
              {"profile", generation.server.profile},
              {"strategy",
               {{"preset", "pytorch-ddp"},
                {"precision", "fp32"},
                {"micro_batch", batch},
                {"global_batch", batch * workers}}}}));
}

SyncOutcome predict_generations(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  const GenerationModel* const model = named_in(kGenerationModels, row.set_up);
  if (model == nullptr) return refused("its model is not in the library");
  const auto batch = number_after(row.set_up, "batch size");
  const auto workers = number_before(row.set_up, "worker(s)");
  if (!batch || !workers || !row.value->is_object()) {
    return refused("the row does not say batch, workers and steps by accelerator");
  }
  SyncOutcome outcome;
  outcome.assumed = {"fp32, data sheets alone; 10 Gb/s where workers are spread over servers",
                     "the steps of all workers are counted"};
  for (const Generation& generation : kGenerations) {
    for (const bool is_spread : {false, true}) {
      std::string key(generation.published);
      if (is_spread) key += kUnconsolidated;
      if (is_spread && *workers == 1.0) continue;  // the same once more
      if (!row.value->contains(key)) continue;
      outcome.values.push_back(
          {.what = fmt::format("steps/s, {}", key),
           .published = row.value->at(key),
           .predicted = steps_a_second(generation, model->model, static_cast<int>(*batch),
                                       static_cast<int>(*workers), is_spread),
           .ordered_with = row.id});
    }
  }
  return outcome;
}

}  // namespace

SyncKind generation_rows() {
  return {.name = "generations of accelerators",
          .about = "steps by generation of accelerator and by placement, from data sheets",
          .takes = [](const SyncRow& row) { return row.kind == "hetero_measured"; },
          .predict = predict_generations};
}

}  // namespace headway

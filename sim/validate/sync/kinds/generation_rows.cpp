// Steps by generation of accelerator, from data sheets alone, and by how workers are spread.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/validate/sync/sync_kind.h"
#include "sim/validate/sync/sync_scenario.h"

namespace headway {
namespace {

constexpr std::string_view kUnconsolidated = "_unconsolidated";
/// What servers of these accelerators have had in public clouds.
constexpr BytesPerSecond kCloudEthernet(1.25e9);

/// What all workers do, each a batch of its own at a time.
struct GenerationJob {
  NamedModel model;
  int batch = 1;
  int workers = 1;
};

/// Steps of all workers count.
double steps_a_second(const GenerationJob& job, const NamedAccelerator& kind, bool is_spread) {
  SwitchedNodes cluster = nodes_of(kind);
  cluster.accelerator = kind.rented_name;
  cluster.nodes =
      is_spread ? job.workers : (job.workers + kind.rented_per_server - 1) / kind.rented_per_server;
  cluster.per_node = job.workers / cluster.nodes;
  cluster.scale_up_bandwidth = kind.rented_scale_up;
  cluster.nic_bandwidth = kCloudEthernet;
  return job.workers /
         iteration_seconds(scenario_from({{"model", *job.model.model},
                                          {"cluster", switched_nodes(cluster)},
                                          {"profile", kind.rented_profile},
                                          {"strategy",
                                           {{"preset", "pytorch-ddp"},
                                            {"precision", "fp32"},
                                            {"micro_batch", job.batch},
                                            {"global_batch", job.batch * job.workers}}}}));
}

/// The model stands before its batch; what it is trained on may stand behind, and tell which of
/// that name it is.
ReadWords<NamedModel> trained_model(const std::string& set_up) {
  std::string name = text_between(set_up, "", "(");
  while (name.ends_with(' ')) name.pop_back();
  auto named = named_model(name);
  if (const auto* model = std::get_if<NamedModel>(&named)) name = model->words;
  if (name.empty()) return named;
  for (const NamedModel& other : named_models(set_up)) {
    if (other.words.starts_with(name)) named = other;
  }
  return named;
}

SyncOutcome predict_generations(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  const auto model = trained_model(row.set_up);
  if (const auto* reason = std::get_if<std::string>(&model)) return refused(*reason);
  const auto batch = batch_of_each(row.set_up);
  auto workers = number_before(row.set_up, "worker");
  if (!workers) workers = number_before(row.set_up, "GPU");
  if (!batch || !workers || !row.value->is_object()) {
    return refused("the row does not say batch, workers and steps by accelerator");
  }
  const GenerationJob job{.model = std::get<NamedModel>(model),
                          .batch = static_cast<int>(*batch),
                          .workers = static_cast<int>(*workers)};
  if (job.batch < 1 || job.workers < 1) return refused("it has no batch or no worker");
  SyncOutcome outcome;
  outcome.assumed = {"fp32, data sheets alone; 10 Gb/s where workers are spread over servers",
                     "the steps of all workers are counted"};
  for (const auto& [key, steps] : row.value->items()) {
    const bool is_spread = key.ends_with(kUnconsolidated);
    if (is_spread && job.workers == 1) continue;  // the same once more
    const auto kind =
        named_accelerator(is_spread ? key.substr(0, key.size() - kUnconsolidated.size()) : key);
    if (const auto* reason = std::get_if<std::string>(&kind)) return refused(*reason);
    outcome.values.push_back(
        {.what = fmt::format("steps/s, {}", key),
         .published = steps,
         .predicted = steps_a_second(job, std::get<NamedAccelerator>(kind), is_spread),
         .ordered_with = row.id});
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

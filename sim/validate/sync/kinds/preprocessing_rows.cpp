// Processor cores that an accelerator's input takes, from those that another network's takes.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "sim/validate/sync/sync_kind.h"
#include "sim/validate/sync/sync_scenario.h"

namespace headway {
namespace {

bool tells_stall(const SyncRow& row) {
  return row.kind == "data_stall" && row.metric.find("stalled on prep") != std::string::npos;
}

bool tells_cores(const SyncRow& row) {
  return row.kind == "data_stall" && row.metric.find("cores") != std::string::npos;
}

/// The network that a metric is about; set-ups may name others.
ReadWords<NamedModel> fed_network(const SyncRow& row) {
  auto of_metric = named_model(row.metric);
  return std::holds_alternative<NamedModel>(of_metric) ? of_metric : named_model(row.set_up);
}

/// What the network of a row trains, on which accelerator.
struct FedJob {
  NamedModel network;
  NamedAccelerator accelerator;
  int batch = 1;
};
ReadWords<FedJob> fed_job(const SyncRow& row) {
  const auto network = fed_network(row);
  if (const auto* reason = std::get_if<std::string>(&network)) return *reason;
  const auto accelerator = named_accelerator(row.set_up);
  if (const auto* reason = std::get_if<std::string>(&accelerator)) return *reason;
  const auto batch = batch_of_each(row.set_up);
  if (!batch || *batch < 1.0) return "the row does not say images a GPU";
  return FedJob{.network = std::get<NamedModel>(network),
                .accelerator = std::get<NamedAccelerator>(accelerator),
                .batch = static_cast<int>(*batch)};
}

/// The middle of "3 to 4" cores.
std::optional<double> cores_of(const SyncRow& row) {
  const auto fewest = value_at(row, 0);
  if (!fewest) return std::nullopt;
  return (*fewest + value_at(row, 1).value_or(*fewest)) / 2.0;
}

double images_fed(const FedJob& job) {
  SwitchedNodes cluster = nodes_of(job.accelerator);
  cluster.nic_bandwidth = BytesPerSecond(1.25e9);
  const Scenario scenario = scenario_from({{"model", *job.network.model},
                                           {"cluster", switched_nodes(cluster)},
                                           {"profile", job.accelerator.profile},
                                           {"strategy",
                                            {{"preset", "pytorch-ddp"},
                                             {"precision", "fp16"},
                                             {"micro_batch", job.batch},
                                             {"global_batch", job.batch}}}});
  return job.batch / iteration_seconds(scenario);
}

SyncOutcome predict_prepared(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  const auto read = fed_job(row);
  if (const auto* reason = std::get_if<std::string>(&read)) return refused(*reason);
  const auto& job = std::get<FedJob>(read);
  const bool is_stall = tells_stall(row);
  const auto published = is_stall ? value_at(row, 0) : cores_of(row);
  const auto given = number_before(row.set_up, "cores a GPU");
  if (!published || (is_stall && !given)) return refused("the row does not say \"3 cores a GPU\"");
  if (row.set_up.find("GPU preprocessing") != std::string::npos) {
    return refused("the row does not say how much of preparing the accelerator takes over");
  }
  const SyncRow* known = nullptr;
  double rate = 0.0;
  for (const SyncRow& other : question.known) {
    if (known != nullptr || !tells_cores(other) || !cores_of(other)) continue;
    const auto told = fed_job(other);
    const auto* const of = std::get_if<FedJob>(&told);
    if (of == nullptr || of->network.words != "ResNet 50") continue;
    known = &other;
    rate = images_fed(*of) / *cores_of(other);
  }
  if (known == nullptr) return refused("no row tells what a core prepares");
  SyncOutcome outcome;
  outcome.calibrates = known->id == row.id;
  outcome.assumed = {fmt::format("{:.0f} images a second and core, from {}", rate, known->id)};
  // Images are decoded and cropped alike whatever is trained: cores follow images a second.
  const double cores = images_fed(job) / rate;
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

// Throughput of image networks whose workers share parameter servers beside them, from one
// accelerator's.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/validate/sync/sync_kind.h"
#include "sim/validate/sync/sync_scenario.h"

namespace headway {
namespace {

struct ServedImages {
  NamedModel model;
  NamedAccelerator machine;
  int accelerators = 1;
  int servers = 0;  ///< 0: one a node
  int batch = 64;
  BytesPerSecond network;

  [[nodiscard]] int per_node() const { return std::min(accelerators, machine.per_server); }
  [[nodiscard]] int nodes() const { return (accelerators + per_node() - 1) / per_node(); }
};

ReadWords<ServedImages> served_images(const SyncRow& row) {
  const auto model = named_model(row.set_up);
  if (const auto* reason = std::get_if<std::string>(&model)) return *reason;
  const auto machine = named_accelerator(row.set_up);
  if (const auto* reason = std::get_if<std::string>(&machine)) return *reason;
  const auto batch = batch_of_each(row.set_up);
  const auto accelerators = number_before(row.set_up, "GPUs");
  ServedImages job{.model = std::get<NamedModel>(model),
                   .machine = std::get<NamedAccelerator>(machine),
                   .accelerators = static_cast<int>(accelerators.value_or(0.0)),
                   .batch = static_cast<int>(batch.value_or(0.0))};
  const auto network = network_rate(row.set_up);
  if (!network && !job.machine.network) return "the row does not say the network";
  job.network = network ? *network : *job.machine.network;
  if (job.accelerators < 1 || job.batch < 1 || job.machine.per_server < 1) {
    return "the row does not say GPUs, batch and a machine of the table";
  }
  job.servers = static_cast<int>(number_after(row.set_up, "parameter servers:").value_or(0.0));
  return job;
}

double served_rate(const ServedImages& job, double compute) {
  SwitchedNodes cluster = nodes_of(job.machine);
  cluster.nodes = job.nodes();
  cluster.per_node = job.per_node();
  cluster.nic_bandwidth = job.network;
  cluster.transport = "tcp";  // TensorFlow's gRPC
  nlohmann::json strategy = {
      {"preset", "horovod"},      {"precision", "fp32"},
      {"gradient_cycle", "0 s"},  {"gradient_bucket", "0 B"},
      {"micro_batch", job.batch}, {"global_batch", std::int64_t{job.batch} * job.accelerators}};
  if (job.nodes() > 1) {
    strategy["synchronisation"] = {{"scheme", "parameter_server"},
                                   {"updates", "synchronous"},
                                   {"local_reduction", job.per_node() > 1},
                                   {"servers", job.servers > 0 ? job.servers : job.nodes()}};
  }
  Scenario scenario = scenario_from({{"model", *job.model.model},
                                     {"cluster", switched_nodes(cluster)},
                                     {"profile", job.machine.profile},
                                     {"strategy", strategy}});
  scenario.software_factor = compute;
  return job.batch * job.accelerators / iteration_seconds(scenario);
}

bool has_servers_beside(const SyncRow& row) {
  return (row.metric == "images/s" || row.metric == "Img/s") &&
         row.set_up.find("parameter server") != std::string::npos;
}

bool reads_files(const SyncRow& row) { return row.set_up.find("real") != std::string::npos; }

SyncOutcome predict_served(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  const auto read = served_images(row);
  if (const auto* reason = std::get_if<std::string>(&read)) return refused(*reason);
  const auto& job = std::get<ServedImages>(read);
  const auto published = value_at(row, 0);
  if (!published) return refused("the row has no images a second");
  for (const SyncRow& other : question.known) {
    if (!has_servers_beside(other) || reads_files(other) != reads_files(row)) continue;
    if (other.source != row.source) continue;
    const auto told = served_images(other);
    const auto* const one = std::get_if<ServedImages>(&told);
    const auto alone = value_at(other, 0);
    if (one == nullptr || one->accelerators != 1 || !alone || *alone <= 0.0) continue;
    if (one->model.words != job.model.words || one->machine.words != job.machine.words) continue;
    const double compute = served_rate(*one, 1.0) / *alone;
    SyncOutcome outcome;
    outcome.calibrates = other.id == row.id;
    outcome.assumed = {fmt::format("compute {:.2f} times ours, from {}", compute, other.id),
                       "synchronous; messages over TCP; nothing waits for input"};
    outcome.values = {{.what = "images/s",
                       .published = *published,
                       .predicted = served_rate(job, compute),
                       .ordered_with = fmt::format("{}, {}", row.source, reads_files(row))}};
    return outcome;
  }
  return refused("no row of its source tells what one accelerator reaches");
}

}  // namespace

SyncKind served_rows() {
  return {.name = "parameter servers, throughput",
          .about = "throughput of workers that share servers beside them, from one accelerator",
          .takes = has_servers_beside,
          .predict = predict_served};
}

}  // namespace headway

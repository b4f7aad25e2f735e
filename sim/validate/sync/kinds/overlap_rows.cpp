// What it is worth to reduce gradients while the backward pass runs.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "sim/base/quantity_text.h"
#include "sim/network/fabrics/transport.h"
#include "sim/validate/sync/sync_kind.h"
#include "sim/validate/sync/sync_scenario.h"

namespace headway {
namespace {

/// What rows that do not say a batch are taken to train, an accelerator.
struct UsualBatch {
  std::string_view words;
  int batch;
};
constexpr std::array kUsualBatches = {UsualBatch{"ResNet 50", 32}, UsualBatch{"BERT", 4},
                                      UsualBatch{"BERT large", 4}};

struct OverlapJob {
  NamedAccelerator accelerator;
  std::string precision;
  int servers = 1;
  int per_server = 1;
  BytesPerSecond link;
  bool by_host = false;  ///< Gloo: host memory reduces, a connection a process, beside it as well
  bool is_tcp = false;   ///< NCCL, over sockets
};

double overlapped_seconds(const OverlapJob& job, const NamedModel& model, int batch,
                          bool overlaps) {
  SwitchedNodes cluster = nodes_of(job.accelerator);
  cluster.nodes = job.servers;
  cluster.per_node = job.per_server;
  cluster.nic_bandwidth = job.link;
  cluster.nic_latency = Seconds(1e-6);
  if (job.by_host || job.is_tcp) cluster.transport = "tcp";
  if (job.by_host) {
    cluster.scale_up_bandwidth = *transport_costs(TransportKind::tcp).connection;
  }
  return iteration_seconds(
      scenario_from({{"model", *model.model},
                     {"cluster", switched_nodes(cluster)},
                     {"profile", job.accelerator.profile},
                     {"strategy",
                      {{"preset", "pytorch-ddp"},
                       {"precision", job.precision},
                       {"overlap_gradient_reduce", overlaps},
                       {"micro_batch", batch},
                       {"global_batch", batch * job.servers * job.per_server}}}}));
}

double gained(const OverlapJob& job, const NamedModel& model, int batch) {
  return overlapped_seconds(job, model, batch, false) /
             overlapped_seconds(job, model, batch, true) -
         1.0;
}

/// What it may be worth where neither batch nor transport is said.
std::string span_of_gains(OverlapJob job, const NamedModel& model, int usual_batch) {
  double least = std::numeric_limits<double>::infinity();
  double most = 0.0;
  for (const bool is_tcp : {false, true}) {
    job.is_tcp = is_tcp;
    for (const int batch : {usual_batch / 2, usual_batch, usual_batch * 2}) {
      const double gain = gained(job, model, batch);
      least = std::min(least, gain);
      most = std::max(most, gain);
    }
  }
  return fmt::format("{}: {:.0f} to {:.0f} % with half to twice that batch, over RDMA or sockets",
                     model.words, 100.0 * least, 100.0 * most);
}

SyncOutcome predict_overlap(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  const auto servers = number_before(row.set_up, "servers of");
  const auto per_server = number_after(row.set_up, "servers of");
  const auto link = network_rate(row.set_up);
  const auto accelerator = named_accelerator(row.set_up);
  if (const auto* reason = std::get_if<std::string>(&accelerator)) return refused(*reason);
  const std::vector<NamedModel> models = named_models(row.set_up);
  const bool by_host = row.set_up.find("loo") != std::string::npos;
  if (!by_host && row.set_up.find("NCCL") == std::string::npos) {
    return refused("the row names neither NCCL nor Gloo");
  }
  if (!servers || !per_server || !link || models.empty()) {
    return refused("the row does not say \"4 servers of 8, 100 Gb/s\" and models of the table");
  }
  const OverlapJob job{.accelerator = std::get<NamedAccelerator>(accelerator),
                       .precision = said_precision(row.set_up).value_or("fp32"),
                       .servers = static_cast<int>(*servers),
                       .per_server = static_cast<int>(*per_server),
                       .link = *link,
                       .by_host = by_host};
  SyncOutcome outcome;
  for (std::size_t i = 0; i < models.size(); ++i) {
    const auto published = value_at(row, i);
    if (!published) return refused("the row has not a value for each model that it names");
    const auto* const usual = named_in(kUsualBatches, models[i].words);
    const auto said = batch_of_each(row.set_up);
    if (!said && usual == nullptr) {
      return refused(fmt::format("the row does not say the batch of {}", models[i].words));
    }
    const int batch = said ? static_cast<int>(*said) : usual->batch;
    outcome.values.push_back({.what = fmt::format("gained by overlap, {}", models[i].words),
                              .published = *published / 100.0,
                              .predicted = gained(job, models[i], batch),
                              .is_share = true,
                              .ordered_with = "gained by overlap"});
    outcome.assumed.push_back(fmt::format("{} in {} with {} samples an accelerator",
                                          models[i].words, job.precision, batch));
    if (!said && !by_host) outcome.assumed.push_back(span_of_gains(job, models[i], batch));
  }
  if (by_host) {
    outcome.assumed.push_back(
        fmt::format("host memory reduces, {} a connection, to neighbours in the server as well",
                    short_text(*transport_costs(TransportKind::tcp).connection)));
  }
  return outcome;
}

}  // namespace

SyncKind overlap_rows() {
  return {.name = "data parallel, overlap",
          .about = "speed that overlapping the reduction of gradients gains",
          .takes = [](const SyncRow& row) { return row.kind == "ddp_overlap"; },
          .predict = predict_overlap};
}

}  // namespace headway

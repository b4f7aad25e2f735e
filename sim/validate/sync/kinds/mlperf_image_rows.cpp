// Images a second of ResNet-50 as MLPerf Training's submissions run it, by data sheet.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "sim/base/quantity_text.h"
#include "sim/validate/sync/sync_kind.h"
#include "sim/validate/sync/sync_scenario.h"

namespace headway {
namespace {

/// How networks are named whose cards write into memory themselves.
constexpr std::array kRemote = {"InfiniBand", "Infiniband", "RoCE", "ROCE"};
/// The rate between nodes that is usual for an accelerator of these submissions, in servers with
/// InfiniBand or RoCE.
constexpr BytesPerSecond kUsualNic(50e9);

SyncOutcome predict_submission(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  const auto read = named_accelerator(row.set_up);
  if (const auto* reason = std::get_if<std::string>(&read)) return refused(*reason);
  const auto& accelerator = std::get<NamedAccelerator>(read);
  const auto published = value_at(row, 0);
  const auto nodes = number_before(row.set_up, "nodes");
  const auto per_node = number_before(row.set_up, "accelerators a node");
  const auto batch = said_batch(row.set_up).of_all;
  if (!published || !nodes || !per_node || !batch) {
    return refused("the row does not say nodes, accelerators, batch and throughput");
  }
  const auto all = static_cast<int>(*nodes * *per_node);
  if (all < 1 || static_cast<int>(*batch) % all != 0) {
    return refused("its accelerators do not divide its batch");
  }
  SwitchedNodes cluster = nodes_of(accelerator);
  cluster.nodes = static_cast<int>(*nodes);
  cluster.per_node = static_cast<int>(*per_node);
  const auto network = network_rate(text_between(row.set_up, "network: ", "; framework"));
  const bool is_rdma = std::ranges::any_of(
      kRemote, [&](const char* words) { return row.set_up.find(words) != std::string::npos; });
  if (*nodes > 1.0 && !network && !is_rdma) {
    return refused("the row does not say the network of several nodes");
  }
  const auto nics = number_before(row.set_up, "x ConnectX");
  cluster.nics = std::clamp(static_cast<int>(nics.value_or(*per_node)), 1, cluster.per_node);
  cluster.nic_bandwidth = network.value_or(kUsualNic);
  cluster.nic_latency = Seconds(1e-6);
  const Scenario scenario =
      scenario_from({{"model", "resnet_50"},
                     {"cluster", switched_nodes(cluster)},
                     {"profile", accelerator.profile},
                     {"strategy",
                      {{"preset", "mxnet-mlperf"},
                       {"micro_batch", static_cast<int>(*batch) / all},
                       {"global_batch", static_cast<std::int64_t>(*batch)}}}});
  SyncOutcome outcome;
  outcome.assumed = {"16-bit passes, 224 pixels throughout; nothing waits for input"};
  if (*nodes > 1.0 && !network) {
    outcome.assumed.push_back(
        fmt::format("{} an accelerator between nodes, which is not said", short_text(kUsualNic)));
  }
  outcome.values = {{.what = "images/s",
                     .published = *published,
                     .predicted = *batch / iteration_seconds(scenario),
                     .ordered_with = "submissions of ResNet-50"}};
  return outcome;
}

}  // namespace

SyncKind mlperf_image_rows() {
  return {.name = "MLPerf, ResNet-50",
          .about = "throughput of submissions to MLPerf Training, by data sheet",
          .takes =
              [](const SyncRow& row) {
                return row.set_up.find("MLPerf") != std::string::npos &&
                       row.set_up.find("ResNet-50") != std::string::npos;
              },
          .predict = predict_submission};
}

}  // namespace headway

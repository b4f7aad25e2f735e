// Throughput by the way gradients take: behind the backward pass or beside it, one by one or
// merged, over rings or servers; compute from one accelerator of the same row.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>

#include "sim/jobs/strategy.h"
#include "sim/validate/sync/sync_kind.h"
#include "sim/validate/sync/sync_scenario.h"

namespace headway {
namespace {

/// Shi et al. 2020 (arXiv:2005.13247), section 4: what rows call a way, and what it does.
struct GradientWay {
  std::string_view words;
  bool by_servers;
  bool overlaps;
  bool merges;  ///< as many as is best: all sizes are tried, as its authors' algorithm does
};
constexpr std::array kWays = {
    GradientWay{"after the whole backward pass", false, false, false},
    GradientWay{"merged-gradient", false, true, true},
    GradientWay{"one all-reduce per tensor", false, true, false},
    GradientWay{"parameter server, fusion threshold 0", true, true, false},
    GradientWay{"parameter server, fusion threshold", true, false, false}};
constexpr std::array kMergedSizes = {"0 B", "4 MiB", "16 MiB", "64 MiB", "1 GiB"};
constexpr const char* kWhole = "1 GiB";
/// What travels together by servers, and where one machine needs none: BYTEPS_PARTITION_BYTES
/// (BytePS, docs/env.md).
constexpr const char* kPartition = "4.096 MB";

struct WayJob {
  NamedModel model;
  NamedAccelerator accelerator;
  const GradientWay* way = nullptr;
  int batch = 1;
  int per_node = 1;
  BytesPerSecond network;
  bool is_tcp = false;
};

ReadWords<WayJob> way_job(const SyncRow& row) {
  const auto model = named_model(row.set_up);
  if (const auto* reason = std::get_if<std::string>(&model)) return *reason;
  const auto accelerator = named_accelerator(row.set_up);
  if (const auto* reason = std::get_if<std::string>(&accelerator)) return *reason;
  const GradientWay* const way = named_in(kWays, row.set_up);
  if (way == nullptr || row.set_up.find("cheduler") != std::string::npos) {
    return "its scheduler of messages (ByteScheduler, by priority) is not described";
  }
  auto batch = number_after(row.set_up, "BS =");
  if (!batch) batch = batch_of_each(row.set_up);
  const auto per_node = number_before(row.set_up, "GPUs per node");
  const auto network = network_rate(row.set_up);
  if (!batch || !per_node || !network || *batch < 1.0 || *per_node < 1.0) {
    return "the row does not say batch, GPUs per node and network";
  }
  return WayJob{.model = std::get<NamedModel>(model),
                .accelerator = std::get<NamedAccelerator>(accelerator),
                .way = way,
                .batch = static_cast<int>(*batch),
                .per_node = static_cast<int>(*per_node),
                .network = *network,
                .is_tcp = row.set_up.find("TCP") != std::string::npos};
}

double way_seconds(const WayJob& job, int accelerators, double compute, const char* bucket) {
  SwitchedNodes cluster = nodes_of(job.accelerator);
  const int workers = std::max(1, accelerators / job.per_node);
  // One machine needs no servers (BytePS, docs/step-by-step-tutorial.md).
  const bool has_servers = job.way->by_servers && workers > 1;
  cluster.nodes = workers * (has_servers ? 2 : 1);
  cluster.per_node = std::min(accelerators, job.per_node);
  cluster.nic_bandwidth = job.network;
  cluster.nic_latency = Seconds(1e-6);
  cluster.transport = job.is_tcp ? "tcp" : "infiniband";
  nlohmann::json parts = switched_nodes(cluster);
  nlohmann::json strategy = {{"preset", "horovod"},
                             {"precision", "fp32"},
                             {"gradient_cycle", "0 s"},
                             {"gradient_bucket", bucket},
                             {"overlap_gradient_reduce", job.way->overlaps},
                             {"micro_batch", job.batch},
                             {"global_batch", std::int64_t{job.batch} * accelerators}};
  if (!job.way->merges && job.way->overlaps && !has_servers) strategy["reduce_each_tensor"] = true;
  const bool is_in_parts = job.way->by_servers && !job.way->overlaps && !has_servers;
  if (is_in_parts) strategy["gradient_bucket"] = kPartition;
  if (has_servers) {
    strategy["synchronisation"] = {{"scheme", "parameter_server"},
                                   {"updates", "synchronous"},
                                   {"local_reduction", true},
                                   {"servers", workers},
                                   {"hosts", "apart"}};
    parts["job_nodes"] = workers;
  }
  Scenario scenario = scenario_from({{"model", *job.model.model},
                                     {"cluster", parts},
                                     {"profile", job.accelerator.profile},
                                     {"strategy", strategy}});
  scenario.software_factor = compute;
  scenario.change_strategy(
      [&](Strategy& changed) { changed.fused_gradient_reduce = !is_in_parts; });
  return iteration_seconds(scenario);
}

double best_seconds(const WayJob& job, int accelerators, double compute) {
  if (!job.way->merges) {
    return way_seconds(job, accelerators, compute, job.way->overlaps ? kMergedSizes[0] : kWhole);
  }
  double best = std::numeric_limits<double>::infinity();
  for (const char* bucket : kMergedSizes) {
    best = std::min(best, way_seconds(job, accelerators, compute, bucket));
  }
  return best;
}

SyncOutcome predict_ways(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  const auto read = way_job(row);
  if (const auto* reason = std::get_if<std::string>(&read)) return refused(*reason);
  const auto& job = std::get<WayJob>(read);
  const auto rate_on = [&](const std::string& accelerators) {
    return row.value->at(accelerators).at("mean").get<double>();
  };
  if (!row.value->contains("1"))
    return refused("the row does not tell what one accelerator reaches");
  const double compute = job.batch / rate_on("1") / best_seconds(job, 1, 1.0);
  SyncOutcome outcome;
  outcome.assumed = {fmt::format("compute {:.2f} times ours, from one accelerator", compute),
                     "what is one by one goes to servers layer by layer"};
  if (job.way->by_servers) {
    outcome.assumed.emplace_back("as many servers as nodes, on nodes of their own");
  }
  for (const auto& [accelerators, rate] : row.value->items()) {
    const auto count = number_after(accelerators, "");
    if (!count || *count <= 1.0) continue;
    const int all = static_cast<int>(*count);
    if (all > job.per_node && all % job.per_node != 0) {
      return refused("its nodes hold unlike numbers of accelerators");
    }
    outcome.values.push_back({.what = fmt::format("images/s on {}", all),
                              .published = rate_on(accelerators),
                              .predicted = job.batch * all / best_seconds(job, all, compute),
                              .ordered_with = fmt::format("on {} of {}", all, row.source)});
  }
  return outcome;
}

}  // namespace

SyncKind gradient_way_rows() {
  return {.name = "data parallel, ways",
          .about = "throughput by the way that gradients take, compute from one accelerator",
          .takes =
              [](const SyncRow& row) {
                return row.value->is_object() && !row.value->empty() &&
                       row.value->begin()->is_object() && row.value->begin()->contains("mean");
              },
          .predict = predict_ways};
}

}  // namespace headway

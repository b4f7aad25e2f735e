// Samples a second of recommendation models (DLRM, DLRM-DCNv2).
#include <fmt/format.h>

#include <array>
#include <bit>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <variant>

#include "sim/validate/sync/sync_kind.h"
#include "sim/validate/sync/sync_scenario.h"

namespace headway {
namespace {

struct RecommendationJob {
  NamedAccelerator machine;
  std::string_view model;
  std::string_view preset;
  int accelerators = 1;
  int nodes = 1;
  std::int64_t batch = 1;  ///< of all
};

/// What rows train, by words that only they have.
std::string_view model_of(const SyncRow& row) {
  const auto says = [&](std::string_view words) {
    return row.set_up.find(words) != std::string::npos;
  };
  if (says("DCN")) return "dlrm_dcnv2";
  if (says("extra large") || says("extra-large") || says("xlarge")) return "dlrm_criteo_xlarge";
  if (says("small")) return "dlrm_criteo_small";
  if (says("large")) return "dlrm_criteo_large";
  return "";
}

std::string_view preset_of(const SyncRow& row) {
  const std::string all = row.source + "; " + row.set_up;
  const auto says = [&](std::string_view words) { return all.find(words) != std::string::npos; };
  if (says("HugeCTR")) return "hugectr";
  if (says("TF2") || says("TensorFlow")) return "tf2-dlrm";
  return says("PyTorch") ? "pytorch-dlrm" : "";
}

/// Nodes and accelerators: "8 x DGX H100", "8 x B200", "2 nodes x 8 H100", "DGX-2 V100, 16 GPU(s)".
std::optional<std::pair<int, int>> machines_of(const std::string& text,
                                               const NamedAccelerator& machine) {
  const auto accelerators = number_before(text, "GPU");
  const double nodes = number_before(text, "node").value_or(1.0);
  if (machine.per_server == 0) {
    const auto of_node = machine.count ? std::optional<double>(*machine.count) : accelerators;
    if (!of_node) return std::nullopt;
    return std::pair(static_cast<int>(nodes), static_cast<int>(nodes * *of_node));
  }
  const int whole = machine.count.value_or(static_cast<int>(nodes));
  return std::pair(whole,
                   accelerators ? static_cast<int>(*accelerators) : whole * machine.per_server);
}

/// "64k" is read as 64,000, where batches are powers of two.
std::int64_t binary_thousands(std::int64_t count) {
  const auto thousands = static_cast<std::uint64_t>(count / 1000);
  return count % 1000 == 0 && std::has_single_bit(thousands) ? count / 1000 * 1024 : count;
}

/// Without more, a batch is that of all.
std::optional<std::int64_t> batch_of(const std::string& text, int accelerators) {
  const SaidBatch said = said_batch(text);
  if (said.of_each) {
    return binary_thousands(static_cast<std::int64_t>(*said.of_each)) * accelerators;
  }
  const auto of_all = said.of_all ? said.of_all : said.plain;
  return of_all ? std::optional(static_cast<std::int64_t>(*of_all)) : std::nullopt;
}

ReadWords<RecommendationJob> recommendation_job(const SyncRow& row) {
  const auto machine = named_accelerator(row.set_up);
  if (const auto* reason = std::get_if<std::string>(&machine)) return *reason;
  RecommendationJob job{.machine = std::get<NamedAccelerator>(machine),
                        .model = model_of(row),
                        .preset = preset_of(row)};
  if (job.model.empty()) {
    return "its tables are not in the library: those of DLRM-DCNv2, and of DLRM on Criteo small, "
           "large and xlarge, are";
  }
  if (job.preset.empty()) {
    return "its software is not described: HugeCTR, TF2 and PyTorch are";
  }
  const auto machines = machines_of(row.set_up, job.machine);
  if (!machines) return "the row does not say how many accelerators";
  std::tie(job.nodes, job.accelerators) = *machines;
  const auto batch = batch_of(row.set_up, job.accelerators);
  if (!batch || *batch < 1 || *batch % job.accelerators != 0) {
    return "the row does not say a batch that its accelerators divide";
  }
  job.batch = *batch;
  return job;
}

nlohmann::json strategy_of(const RecommendationJob& job, std::string_view precision) {
  nlohmann::json strategy = {{"preset", job.preset},
                             {"precision", precision},
                             {"micro_batch", job.batch / job.accelerators},
                             {"global_batch", job.batch}};
  // One of its tables is larger than an accelerator.
  if (job.model == "dlrm_criteo_xlarge") strategy["embedding_tables"]["placement"] = "column";
  // HugeCTR's plan for several nodes places tables on nodes, whose ranks cut the rows; what memory
  // moves while the network moves a byte, by what a lookup moves for each byte sent, is 67 / 4
  // there.
  if (job.preset == "hugectr" && job.nodes > 1) {
    strategy["embedding_tables"] = {{"group", job.accelerators / job.nodes},
                                    {"exchange_cost", 67.0 / 4.0}};
  }
  return strategy;
}

double samples_a_second(const RecommendationJob& job, std::string_view precision) {
  constexpr BytesPerSecond kNdr(50e9);
  const int per_node = job.accelerators / job.nodes;
  SwitchedNodes cluster = nodes_of(job.machine);
  cluster.nodes = job.nodes;
  cluster.per_node = per_node;
  cluster.scale_up_bandwidth = job.machine.all_to_all;
  cluster.nics = per_node;
  cluster.nic_bandwidth = kNdr;
  cluster.nic_latency = Seconds(1e-6);
  const Scenario scenario = scenario_from({{"model", job.model},
                                           {"cluster", switched_nodes(cluster)},
                                           {"profile", job.machine.profile},
                                           {"strategy", strategy_of(job, precision)}});
  return static_cast<double>(job.batch) / iteration_seconds(scenario);
}

SyncOutcome predict_recommendation(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  const auto read = recommendation_job(row);
  if (const auto* reason = std::get_if<std::string>(&read)) return refused(*reason);
  const auto& job = std::get<RecommendationJob>(read);
  SyncOutcome outcome;
  outcome.assumed = {fmt::format("{}, preset {}", job.model, job.preset)};
  const bool is_v100 = job.machine.profile == "v100_sxm";
  const bool has_both = row.metric.find("full") != std::string::npos;
  const auto add = [&](std::size_t index, std::string_view precision) {
    const auto published = value_at(row, index);
    if (!published) return;
    outcome.values.push_back({.what = fmt::format("samples/s, {}", precision),
                              .published = *published,
                              .predicted = samples_a_second(job, precision),
                              .ordered_with = fmt::format("samples of {}", job.preset)});
  };
  if (has_both) add(0, is_v100 ? "fp32" : "tf32");
  add(has_both ? 1 : 0, "fp16");
  if (outcome.values.empty()) return refused("the row has no number of samples a second");
  return outcome;
}

}  // namespace

SyncKind recommendation_rows() {
  return {.name = "recommendation",
          .about = "samples a second of recommendation models",
          .takes = [](const SyncRow& row) { return row.kind == "dlrm"; },
          .predict = predict_recommendation};
}

}  // namespace headway

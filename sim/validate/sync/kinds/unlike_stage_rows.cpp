// Pipelines with uneven stages, on accelerators of one kind or several: step and memory.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "sim/jobs/memory.h"
#include "sim/validate/sync/sync_kind.h"
#include "sim/validate/sync/sync_scenario.h"

namespace headway {
namespace {

constexpr int kPipelinedSequence = 2048;
/// The network of servers about which a row says no more than its name: one gigabit a second.
constexpr BytesPerSecond kPlainEthernet(0.125e9);

/// Cards behind one switch, in servers of more than that: two sockets with two slots of 16 lanes
/// each would hold four without.
constexpr int kCardsOnSwitch = 4;
/// What NCCL's buffer of a connection takes at once: a send that fits ends before it has arrived
/// (NCCL_BUFFSIZE, 4 MiB).
constexpr double kSentAtOnce = 4.0 * 1024.0 * 1024.0;
constexpr double kWideBytes = 4.0;
/// What DeepSpeed's engine copies behind one another and reduces at once, 5e8 elements of 4 bytes
/// (MEMORY_OPT_ALLREDUCE_SIZE, deepspeed/runtime/engine.py).
constexpr std::string_view kReducedAtOnce = "2 GB";
/// Communicators beside one for each degree: of all ranks, and that of DeepSpeed's grid over the
/// ranks of Megatron's tensor-parallel group; of each neighbour in the pipeline another.
constexpr int kOwnCommunicators = 2;
constexpr int kNeighbours = 2;

struct PipelinedJob {
  NamedModel model;
  std::vector<int> layers;              ///< of each stage
  std::vector<NamedAccelerator> nodes;  ///< of each replica of a stage, stage by stage
  int tensor_parallel = 1;
  int replicas = 1;
  int micro_batch = 1;
  int global_batch = 1;
};

/// Replicas of a stage, and accelerators of each: beyond, a row makes no sense.
constexpr double kMostOfStage = 4096.0;

/// Accelerators of a stage's replicas, which have one width.
struct StageNodes {
  std::vector<NamedAccelerator> nodes;
  int tensor_parallel = 0;
};

/// "1 x (8 x RTX-3090, TP8) + 2 x (8 x RTX-2080, TP8)": a replica on one kind, two on another.
ReadWords<StageNodes> stage_nodes(const std::string& text) {
  StageNodes stage;
  for (const std::string& part : parts_of(text, " + ")) {
    const auto replicas = number_before(part, "x (");
    const auto width = number_after(part, "(");
    const auto tensor = number_after(part, "TP");
    const auto kind = named_accelerator(part);
    const auto counts_few = [](std::optional<double> number) {
      return number && *number >= 1.0 && *number <= kMostOfStage;
    };
    const auto* const known = std::get_if<NamedAccelerator>(&kind);
    if (known == nullptr) return std::get<std::string>(kind);
    if (!counts_few(replicas) || !counts_few(tensor) || width != tensor) {
      return "a stage is not \"2 x (4 x V100, TP4)\", replicas of a width";
    }
    const int parallel = static_cast<int>(*tensor);
    if (stage.tensor_parallel != 0 && stage.tensor_parallel != parallel) {
      return "replicas of unlike width are not modelled";
    }
    stage.tensor_parallel = parallel;
    stage.nodes.insert(stage.nodes.end(), static_cast<std::size_t>(*replicas), *known);
  }
  return stage;
}

std::vector<int> whole_numbers(const std::string& list) {
  std::vector<int> numbers;
  for (const std::string& part : parts_of(list, ",")) {
    if (const auto number = number_after(part, "")) numbers.push_back(static_cast<int>(*number));
  }
  return numbers;
}

ReadWords<PipelinedJob> pipelined_job(const SyncRow& row) {
  PipelinedJob job;
  const auto model = named_model(row.set_up);
  if (const auto* reason = std::get_if<std::string>(&model)) return *reason;
  job.model = std::get<NamedModel>(model);
  const int model_layers = job.model.model->is_object() ? job.model.model->value("layers", 0) : 0;
  if (model_layers == 0) return fmt::format("{} is no transformer of the table", job.model.words);
  job.layers = whole_numbers(text_between(row.set_up, "layers a stage [", "]"));
  for (const std::string& text : parts_of(text_between(row.set_up, "stages: [", "];"), "', '")) {
    const auto read = stage_nodes(text);
    if (const auto* reason = std::get_if<std::string>(&read)) return *reason;
    const auto* stage = &std::get<StageNodes>(read);
    const bool is_first = job.nodes.empty();
    const int replicas = static_cast<int>(stage->nodes.size());
    if (!is_first && (replicas != job.replicas || stage->tensor_parallel != job.tensor_parallel)) {
      return "stages of unlike width are not modelled";
    }
    job.replicas = replicas;
    job.tensor_parallel = stage->tensor_parallel;
    job.nodes.insert(job.nodes.end(), stage->nodes.begin(), stage->nodes.end());
  }
  const auto micro_batch = number_after(row.set_up, "micro-batch");
  const auto global_batch = number_after(row.set_up, "global batch");
  if (job.layers.empty() || !micro_batch || !global_batch ||
      job.nodes.size() != job.layers.size() * static_cast<std::size_t>(job.replicas)) {
    return "the row does not say stages and batches";
  }
  // The framework counts the embedding as a layer of the first stage, and the head as one of the
  // last.
  if (std::accumulate(job.layers.begin(), job.layers.end(), 0) == model_layers + 2) {
    --job.layers.front();
    --job.layers.back();
  }
  if (std::accumulate(job.layers.begin(), job.layers.end(), 0) != model_layers) {
    return "its stages have other layers than the model";
  }
  job.micro_batch = static_cast<int>(*micro_batch);
  job.global_batch = static_cast<int>(*global_batch);
  return job;
}

/// How servers are connected.
struct PipelinedNetwork {
  BytesPerSecond nic;
  bool of_each = true;  ///< accelerator; else of a server
  Seconds latency;
};

/// A server for each tensor-parallel group, stage by stage, replica by replica.
nlohmann::json cluster_of(const PipelinedJob& job, const PipelinedNetwork& network) {
  const auto servers_of = [&](const NamedAccelerator& kind) {
    const bool shares = kind.on_pcie && job.tensor_parallel > kCardsOnSwitch;
    SwitchedNodes servers = nodes_of(kind);
    servers.nodes = static_cast<int>(job.nodes.size());
    servers.per_node = job.tensor_parallel;
    if (shares) servers.scale_up_bandwidth = kind.scale_up / kCardsOnSwitch;
    servers.nics = network.of_each ? job.tensor_parallel : 1;
    servers.nic_bandwidth = network.nic;
    servers.nic_latency = network.latency;
    return switched_nodes(servers);
  };
  nlohmann::json cluster = servers_of(job.nodes.front());
  nlohmann::json others = nlohmann::json::array();
  for (std::size_t i = 0; i < job.nodes.size(); ++i) {
    if (job.nodes[i].profile == job.nodes.front().profile) continue;
    others.push_back({{"first", i}, {"node", servers_of(job.nodes[i])["topology"]["node"]}});
  }
  if (!others.empty()) cluster["topology"]["other_nodes"] = others;
  return cluster;
}

Scenario pipelined_scenario(const PipelinedJob& job, const PipelinedNetwork& network,
                            std::string_view precision) {
  const nlohmann::json& model = *job.model.model;
  std::set<std::string> profiles;
  for (const NamedAccelerator& kind : job.nodes) profiles.insert(kind.profile);
  const int stages = static_cast<int>(job.layers.size());
  // A rank sends its part of what a micro-batch is, as DeepSpeed cuts it.
  const double sent = kWideBytes * job.micro_batch * kPipelinedSequence *
                      model.at("hidden").get<double>() / job.tensor_parallel;
  nlohmann::json strategy = {
      {"preset", "megatron-deepspeed"},
      {"precision", precision},
      {"gradient_precision", precision == "fp16" ? "fp16" : "fp32"},
      {"kernel_family", "deepspeed-eager"},
      {"zero_stage", 0},
      {"overlap_pipeline_transfers", sent <= kSentAtOnce},
      {"attention", "unfused"},
      {"gradient_bucket", kReducedAtOnce},
      {"memory",
       {{"flattened_gradients", true},
        {"communicators", kOwnCommunicators + std::min(stages - 1, kNeighbours)}}},
      {"tensor_parallel", job.tensor_parallel},
      {"pipeline_parallel", stages},
      {"micro_batch", job.micro_batch},
      {"global_batch", job.global_batch}};
  if (stages > 1) strategy["layers_per_stage"] = job.layers;
  return scenario_from({{"model", model},
                        {"cluster", cluster_of(job, network)},
                        {"profile", profiles},
                        {"strategy", strategy}});
}

/// As the row says; else 4-byte numbers, on tensor cores where all have such. What replicas took
/// for their gradients, and what stages held, are those of 4-byte numbers; with 2 bytes half of
/// either is left unexplained.
std::string precision_of(const SyncRow& row, const PipelinedJob& job,
                         const PipelinedNetwork& network) {
  if (const auto said = said_precision(row.set_up)) return *said;
  const Scenario plain = pipelined_scenario(job, network, "fp32");
  const double slowest = plain.profiles().smallest([](const Profile& profile) {
    return profile.device.peak_flops.contains(Precision::tf32) ? 1.0 : 0.0;
  });
  return slowest > 0.0 ? "tf32" : "fp32";
}

SyncOutcome predict_pipelined(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  const auto read = pipelined_job(row);
  if (const auto* reason = std::get_if<std::string>(&read)) return refused(*reason);
  const auto& job = std::get<PipelinedJob>(read);
  auto gigabits = number_before(row.set_up, "Gb/s a GPU");
  if (!gigabits) gigabits = number_before(row.set_up, "Gb/s per GPU");
  const bool is_ethernet = row.set_up.find("Ethernet") != std::string::npos;
  const auto step = value_at(row, 0);
  const auto memory = value_at(row, 2);
  if ((!gigabits && !is_ethernet) || !step || !memory) {
    return refused("the row does not say network, step and memory");
  }
  const PipelinedNetwork network =
      gigabits ? PipelinedNetwork{BytesPerSecond(*gigabits * 1e9 / 8.0), true, Seconds(1e-6)}
               : PipelinedNetwork{kPlainEthernet, false, Seconds(10e-6)};
  const std::string precision = precision_of(row, job, network);
  const Scenario scenario = pipelined_scenario(job, network, precision);
  Bytes fullest;
  for (const StageMemory& stage : stage_memory(scenario.model, *scenario.strategy)) {
    fullest = max(fullest, stage.total());
  }
  SyncOutcome outcome;
  outcome.assumed = {
      fmt::format("sequences of 2,048; {}; eager kernels, written-out softmax; no dropout, no "
                  "recomputation",
                  precision)};
  if (!gigabits) {
    outcome.assumed.emplace_back("Ethernet of 1 Gb/s a server");
    outcome.assumed.emplace_back("of more than four cards, four share 16 lanes of PCIe");
  }
  outcome.values = {{.what = "step, s",
                     .published = *step,
                     .predicted = iteration_seconds(scenario),
                     .ordered_with = fmt::format("steps of {}", job.model.words)},
                    {.what = "bytes of the fullest",
                     .published = *memory,
                     .predicted = fullest.count(),
                     .ordered_with = fmt::format("memory of {}", job.model.words)}};
  return outcome;
}

}  // namespace

SyncKind unlike_stage_rows() {
  return {.name = "pipelines, uneven",
          .about = "steps and memory of pipelines with uneven stages",
          .takes = [](const SyncRow& row) { return row.kind == "hetero_pipeline_measured"; },
          .predict = predict_pipelined};
}

}  // namespace headway

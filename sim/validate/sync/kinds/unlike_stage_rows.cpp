// Pipelines with uneven stages, on accelerators of one kind or several: step and memory.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "sim/jobs/memory.h"
#include "sim/validate/sync/sync_kind.h"
#include "sim/validate/sync/sync_scenario.h"

namespace headway {
namespace {

struct PipelinedModel {
  std::string_view words;
  int layers;
  int hidden;
  int heads;
  int vocabulary;
};
constexpr std::array kPipelined = {PipelinedModel{"GPT-Neo 2.7B", 32, 2560, 20, 50257},
                                   PipelinedModel{"OPT-350M", 24, 1024, 16, 50272}};
constexpr int kPipelinedSequence = 2048;
/// Of servers about whose network a row says no more than its name: one gigabit a second.
constexpr BytesPerSecond kPlainEthernet(0.125e9);

/// A kind of accelerator as rows call it, and what joins those of a server by data sheet.
struct PipelinedKind {
  std::string_view words;
  const char* accelerator;
  const char* profile;
  BytesPerSecond scale_up;
  bool has_tf32 = false;     ///< what its libraries take for products of 4-byte numbers
  bool on_switches = false;  ///< of PCIe: four cards of a large server share a slot's lanes
};
constexpr std::array kKinds = {
    PipelinedKind{"GH-96", "gh200", "gh200", BytesPerSecond(450e9), true},
    PipelinedKind{"RTX-3090", "rtx-3090", "rtx_3090", BytesPerSecond(32e9), false, true},
    PipelinedKind{"RTX-2080", "rtx-2080", "rtx_2080", BytesPerSecond(16e9), false, true},
    PipelinedKind{"Titan-RTX", "titan-rtx", "titan_rtx", BytesPerSecond(16e9), false, true},
};
/// Cards behind one switch, in servers of more than that: two sockets with two slots of 16 lanes
/// each would hold four without.
constexpr int kCardsOnSwitch = 4;
/// What NCCL's buffer of a connection takes at once: a send that fits ends before it has arrived
/// (NCCL_BUFFSIZE, 4 MiB).
constexpr double kSentAtOnce = 4.0 * 1024.0 * 1024.0;
constexpr double kWideBytes = 4.0;

struct PipelinedJob {
  const PipelinedModel* model = nullptr;
  std::vector<int> layers;                  ///< of each stage
  std::vector<const PipelinedKind*> nodes;  ///< of each replica of a stage, stage by stage
  int tensor_parallel = 1;
  int replicas = 1;
  int micro_batch = 1;
  int global_batch = 1;
};

/// Replicas of a stage, and accelerators of each: beyond, a row makes no sense.
constexpr double kMostOfStage = 4096.0;

/// Accelerators of a stage's replicas, which have one width.
struct StageNodes {
  std::vector<const PipelinedKind*> nodes;
  int tensor_parallel = 0;
};

/// "1 x (8 x RTX-3090, TP8) + 2 x (8 x RTX-2080, TP8)": a replica on one kind, two on another.
/// Nothing if there is something else.
std::optional<StageNodes> stage_nodes(const std::string& text) {
  StageNodes stage;
  for (const std::string& part : parts_of(text, " + ")) {
    const auto replicas = number_before(part, "x (");
    const auto width = number_after(part, "(");
    const auto tensor = number_after(part, "TP");
    const PipelinedKind* const kind = named_in(kKinds, part);
    const auto counts_few = [](std::optional<double> number) {
      return number && *number >= 1.0 && *number <= kMostOfStage;
    };
    if (!counts_few(replicas) || !counts_few(tensor) || width != tensor || kind == nullptr) {
      return std::nullopt;
    }
    const int parallel = static_cast<int>(*tensor);
    if (stage.tensor_parallel != 0 && stage.tensor_parallel != parallel) return std::nullopt;
    stage.tensor_parallel = parallel;
    stage.nodes.insert(stage.nodes.end(), static_cast<std::size_t>(*replicas), kind);
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

std::variant<PipelinedJob, std::string> pipelined_job(const SyncRow& row) {
  PipelinedJob job;
  job.model = named_in(kPipelined, row.set_up);
  if (job.model == nullptr) return "its model is not known";
  job.layers = whole_numbers(text_between(row.set_up, "layers a stage [", "]"));
  for (const std::string& text : parts_of(text_between(row.set_up, "stages: [", "];"), "', '")) {
    const auto stage = stage_nodes(text);
    if (!stage) return "a stage is not of replicas of equal width on known accelerators";
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
  if (std::accumulate(job.layers.begin(), job.layers.end(), 0) == job.model->layers + 2) {
    --job.layers.front();
    --job.layers.back();
  }
  if (std::accumulate(job.layers.begin(), job.layers.end(), 0) != job.model->layers) {
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
  const auto nodes_of = [&](const PipelinedKind& kind) {
    const bool shares = kind.on_switches && job.tensor_parallel > kCardsOnSwitch;
    return switched_nodes(
        {.accelerator = kind.accelerator,
         .nodes = static_cast<int>(job.nodes.size()),
         .per_node = job.tensor_parallel,
         .scale_up_bandwidth = (shares ? 1.0 / kCardsOnSwitch : 1.0) * kind.scale_up,
         .nics = network.of_each ? job.tensor_parallel : 1,
         .nic_bandwidth = network.nic,
         .nic_latency = network.latency});
  };
  nlohmann::json cluster = nodes_of(*job.nodes.front());
  nlohmann::json others = nlohmann::json::array();
  for (std::size_t i = 0; i < job.nodes.size(); ++i) {
    if (job.nodes[i] == job.nodes.front()) continue;
    others.push_back({{"first", i}, {"node", nodes_of(*job.nodes[i])["topology"]["node"]}});
  }
  if (!others.empty()) cluster["topology"]["other_nodes"] = others;
  return cluster;
}

Scenario pipelined_scenario(const PipelinedJob& job, const PipelinedNetwork& network) {
  const PipelinedModel& model = *job.model;
  std::set<std::string> profiles;
  for (const PipelinedKind* kind : job.nodes) profiles.insert(kind->profile);
  const int stages = static_cast<int>(job.layers.size());
  // Rows do not say the precision. What replicas took for their gradients, and what stages held,
  // are those of 4-byte numbers; with 2 bytes half of either is left unexplained.
  const bool has_tf32 =
      std::ranges::all_of(job.nodes, [](const PipelinedKind* kind) { return kind->has_tf32; });
  // A rank sends its part of what a micro-batch is, as DeepSpeed cuts it.
  const double sent =
      kWideBytes * job.micro_batch * kPipelinedSequence * model.hidden / job.tensor_parallel;
  nlohmann::json strategy = {{"preset", "megatron-deepspeed"},
                             {"precision", has_tf32 ? "tf32" : "fp32"},
                             {"gradient_precision", "fp32"},
                             {"kernel_family", "torch-eager"},
                             {"zero_stage", 0},
                             {"overlap_pipeline_transfers", sent <= kSentAtOnce},
                             {"attention", "unfused"},
                             {"tensor_parallel", job.tensor_parallel},
                             {"pipeline_parallel", stages},
                             {"micro_batch", job.micro_batch},
                             {"global_batch", job.global_batch}};
  if (stages > 1) strategy["layers_per_stage"] = job.layers;
  return scenario_from({{"model",
                         {{"layers", model.layers},
                          {"hidden", model.hidden},
                          {"attention_heads", model.heads},
                          {"ffn_hidden", 4 * model.hidden},
                          {"mlp", "plain"},
                          {"vocabulary", model.vocabulary},
                          {"tied_embeddings", true},
                          // Both have learned positions, 2 M parameters that count for nothing
                          // here, but neither drops attention out, as models with them do by
                          // default.
                          {"position_encoding", "none"},
                          {"sequence_length", kPipelinedSequence}}},
                        {"cluster", cluster_of(job, network)},
                        {"profile", profiles},
                        {"strategy", strategy}});
}

SyncOutcome predict_pipelined(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  const auto read = pipelined_job(row);
  if (const auto* reason = std::get_if<std::string>(&read)) return refused(*reason);
  const auto& job = std::get<PipelinedJob>(read);
  const auto gigabits = number_before(row.set_up, "Gb/s a GPU");
  const bool is_ethernet = row.set_up.find("Ethernet") != std::string::npos;
  const auto step = value_at(row, 0);
  const auto memory = value_at(row, 2);
  if ((!gigabits && !is_ethernet) || !step || !memory) {
    return refused("the row does not say network, step and memory");
  }
  const PipelinedNetwork network =
      gigabits ? PipelinedNetwork{BytesPerSecond(*gigabits * 1e9 / 8.0), true, Seconds(1e-6)}
               : PipelinedNetwork{kPlainEthernet, false, Seconds(10e-6)};
  const Scenario scenario = pipelined_scenario(job, network);
  Bytes fullest;
  for (const StageMemory& stage : stage_memory(scenario.model, scenario.strategy)) {
    fullest = max(fullest, stage.total());
  }
  SyncOutcome outcome;
  outcome.assumed = {
      "sequences of 2,048; 4-byte numbers (TF32 on GH200); eager kernels, written-out softmax; "
      "no dropout, no recomputation"};
  if (!gigabits) {
    outcome.assumed.emplace_back("Ethernet of 1 Gb/s a server");
    outcome.assumed.emplace_back("of more than four cards, four share 16 lanes of PCIe");
  }
  outcome.values = {{.what = "step, s",
                     .published = *step,
                     .predicted = iteration_seconds(scenario),
                     .ordered_with = fmt::format("steps of {}", job.model->words)},
                    {.what = "bytes of the fullest",
                     .published = *memory,
                     .predicted = fullest.count(),
                     .ordered_with = fmt::format("memory of {}", job.model->words)}};
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

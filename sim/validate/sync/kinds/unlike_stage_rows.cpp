// Pipelines with uneven stages: step and memory.
#include <fmt/format.h>

#include <algorithm>
#include <array>
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

struct PipelinedJob {
  const PipelinedModel* model = nullptr;
  std::vector<int> layers;  ///< of each stage
  int tensor_parallel = 1;
  int replicas = 1;
  int micro_batch = 1;
  int global_batch = 1;
};

std::vector<int> whole_numbers(const std::string& list) {
  std::vector<int> numbers;
  for (const std::string& part : parts_of(list, ",")) {
    if (const auto number = number_after(part, "")) numbers.push_back(static_cast<int>(*number));
  }
  return numbers;
}

/// "4 x (4 x GH-96, TP4)": four replicas of four accelerators of a kind.
std::variant<PipelinedJob, std::string> pipelined_job(const SyncRow& row) {
  PipelinedJob job;
  job.model = named_in(kPipelined, row.set_up);
  if (job.model == nullptr) return "its model is not known";
  const std::string stages = text_between(row.set_up, "stages: [", "];");
  std::set<std::string> kinds;
  std::set<std::string> shapes;
  for (const std::string& group : parts_of(stages, "(")) {
    const std::string kind = text_between(group, "x ", ",");
    if (group.find("TP") != std::string::npos) kinds.insert(kind);
  }
  for (const std::string& stage : parts_of(stages, "', '")) {
    shapes.insert(text_between(stage + "'", "", "'").empty()
                      ? text_between(stage.substr(1), "", "'")
                      : text_between(stage + "'", "", "'"));
  }
  if (kinds.size() != 1) return "accelerators of several kinds in one job are not modelled";
  if (*kinds.begin() != "GH-96") return "no profile is named " + *kinds.begin();
  if (shapes.size() != 1) return "stages of unlike width are not modelled";
  job.layers = whole_numbers(text_between(row.set_up, "layers a stage [", "]"));
  const auto replicas = number_before(stages, "x (");
  const auto tensor = number_after(stages, "TP");
  const auto micro_batch = number_after(row.set_up, "micro-batch");
  const auto global_batch = number_after(row.set_up, "global batch");
  if (job.layers.empty() || !replicas || !tensor || !micro_batch || !global_batch) {
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
  job.replicas = static_cast<int>(*replicas);
  job.tensor_parallel = static_cast<int>(*tensor);
  job.micro_batch = static_cast<int>(*micro_batch);
  job.global_batch = static_cast<int>(*global_batch);
  return job;
}

Scenario pipelined_scenario(const PipelinedJob& job, BytesPerSecond network) {
  const PipelinedModel& model = *job.model;
  const int stages = static_cast<int>(job.layers.size());
  nlohmann::json strategy = {{"preset", "megatron-deepspeed"},
                             {"precision", "fp16"},
                             {"zero_stage", 0},
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
                          {"sequence_length", kPipelinedSequence}}},
                        {"cluster", switched_nodes({.accelerator = "gh200",
                                                    .nodes = stages * job.replicas,
                                                    .per_node = job.tensor_parallel,
                                                    .scale_up_bandwidth = BytesPerSecond(450e9),
                                                    .nics = job.tensor_parallel,
                                                    .nic_bandwidth = network,
                                                    .nic_latency = Seconds(1e-6)})},
                        {"profile", "gh200"},
                        {"strategy", strategy}});
}

SyncOutcome predict_pipelined(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  const auto read = pipelined_job(row);
  if (const auto* reason = std::get_if<std::string>(&read)) return refused(*reason);
  const auto& job = std::get<PipelinedJob>(read);
  const auto gigabits = number_before(row.set_up, "Gb/s a GPU");
  const auto step = value_at(row, 0);
  const auto memory = value_at(row, 2);
  if (!gigabits || !step || !memory)
    return refused("the row does not say network, step and memory");
  const Scenario scenario = pipelined_scenario(job, BytesPerSecond(*gigabits * 1e9 / 8.0));
  Bytes fullest;
  for (const StageMemory& stage : stage_memory(scenario.model, scenario.strategy)) {
    fullest = max(fullest, stage.total());
  }
  SyncOutcome outcome;
  outcome.assumed = {"sequences of 2,048; fp16; Megatron's softmax, no recomputation"};
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

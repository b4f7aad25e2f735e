#include "sim/jobs/read_strategy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

#include "sim/files/json_reader.h"
#include "sim/jobs/frameworks.h"
#include "sim/jobs/rank_shape_of.h"
#include "sim/jobs/recompute/recompute.h"
#include "sim/jobs/rules/strategy_checks.h"
#include "sim/jobs/schedules/schedule.h"

namespace headway {
namespace {

constexpr std::string_view kStrategySchema = "headway/strategy/1";
constexpr std::string_view kStrategyFolder = "scenarios/strategies";

// Beyond any machine or training run, and small enough that products of two do not overflow.
constexpr Range kDegree = between(1, 1'000'000);
constexpr Range kVirtualStages = between(1, 10'000);
constexpr Range kSequences = between(1, 10'000'000);
constexpr Range kSequenceLength = between(1, 1'000'000'000);
constexpr Range kCapacity{.least = 0.0, .most = 1'000'000.0, .open = true};

template <class E>
using Word = std::pair<std::string_view, E>;

constexpr std::array<Word<PipelineSchedule>, 5> kSchedules = {
    {{"1f1b", PipelineSchedule::one_f_one_b},
     {"gpipe", PipelineSchedule::gpipe},
     {"zb_h1", PipelineSchedule::zb_h1},
     {"zb_v", PipelineSchedule::zb_v},
     {"dualpipe", PipelineSchedule::dual_pipe}}};
constexpr std::array<Word<ContextParallelMethod>, 2> kContextMethods = {
    {{"ring", ContextParallelMethod::ring}, {"all_to_all", ContextParallelMethod::all_to_all}}};
constexpr std::array<Word<LayerPlacement>, 3> kLayerPlacements = {
    {{"even", LayerPlacement::even},
     {"embedding_and_loss_as_layers", LayerPlacement::embedding_and_loss_as_layers},
     {"short_last_chunk", LayerPlacement::short_last_chunk}}};
constexpr std::array<Word<ExpertDispatch>, 2> kDispatches = {
    {{"all_to_all", ExpertDispatch::all_to_all}, {"deduplicated", ExpertDispatch::deduplicated}}};
constexpr std::array<Word<CudaGraph>, 3> kCudaGraphs = {
    {{"none", CudaGraph::none}, {"layer", CudaGraph::layer}, {"full", CudaGraph::full}}};
constexpr std::array<Word<bool>, 2> kAttentions = {{{"flash", true}, {"unfused", false}}};
constexpr std::array<Word<Recompute>, 6> kRecomputes = {
    {{"none", Recompute::none},
     {"activation", Recompute::activation},
     {"selective", Recompute::selective},
     {"every_second_product", Recompute::alternate},
     {"modules", Recompute::modules},
     {"full", Recompute::full}}};
constexpr std::array<Word<Task>, 3> kTasks = {
    {{"pretrain", Task::pretrain}, {"sft", Task::sft}, {"lora", Task::lora}}};
constexpr Range kLayers = between(1, 100'000);
constexpr Range kLoraRank = between(1, 100'000);
/// What fine-tuning packs, as a share of the sequence, where a scenario does not say: public steps
/// of fine-tuning spend 0.43 of the time on attention that whole sequences of 4,096 tokens would
/// (fitted, spread 0.3), and a kernel on pieces of 0.4 of that length, at the rate that it reaches
/// on them, spends the same.
constexpr double kFineTuningPackedShare = 0.4;
/// A number format and, below 16 bits, how it is scaled.
using Recipe = std::pair<Precision, Scaling>;
constexpr Scaling kUnscaled = Scaling::delayed;
constexpr std::array<Word<Recipe>, 9> kPrecisions = {
    {{"bf16", {Precision::bf16, kUnscaled}},
     {"fp16", {Precision::fp16, kUnscaled}},
     {"fp8", {Precision::fp8, Scaling::delayed}},
     {"fp8_current", {Precision::fp8, Scaling::current}},
     {"fp8_rowwise", {Precision::fp8, Scaling::rowwise}},
     {"mxfp8", {Precision::fp8, Scaling::mxfp8}},
     {"nvfp4", {Precision::fp4, Scaling::nvfp4}},
     {"tf32", {Precision::tf32, kUnscaled}},
     {"fp32", {Precision::fp32, kUnscaled}}}};
constexpr std::array<Word<CollectiveLibrary>, 2> kLibraries = {
    {{"profile", CollectiveLibrary::profile}, {"nccl", CollectiveLibrary::nccl}}};
constexpr std::array<Word<Precision>, 3> kGradientPrecisions = {
    {{"fp32", Precision::fp32}, {"bf16", Precision::bf16}, {"fp16", Precision::fp16}}};

/// By ZeRO stage (Rajbhandari et al. 2020, section 5).
constexpr std::array kShardings = {Sharding::none, Sharding::optimizer, Sharding::gradients,
                                   Sharding::full};

/// Fields of full sharding mean something, and are resolved, only with it.
void read_sharding(ObjectReader& reader, Strategy& strategy) {
  const std::int64_t fallback =
      std::ranges::find(kShardings, strategy.sharding) - kShardings.begin();
  const std::int64_t stage = reader.integer("zero_stage", between(0, 3), fallback);
  strategy.sharding = kShardings[static_cast<std::size_t>(stage)];
  const bool is_full = strategy.sharding == Sharding::full;
  if (is_full || reader.has("reshard_after_forward")) {
    strategy.reshard_after_forward =
        reader.flag("reshard_after_forward", strategy.reshard_after_forward);
  }
  if (is_full || reader.has("shard_group")) {
    strategy.shard_group =
        static_cast<int>(reader.integer("shard_group", kDegree, strategy.replicas()));
  }
}

/// What the framework does in the precision of this job.
Strategy read_preset(ObjectReader& reader) {
  std::vector<Word<const Framework*>> words;
  for (const Framework& framework : frameworks()) words.emplace_back(framework.name, &framework);
  const Framework& framework =
      *reader.choice("preset", Words<const Framework*>(words), words.front().second);
  const auto said = reader.cursor().member("precision");
  const bool is_fp16 = said ? said->value() == precision_name(Precision::fp16)
                            : framework.strategy.precision == Precision::fp16;
  return is_fp16 ? framework.in_fp16 : framework.strategy;
}

/// What the other degrees leave of the accelerators, if they divide them.
std::optional<int> data_parallel_left(const Strategy& strategy, std::optional<int> accelerators) {
  const double product = static_cast<double>(strategy.tensor_parallel) * strategy.context_parallel *
                         strategy.pipeline_parallel;
  if (!accelerators || product > *accelerators) return std::nullopt;
  if (*accelerators % static_cast<int>(product) != 0) return std::nullopt;
  return *accelerators / static_cast<int>(product);
}

int read_degree(ObjectReader& reader, std::string_view field, int fallback) {
  return static_cast<int>(reader.integer(field, kDegree, fallback));
}

/// A whole number for each chunk.
std::vector<int> read_layers_per_stage(ObjectReader& reader) {
  std::vector<int> layers;
  for (const JsonCursor& element : reader.elements("layers_per_stage")) {
    const bool counts = element.value().is_number_integer() && element.value() >= 0 &&
                        element.value() <= kLayers.most;
    if (!counts) {
      reader.diagnostics().add(element.problem("layers_per_stage has a number of layers each",
                                               "not a whole number of them"));
    }
    layers.push_back(counts ? element.value().get<int>() : 0);
  }
  if (reader.has("layers_per_stage")) reader.resolve("layers_per_stage", layers);
  return layers;
}

void read_split(ObjectReader& reader, Strategy& strategy, std::optional<int> accelerators) {
  strategy.tensor_parallel = read_degree(reader, "tensor_parallel", 1);
  strategy.context_parallel = read_degree(reader, "context_parallel", 1);
  strategy.context_parallel_method =
      reader.choice("context_parallel_method", Words<ContextParallelMethod>(kContextMethods),
                    strategy.context_parallel_method);
  strategy.pipeline_parallel = read_degree(reader, "pipeline_parallel", 1);
  strategy.data_parallel =
      read_degree(reader, "data_parallel", data_parallel_left(strategy, accelerators).value_or(1));
  strategy.schedule =
      reader.choice("schedule", Words<PipelineSchedule>(kSchedules), strategy.schedule);
  const int fallback = strategy.schedule == PipelineSchedule::zb_v ? 2 : strategy.virtual_stages;
  strategy.virtual_stages =
      static_cast<int>(reader.integer("virtual_stages", kVirtualStages, fallback));
  strategy.layers_per_stage = read_layers_per_stage(reader);
  if (!reader.has("layers_per_stage") || reader.has("layer_placement")) {
    strategy.layer_placement = reader.choice(
        "layer_placement", Words<LayerPlacement>(kLayerPlacements), strategy.layer_placement);
  }
}

void read_experts(ObjectReader& reader, Strategy& strategy) {
  strategy.expert_parallel = read_degree(reader, "expert_parallel", 1);
  strategy.expert_tensor_parallel = read_degree(reader, "expert_tensor_parallel", 1);
  strategy.expert_dispatch = reader.choice("expert_dispatch", Words<ExpertDispatch>(kDispatches),
                                           strategy.expert_dispatch);
  strategy.overlap_expert_exchange =
      reader.flag("overlap_expert_exchange", strategy.overlap_expert_exchange);
  if (reader.has("expert_capacity_factor")) {
    strategy.expert_capacity_factor = reader.number("expert_capacity_factor", kCapacity);
  }
  strategy.expert_imbalance =
      reader.number("expert_imbalance", at_least(1.0), strategy.expert_imbalance);
}

void read_batch(ObjectReader& reader, Strategy& strategy, const Model& model) {
  strategy.micro_batch = reader.integer("micro_batch", kSequences, 1);
  strategy.global_batch = reader.integer("global_batch", kSequences);
  strategy.sequence_length = model.sequence_length;
  if (!model.has_tokens) return;
  strategy.sequence_length =
      reader.integer("sequence_length", kSequenceLength, model.sequence_length);
}

constexpr std::array<Word<AdapterTarget>, 4> kAdapterTargets = {
    {{"qkv", AdapterTarget::qkv},
     {"projection", AdapterTarget::projection},
     {"fc1", AdapterTarget::fc1},
     {"fc2", AdapterTarget::fc2}}};

/// Some of a few words, each once; without the field, `fallback`.
template <class E>
std::vector<E> read_choices(ObjectReader& reader, std::string_view key, Words<E> words,
                            std::vector<E> fallback) {
  std::string all;
  for (const auto& word : words) all += fmt::format("{}{}", all.empty() ? "" : ", ", word.first);
  std::vector<E> chosen;
  for (const JsonCursor& element : reader.elements(key)) {
    const auto known = std::ranges::find_if(words, [&](const auto& word) {
      return element.value().is_string() && element.value().get<std::string>() == word.first;
    });
    if (known == words.end()) {
      reader.diagnostics().add(element.problem(fmt::format("{} has none like this", key),
                                               "not one of them", "use some of " + all));
    } else if (std::ranges::find(chosen, known->second) != chosen.end()) {
      reader.diagnostics().add(
          element.problem(fmt::format("{} names one twice", key), "named before"));
    } else {
      chosen.push_back(known->second);
    }
  }
  const auto given = reader.cursor().member(key);
  if (!given) {
    chosen = std::move(fallback);
  } else if (given->value().is_array() && given->value().empty()) {
    reader.report(key, fmt::format("{} has to name at least one", key), "empty",
                  "use some of " + all);
  }
  nlohmann::json names = nlohmann::json::array();
  for (const auto& [name, value] : words) {
    if (std::ranges::find(chosen, value) != chosen.end()) names.push_back(name);
  }
  reader.resolve(key, names);
  return chosen;
}

/// What a mode has no use for is not resolved.
void read_recompute(ObjectReader& reader, Strategy& strategy) {
  strategy.recompute =
      reader.choice("recompute", Words<Recompute>(kRecomputes), strategy.recompute);
  if (reader.has("recompute_layers")) {
    strategy.recompute_layers = static_cast<int>(reader.integer("recompute_layers", kLayers));
  }
  strategy.offload_layers = static_cast<int>(
      reader.integer("offload_layers", between(0, kLayers.most), strategy.offload_layers));
  const bool names_modules = strategy.recompute == Recompute::modules;
  if (names_modules && !reader.has("recompute_modules")) {
    reader.report("recompute_modules", "recompute \"modules\" needs recompute_modules", "",
                  R"(for example "recompute_modules": ["mlp"])");
  }
  if (!reader.has("recompute_modules")) return;
  std::vector<Word<RecomputePart>> words;
  for (const RecomputeModule& module : recompute_modules()) {
    words.emplace_back(module.name, module.part);
  }
  strategy.recompute_modules = read_choices<RecomputePart>(reader, "recompute_modules", words, {});
}

/// Fields of adapters mean something, and are resolved, only where these are trained.
void read_task(ObjectReader& reader, Strategy& strategy) {
  strategy.task = reader.choice("task", Words<Task>(kTasks), strategy.task);
  if (trains_adapters(strategy) || reader.has("lora_rank")) {
    strategy.lora_rank =
        static_cast<int>(reader.integer("lora_rank", kLoraRank, strategy.lora_rank));
  }
  if (trains_adapters(strategy) || reader.has("lora_targets")) {
    strategy.lora_targets = read_choices<AdapterTarget>(reader, "lora_targets", kAdapterTargets,
                                                        std::move(strategy.lora_targets));
  }
  const bool packs = strategy.task != Task::pretrain && strategy.fused_attention;
  const double length = static_cast<double>(strategy.sequence_length);
  strategy.packed_length = reader.integer(
      "packed_length", kSequenceLength,
      packs ? std::max<std::int64_t>(1, std::llround(kFineTuningPackedShare * length))
            : strategy.sequence_length);
}

/// Whether its parts overlap means something, and is resolved, only where there is offloading.
void read_optimizer_offload(ObjectReader& reader, Strategy& strategy) {
  strategy.optimizer_offload =
      reader.number("optimizer_offload", between(0.0, 1.0), strategy.optimizer_offload);
  if (strategy.optimizer_offload == 0.0 && !reader.has("overlap_optimizer_offload")) return;
  strategy.overlap_optimizer_offload =
      reader.flag("overlap_optimizer_offload", strategy.overlap_optimizer_offload);
}

/// A default that the strategy gives no use is off: what was resolved then reads back.
void read_behaviour(ObjectReader& reader, Strategy& strategy) {
  strategy.sequence_parallel =
      reader.flag("sequence_parallel", strategy.sequence_parallel && strategy.tensor_parallel > 1);
  strategy.tensor_parallel_overlap =
      reader.flag("tensor_parallel_overlap", strategy.tensor_parallel_overlap);
  strategy.overlap_tensor_parallel_backward =
      reader.flag("overlap_tensor_parallel_backward",
                  strategy.overlap_tensor_parallel_backward && !strategy.tensor_parallel_overlap &&
                      strategy.tensor_parallel > 1 && !splits_backward(strategy.schedule));
  strategy.fused_attention =
      reader.choice("attention", Words<bool>(kAttentions), strategy.fused_attention);
  strategy.fused_normalization = reader.flag("fused_normalization", strategy.fused_normalization);
  strategy.fused_activation = reader.flag("fused_activation", strategy.fused_activation);
  strategy.vocabulary_parallel_loss =
      reader.flag("vocabulary_parallel_loss", strategy.vocabulary_parallel_loss);
  strategy.fused_loss = reader.flag("fused_loss", strategy.fused_loss);
  read_recompute(reader, strategy);
  read_sharding(reader, strategy);
  read_optimizer_offload(reader, strategy);
  strategy.overlap_gradient_reduce =
      reader.flag("overlap_gradient_reduce", strategy.overlap_gradient_reduce);
  strategy.overlap_parameter_gather =
      reader.flag("overlap_parameter_gather",
                  strategy.overlap_parameter_gather && strategy.sharding != Sharding::none);
  strategy.gradient_bucket =
      reader.quantity<Bytes>("gradient_bucket", at_least(0), strategy.gradient_bucket);
  strategy.overlap_pipeline_transfers =
      reader.flag("overlap_pipeline_transfers",
                  strategy.overlap_pipeline_transfers && strategy.virtual_stages > 1);
  std::tie(strategy.precision, strategy.scaling) = reader.choice(
      "precision", Words<Recipe>(kPrecisions), Recipe(strategy.precision, strategy.scaling));
  strategy.gradient_precision = reader.choice(
      "gradient_precision", Words<Precision>(kGradientPrecisions), strategy.gradient_precision);
  if (strategy.kept_gradient_precision || reader.has("kept_gradient_precision")) {
    strategy.kept_gradient_precision =
        reader.choice("kept_gradient_precision", Words<Precision>(kGradientPrecisions),
                      strategy.kept_gradient_precision.value_or(strategy.gradient_precision));
  }
  strategy.cuda_graph =
      reader.choice("cuda_graph", Words<CudaGraph>(kCudaGraphs), strategy.cuda_graph);
  strategy.collective_library = reader.choice(
      "collective_library", Words<CollectiveLibrary>(kLibraries), strategy.collective_library);
  strategy.kernel_family = reader.text("kernel_family", strategy.kernel_family);
  strategy.software_release = reader.text("software_release", strategy.software_release);
}

}  // namespace

Strategy read_habits(const JsonCursor& part, const Strategy& base, Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  Strategy strategy = base;
  strategy.schedule =
      reader.choice("schedule", Words<PipelineSchedule>(kSchedules), strategy.schedule);
  strategy.expert_dispatch = reader.choice("expert_dispatch", Words<ExpertDispatch>(kDispatches),
                                           strategy.expert_dispatch);
  strategy.overlap_expert_exchange =
      reader.flag("overlap_expert_exchange", strategy.overlap_expert_exchange);
  read_behaviour(reader, strategy);
  // What a job has no use for is off in it, and not in the habit.
  const auto keep = [&](const char* field, bool Strategy::*member) {
    if (!reader.has(field)) strategy.*member = base.*member;
  };
  keep("sequence_parallel", &Strategy::sequence_parallel);
  keep("overlap_tensor_parallel_backward", &Strategy::overlap_tensor_parallel_backward);
  keep("overlap_parameter_gather", &Strategy::overlap_parameter_gather);
  keep("overlap_pipeline_transfers", &Strategy::overlap_pipeline_transfers);
  if (!reader.has("shard_group")) strategy.shard_group = base.shard_group;
  reader.finish();
  return strategy;
}

std::optional<ReadStrategy> read_strategy(const JsonCursor& part, const ReadModel& model,
                                          std::optional<int> accelerators, InputFiles& files) {
  const std::optional<JsonCursor> object = files.follow(part, std::string(kStrategyFolder));
  if (!object) return std::nullopt;

  Diagnostics field_problems;
  ObjectReader reader(*object, field_problems);
  const bool is_file = object->pointer().empty();
  if ((is_file || reader.has("schema")) && !read_schema(reader, kStrategySchema)) {
    files.diagnostics().append(field_problems);
    return std::nullopt;
  }
  Strategy strategy = read_preset(reader);
  read_split(reader, strategy, accelerators);
  read_experts(reader, strategy);
  read_batch(reader, strategy, model.model);
  read_behaviour(reader, strategy);
  read_task(reader, strategy);
  nlohmann::json resolved = reader.finish();

  // A degree that does not fit the accelerators has to change: the batch is held against it later.
  const std::optional<int> left = data_parallel_left(strategy, accelerators);
  const bool fits = left == strategy.data_parallel;
  Diagnostics problems;
  check_strategy({.strategy = strategy,
                  .object = *object,
                  .model = model,
                  .accelerators = accelerators,
                  .data_parallel_known = fits || (!accelerators && reader.has("data_parallel")),
                  .field_problems = field_problems,
                  .diagnostics = problems});
  files.diagnostics().append(field_problems);
  files.diagnostics().append(problems);
  if (field_problems.has_errors() || problems.has_errors()) return std::nullopt;
  return ReadStrategy{
      .strategy = std::move(strategy), .cursor = *object, .resolved = std::move(resolved)};
}

}  // namespace headway

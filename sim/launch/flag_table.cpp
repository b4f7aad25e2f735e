#include "sim/launch/flag_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <variant>

#include "sim/base/diagnostic.h"
#include "sim/base/join_words.h"
#include "sim/base/quantity_text.h"
#include "sim/files/json_text.h"
#include "sim/jobs/synchronisation/synchronisation.h"
#include "sim/launch/attention_backend.h"
#include "sim/launch/captured_parts.h"
#include "sim/launch/launched_model.h"

namespace headway {
namespace {

using nlohmann::json;

/// They say what software does, or what a run is like.
constexpr std::string_view kDescriptions[] = {
    "schema",
    "preset",
    "software_release",
    "image_kernels",
    "per_parameter_sharding",
    "collective_library",
    "fused_normalization",
    "fused_activation",
    "fused_operators",
    "expert_imbalance",
    "data_parallel",      // what the other degrees leave of the world size
    "attention_kernel",   // said with attention
    "recompute_layers"};  // said with recompute

/// A field that does nothing where another one has that value.
struct WithoutEffect {
  std::string_view field;
  std::string_view other;
  std::string_view value;
};
constexpr WithoutEffect kWithoutEffect[] = {
    {"sequence_parallel", "tensor_parallel", "1"},
    {"overlap_tensor_parallel_backward", "tensor_parallel", "1"},
    {"vocabulary_parallel_loss", "tensor_parallel", "1"},
    {"context_parallel_method", "context_parallel", "1"},
    {"schedule", "pipeline_parallel", "1"},
    {"layer_placement", "pipeline_parallel", "1"},
    {"overlap_pipeline_transfers", "pipeline_parallel", "1"},
    {"expert_dispatch", "expert_parallel", "1"},
    {"expert_tensor_parallel", "expert_parallel", "1"},
    {"overlap_expert_exchange", "expert_parallel", "1"},
    {"overlap_parameter_gather", "zero_stage", "0"},
    {"reshard_after_forward", "zero_stage", "0"},
    {"reshard_after_forward", "zero_stage", "1"},
    {"reshard_after_forward", "zero_stage", "2"},
};

/// What does nothing where one rank has all of a gradient: context-parallel ranks have parts, too.
constexpr std::string_view kOfReplicas[] = {"overlap_gradient_reduce", "overlap_parameter_gather",
                                            "gradient_bucket", "gradient_precision"};

std::int64_t number_of(const json& strategy, const char* field, std::int64_t fallback) {
  const auto found = strategy.find(field);
  return found != strategy.end() && found->is_number() ? found->get<std::int64_t>() : fallback;
}

/// A quantity of the strategy as it was resolved; nothing is 0.
template <class Q>
Q quantity_of(const json& strategy, const char* field) {
  const auto found = strategy.find(field);
  if (found == strategy.end()) return Q(0.0);
  return std::get<Q>(parse_quantity<Q>(found->get<std::string>()));
}

/// Words that {..} stands for, beside the fields themselves.
std::map<std::string, std::string> words_of_flags(const JsonValue& scenario) {
  const json& strategy = scenario->at("strategy");
  const json& model = scenario->at("model");
  std::map<std::string, std::string> words;
  for (const auto& [field, value] : strategy.items()) words[field] = unquoted_json(value);
  if (const auto modules = strategy.find("recompute_modules"); modules != strategy.end()) {
    words["recompute_modules"] = join_words(modules->get<std::vector<std::string>>(), " ");
  }
  const std::int64_t replicas = number_of(strategy, "data_parallel", 1);
  const std::int64_t stages = number_of(strategy, "pipeline_parallel", 1);
  const std::int64_t chunks = stages * number_of(strategy, "virtual_stages", 1);
  const std::int64_t global = number_of(strategy, "global_batch", 1);
  const std::int64_t micro = number_of(strategy, "micro_batch", 1);
  const std::int64_t context = number_of(strategy, "context_parallel", 1);
  const std::int64_t shards = number_of(strategy, "shard_group", replicas * context);
  const auto layers = model.find("layers");
  const auto whole = [&](const char* name, std::int64_t value) {
    words[name] = std::to_string(value);
  };
  // torchtitan counts the embedding and the loss where it makes their stages smaller by a layer.
  const bool counts_ends =
      strategy.value("layer_placement", "even") == "embedding_and_loss_as_layers";
  whole("local_batch", stages > 1 ? global / replicas : micro);
  whole("micro_batches", global / replicas / micro);
  whole("copies", std::max<std::int64_t>(1, replicas * context / shards));
  whole("shards", std::max<std::int64_t>(1, shards / context));
  if (layers != model.end() && layers->is_number_integer()) {
    const std::int64_t counted = layers->get<std::int64_t>() + (counts_ends ? 2 : 0);
    const std::int64_t most = (counted + chunks - 1) / chunks;
    if ((counted + most - 1) / most == chunks) whole("layers_of_chunk", most);
  }
  const bool wide = strategy.value("gradient_precision", "fp32") == "fp32";
  const Bytes bucket = quantity_of<Bytes>(strategy, "gradient_bucket");
  whole("bucket_elements", static_cast<std::int64_t>(bucket.count() / (wide ? 4.0 : 2.0)));
  whole("bucket_mib", static_cast<std::int64_t>(bucket / Bytes(1048576.0)));
  words["captured_parts"] = captured_parts(scenario);
  words["cycle_ms"] =
      fmt::format("{:g}", quantity_of<Seconds>(strategy, "gradient_cycle") / Seconds(1e-3));
  return words;
}

/// Nothing where the flag needs a word that the model does not have.
std::optional<std::string> filled_in(std::string_view flag, const std::string& value,
                                     const std::map<std::string, std::string>& words) {
  std::string text;
  while (!flag.empty()) {
    const std::size_t open = flag.find('{');
    text += flag.substr(0, open);
    if (open == std::string_view::npos) break;
    const std::size_t close = flag.find('}', open);
    const std::string name(flag.substr(open + 1, close - open - 1));
    const auto word = words.find(name);
    if (!name.empty() && word == words.end()) return std::nullopt;
    text += name.empty() ? value : word->second;
    flag.remove_prefix(close + 1);
  }
  return text;
}

/// Where several fields make one choice of a framework.
std::string value_of(const JsonValue& scenario, const std::string& field) {
  const json& strategy = scenario->at("strategy");
  std::string value = unquoted_json(strategy.at(field));
  if (field == "attention" && value == "flash") return attention_kernel_word(scenario);
  if (field == "schedule" && value == "1f1b" && number_of(strategy, "virtual_stages", 1) > 1) {
    return "1f1b, interleaved";
  }
  if (field == "fused_loss" && value == "true" &&
      strategy.value("kernel_family", "") == "torch-compile") {
    return "true, compiled";
  }
  if (field == "gradient_precision" && strategy.value("precision", "") == "fp16") {
    return value + ", of fp16";
  }
  if (field == "cuda_graph" && value == "layer" && captured_parts(scenario).empty()) {
    return "layer, none of it kept";
  }
  if (field == "cuda_graph" && value == "full" &&
      scenario->at("model").contains("mixture_of_experts")) {
    return strategy.contains("expert_capacity_factor") ? "full, of experts"
                                                       : "full, of any number of tokens";
  }
  if (field == "recompute" && value == "full" && strategy.contains("recompute_layers")) {
    return "full, some layers";
  }
  if (field == "shard_group" && number_of(strategy, "zero_stage", 0) == 1) {
    return "of the optimizer";
  }
  // Muon updates whole matrices: Megatron-LM has an optimizer of its own that shares these out.
  if (strategy.value("optimizer", "") == "muon") {
    const bool is_shared = number_of(strategy, "zero_stage", 0) == 1;
    const bool by_tensors = strategy.value("optimizer_shards", "") == "tensors";
    if (field == "optimizer" && number_of(strategy, "zero_stage", 0) > 0) {
      return is_shared && by_tensors ? "muon, whole tensors" : "muon, slices";
    }
    if (field == "zero_stage" && is_shared && by_tensors) return "1, by Muon";
    if (field == "optimizer_shards" && by_tensors) return "tensors, by Muon";
  }
  // Fully sharded layers are gathered ahead of use, sharded states after the optimizer's step.
  if (field == "overlap_parameter_gather" && value == "true" &&
      number_of(strategy, "zero_stage", 0) < 3) {
    return "true, after the step";
  }
  return value;
}

bool is_without_effect(const JsonValue& scenario, const std::string& field) {
  const json& strategy = scenario->at("strategy");
  if (field == "attention") return !has_attention(scenario);
  if (field == "packed_length") {  // samples that are no sequences are not packed
    return !strategy.contains("sequence_length") ||
           strategy.at(field) == strategy.at("sequence_length");
  }
  if (field == "shard_group") {
    return strategy.at(field) ==
           number_of(strategy, "data_parallel", 1) * number_of(strategy, "context_parallel", 1);
  }
  if (std::ranges::find(kOfReplicas, field) != std::end(kOfReplicas) &&
      number_of(strategy, "data_parallel", 1) * number_of(strategy, "context_parallel", 1) == 1) {
    return true;
  }
  if (field == "synchronisation") {
    return strategy.at(field).value("scheme", "") == synchronisation_schemes().front()->name();
  }
  return std::ranges::any_of(kWithoutEffect, [&](const WithoutEffect& rule) {
    const auto other = strategy.find(std::string(rule.other));
    return rule.field == field && other != strategy.end() && unquoted_json(*other) == rule.value;
  });
}

void add_lines(std::vector<std::string>& settings, const std::string& text) {
  std::size_t begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    settings.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
}

}  // namespace

std::string_view framework_title(LaunchFramework framework) {
  switch (framework) {
    case LaunchFramework::megatron:
      return "Megatron-LM";
    case LaunchFramework::torchtitan:
      return "torchtitan";
    case LaunchFramework::deepspeed:
      return "DeepSpeed";
    case LaunchFramework::horovod:
      return "Horovod";
    case LaunchFramework::accelerate:
      return "Hugging Face accelerate";
  }
  return "";
}

bool describes_software(std::string_view field) {
  return std::ranges::find(kDescriptions, field) != std::end(kDescriptions);
}

bool can_be_told(LaunchFramework framework, std::string_view field, std::string_view value) {
  const auto row = std::ranges::find_if(flag_table(), [&](const FlagRow& candidate) {
    return candidate.field == field && (candidate.value == value || candidate.value == "*");
  });
  HEADWAY_CHECK(row != flag_table().end(), "no framework was told of " + std::string(field));
  return row->flags[static_cast<std::size_t>(framework)] != kNoFlag;
}

FlagList flags_of(const JsonValue& scenario, LaunchFramework framework) {
  const json& strategy = scenario->at("strategy");
  const std::map<std::string, std::string> words = words_of_flags(scenario);
  FlagList list;
  std::string_view known;  // field of the row before, if it was said already
  for (const FlagRow& row : flag_table()) {
    const std::string field(row.field);
    if (row.field == known || !strategy.contains(field)) continue;
    const std::string value = value_of(scenario, field);
    if (row.value != "*" && row.value != value) continue;
    known = row.field;
    if (is_without_effect(scenario, field)) continue;
    const std::string_view flag = row.flags[static_cast<std::size_t>(framework)];
    if (flag == kNoFlag) {
      list.unsaid.push_back({field, value});
    } else if (const auto text = filled_in(flag, value, words); text && flag != kOfScript) {
      add_lines(list.settings, *text);
    } else {
      list.of_script.push_back({field, value});
    }
  }
  for (const auto& [field, value] : strategy.items()) {
    const bool has_row =
        std::ranges::any_of(flag_table(), [&](const FlagRow& row) { return row.field == field; });
    HEADWAY_CHECK(has_row || describes_software(field), "no framework was told of " + field);
  }
  return list;
}

}  // namespace headway

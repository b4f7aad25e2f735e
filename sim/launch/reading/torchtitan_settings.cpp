#include "sim/launch/reading/torchtitan_settings.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "sim/base/letter_case.h"

namespace headway {
namespace {

/// What a setting, or a table of them, was called before; the first that fits holds.
constexpr std::array<std::string_view, 2> kOlderNames[] = {
    {"training.batch_size", "training.local_batch_size"},
    {"training.compile", "compile.enable"},
    {"training.data_parallel_degree", "parallelism.data_parallel_shard_degree"},
    {"training.data_parallel_shard_degree", "parallelism.data_parallel_shard_degree"},
    {"training.data_parallel_replicate_degree", "parallelism.data_parallel_replicate_degree"},
    {"training.tensor_parallel_degree", "parallelism.tensor_parallel_degree"},
    {"training.pipeline_parallel_degree", "parallelism.pipeline_parallel_degree"},
    {"training.fsdp_reshard_after_forward", "parallelism.fsdp_reshard_after_forward"},
    {"training.disable_loss_parallel", "parallelism.disable_loss_parallel"},
    {"training.enable_async_tensor_parallel", "parallelism.enable_async_tensor_parallel"},
    {"training.enable_fp8_linear", "float8.enable_float8_linear"},
    {"training.enable_float8_linear", "float8.enable_float8_linear"},
    {"experimental.pipeline_", "parallelism.pipeline_"},
    {"experimental.context_", "parallelism.context_"},
    {"experimental.enable_async_tensor_parallel", "parallelism.enable_async_tensor_parallel"},
    {"experimental.enable_compiled_autograd", "parallelism.enable_compiled_autograd"},
    {"experimental.expert_", "parallelism.expert_"},
    {"quantize.dense.float8.", "quantize.linear.float8."},
    {"quantize.dense.mx.", "quantize.linear.mx."},
    {"float8.", "quantize.linear.float8."},
    {"mx.", "quantize.linear.mx."},
    {"checkpoint.enable_checkpoint", "checkpoint.enable"},
    {"model.tokenizer_path", "model.hf_assets_path"}};

constexpr std::array<std::string_view, 2> kOlderConverters[] = {
    {"float8", "quantize.linear.float8"},
    {"quantize.dense.float8", "quantize.linear.float8"},
    {"mx", "quantize.linear.mx"},
    {"quantize.dense.mx", "quantize.linear.mx"}};

/// What torchtitan does where it is not told, as far as the table has a setting that says so.
constexpr std::array<std::string_view, 2> kDefaults[] = {
    {"training.local_batch_size", "8"},
    {"training.seq_len", "2048"},
    {"training.mixed_precision_param", "bfloat16"},
    {"training.mixed_precision_reduce", "float32"},
    {"parallelism.data_parallel_replicate_degree", "1"},
    {"parallelism.data_parallel_shard_degree", "-1"},
    {"parallelism.fsdp_reshard_after_forward", "default"},
    {"parallelism.pipeline_parallel_schedule", "1F1B"},
    {"parallelism.pipeline_parallel_microbatch_size", "1"},
    {"parallelism.context_parallel_rotate_method", "allgather"},
    {"activation_checkpoint.mode", "selective"},
    {"activation_checkpoint.selective_ac_option", "2"}};

/// Settings that begin so are no matter of speed or memory, or none that the model of it knows.
constexpr std::string_view kNoMatterToTorchtitan[] = {"activation_checkpoint.early_stop",
                                                      "activation_checkpoint.per_op_sac",
                                                      "checkpoint.",
                                                      "comm.init_timeout",
                                                      "comm.save_traces",
                                                      "comm.trace_buf",
                                                      "comm.train_timeout",
                                                      "dataset.",
                                                      "debug.",
                                                      "fault_tolerance.",
                                                      "job.",
                                                      "lr_scheduler.",
                                                      "memory_estimation.",
                                                      "metrics.",
                                                      "model.hf_assets_path",
                                                      "model.print_after_conversion",
                                                      "optimizer.beta",
                                                      "optimizer.eps",
                                                      "optimizer.implementation",
                                                      "optimizer.lr",
                                                      "optimizer.weight_decay",
                                                      "profiling.",
                                                      "quantize.linear.float8.emulate",
                                                      "quantize.linear.float8.force_recompute",
                                                      "quantize.linear.float8.precompute",
                                                      "quantize.linear.mx.mxfp8_dim1",
                                                      "tokenizer.",
                                                      "training.dataset",
                                                      "training.deterministic",
                                                      "training.gc_",
                                                      "training.max_norm",
                                                      "training.seed",
                                                      "training.steps",
                                                      "training.warmup_steps",
                                                      "validation."};

/// Settings with values that say what is so anyway.
constexpr std::array<std::string_view, 2> kUsual[] = {
    {"experimental.custom_args_module", ""},
    {"experimental.custom_import", ""},
    {"model.norm_type", "rmsnorm"},
    {"model.norm_type", "fused_rmsnorm"},
    {"optimizer.name", "Adam"},
    {"optimizer.name", "AdamW"},
    {"parallelism.expert_tensor_parallel_degree", "1"},
    {"training.data_parallel_type", "fsdp"},
    {"training.dtype", "float32"}};
/// Layers that converters leave as they are, as they do by themselves or do not know them.
constexpr std::string_view kUnconverted[] = {"output", "router.gate", "lm_head"};

/// A flavor of torchtitan (torchtitan/models/*/__init__.py) and its name in the library.
struct TorchtitanModel {
  std::string_view name;
  std::string_view flavor;
  std::string_view model;
};
constexpr TorchtitanModel kModels[] = {
    {"llama2", "7B", "llama2_7b"},          {"llama2", "13B", "llama2_13b"},
    {"llama2", "70B", "llama2_70b"},        {"llama3", "8B", "llama3_8b"},
    {"llama3", "70B", "llama3_70b"},        {"llama3", "405B", "llama3_405b"},
    {"llama4", "17bx16e", "llama4_scout"},  {"llama4", "17bx128e", "llama4_maverick"},
    {"deepseek_v3", "236B", "deepseek_v2"}, {"deepseek_v3", "671B", "deepseek_v3"},
    {"qwen3", "30B-A3B", "qwen3_30b_a3b"},  {"qwen3", "235B-A22B", "qwen3_235b_a22b"},
    {"gpt_oss", "20b", "gpt_oss_20b"},      {"gpt_oss", "120b", "gpt_oss_120b"}};

std::string name_now(std::string name) {
  if (name.starts_with("--")) name.erase(0, 2);
  std::ranges::replace(name, '-', '_');
  for (const auto& [older, now] : kOlderNames) {
    const bool is_table = older.ends_with('.') || older.ends_with('_');
    if (is_table ? name.starts_with(older) : name == older) {
      return std::string(now) + name.substr(older.size());
    }
  }
  return name;
}

GivenSetting named_now(const GivenSetting& setting) {
  GivenSetting now = setting;
  now.flag = name_now(setting.flag);
  for (std::string& value : now.values) {
    if (value == "True" || value == "False") value = lower_case(value);
  }
  return now;
}

void settle_converters(GivenSettings& settings) {
  GivenSetting converters{.flag = "model.converters"};
  if (const GivenSetting* const given = settings.find("model.converters")) {
    converters.place = given->place;
    for (const std::string& member : members_of(*given)) {
      const auto* const older = std::ranges::find(kOlderConverters, std::string_view(member),
                                                  [](const auto& names) { return names.front(); });
      converters.values.emplace_back(older == std::end(kOlderConverters) ? member : (*older)[1]);
    }
  }
  constexpr const char* kEnabled = "quantize.linear.float8.enable_float8_linear";
  if (const GivenSetting* const enabled = settings.find(kEnabled)) {
    if (settings.value(kEnabled) == "true") {
      converters.values.emplace_back("quantize.linear.float8");
      converters.place = enabled->place;
    }
    settings.forget(kEnabled);
  }
  settings.forget("model.converters");
  const auto has = [&](std::string_view name) {
    return std::ranges::find(converters.values, name) != converters.values.end();
  };
  if (has("quantize.linear.float8")) {
    settings.imply("quantize.linear.float8.recipe_name", {"tensorwise"});
  } else {  // says nothing without it
    settings.forget("quantize.linear.float8.recipe_name");
    settings.forget("quantize.linear.float8.enable_fsdp_float8_all_gather");
  }
  if (has("quantize.linear.mx")) {
    settings.imply("quantize.linear.mx.recipe_name", {"mxfp8_cublas"});
    if (settings.value("quantize.linear.mx.recipe_name") == "mxfp8") {
      settings.give({"quantize.linear.mx.recipe_name",
                     {"mxfp8_cublas"},
                     settings.find("quantize.linear.mx.recipe_name")->place});
    }
  } else {
    settings.forget("quantize.linear.mx.recipe_name");
  }
  if (!converters.values.empty()) settings.give(std::move(converters));
}

}  // namespace

std::vector<std::string> members_of(const GivenSetting& setting) {
  std::vector<std::string> members;
  for (const std::string& value : setting.values) {
    std::size_t begin = 0;
    while (begin < value.size()) {
      const std::size_t end = std::min(value.find_first_of(", ", begin), value.size());
      if (end > begin) members.push_back(value.substr(begin, end - begin));
      begin = end + 1;
    }
  }
  return members;
}

GivenSettings torchtitan_settings(const GivenSettings& file, const GivenSettings& flags) {
  GivenSettings settings;
  for (const auto& [name, setting] : file.all()) settings.give(named_now(setting));
  for (const auto& [flag, setting] : flags.all()) {
    GivenSetting now = named_now(setting);
    // "--compile.enable", and "--compile.no-enable".
    if (now.values.empty()) {
      const std::size_t no = now.flag.find(".no_");
      if (no != std::string::npos) now.flag = name_now(now.flag.erase(no + 1, 3));
      now.values = {no == std::string::npos ? "true" : "false"};
    }
    settings.give(std::move(now));
  }
  settle_converters(settings);
  // Of models that are not compiled only the loss may be.
  const GivenSetting* const compiled = settings.find("compile.components");
  if (compiled != nullptr) {
    const std::vector<std::string> parts = members_of(*compiled);
    if (settings.value("compile.enable") == "true" && !std::ranges::count(parts, "model")) {
      settings.give({"compile.enable", {"false"}, compiled->place});
    }
    settings.forget("compile.components");
  }
  for (const auto& [name, value] : kDefaults)
    settings.imply(std::string(name), {std::string(value)});
  return settings;
}

bool is_no_matter_to_torchtitan(const GivenSetting& setting) {
  const std::string& name = setting.flag;
  const std::vector<std::string> members = members_of(setting);
  if (members.empty() || (members.size() == 1 && members.front() == "false")) return true;
  if (name == "fault_tolerance.enable") return false;
  if (name.ends_with(".filter_fqns")) {
    return std::ranges::all_of(members, [](const std::string& member) {
      return std::ranges::find(kUnconverted, member) != std::end(kUnconverted);
    });
  }
  const bool is_usual = std::ranges::any_of(kUsual, [&](const auto& usual) {
    return usual.front() == name && members.size() == 1 && usual.back() == members.front();
  });
  return is_usual || std::ranges::any_of(kNoMatterToTorchtitan, [&](std::string_view beginning) {
           return name.starts_with(beginning);
         });
}

std::string torchtitan_model(std::string_view name, std::string_view flavor) {
  for (const TorchtitanModel& model : kModels) {
    // Flavors of other kernels of attention are the same model: "8B_flex".
    const std::string bare = lower_case(flavor.substr(0, flavor.find('_')));
    if (model.name == name && lower_case(model.flavor) == bare) return std::string(model.model);
  }
  return "";
}

std::string torchtitan_flavors(std::string_view name) {
  std::string flavors;
  for (const TorchtitanModel& model : kModels) {
    if (model.name != name) continue;
    flavors += (flavors.empty() ? "" : ", ") + std::string(model.flavor);
  }
  return flavors;
}

}  // namespace headway

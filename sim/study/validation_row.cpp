#include "sim/study/validation_row.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "sim/base/json_reader.h"
#include "sim/base/quantity_text.h"
#include "sim/cluster/read_topology.h"
#include "sim/model/read_model.h"
#include "sim/profile/read_profile.h"
#include "sim/strategy/read_strategy.h"

namespace headway {
namespace {

/// How rows name accelerators, and how we do.
struct AcceleratorName {
  std::string_view row;
  std::string_view profile;
  std::string_view scale_up_bandwidth;
};
constexpr std::array kAccelerators{
    AcceleratorName{"V100", "v100_sxm", "150 GB/s"},
    AcceleratorName{"A100-40", "a100_sxm_40gb", "300 GB/s"},
    AcceleratorName{"A100-80", "a100_sxm_80gb", "300 GB/s"},
    AcceleratorName{"H100", "h100_sxm", "450 GB/s"},
    AcceleratorName{"H200", "h200_sxm", "450 GB/s"},
    AcceleratorName{"B200", "b200_sxm", "900 GB/s"},
    AcceleratorName{"GB200", "gb200", "900 GB/s"},
    AcceleratorName{"GB300", "gb300", "900 GB/s"},
};

/// What a software family does where the row is silent: our kernel family, and how it reduces
/// gradients. Source: the frameworks' defaults at the releases named in the rows.
struct FrameworkHabits {
  std::string_view row;
  std::string_view kernel_family;
  Precision gradients;
  bool overlaps_gradients;
  std::string_view release = "";  ///< the only one meant; any if empty
};
constexpr std::array kFrameworks{
    FrameworkHabits{"nemo", "fused", Precision::bf16, true},
    FrameworkHabits{"megatron-bridge", "fused", Precision::bf16, true},
    FrameworkHabits{"megatron-core-2024", "fused", Precision::fp32, true},
    FrameworkHabits{"nemo-mlperf", "mlperf", Precision::bf16, true},
    FrameworkHabits{"megatron-2020", "megatron-2021", Precision::fp32, false},
    FrameworkHabits{"megatron-2021", "megatron-2021", Precision::fp32, false},
    FrameworkHabits{"megatron-2022", "megatron-2022", Precision::fp32, false},
    FrameworkHabits{"megatron-deepspeed", "deepspeed", Precision::bf16, false},
    FrameworkHabits{"maxtext", "jax", Precision::bf16, true},
    FrameworkHabits{"composer-fsdp", "composer", Precision::bf16, true},
    FrameworkHabits{"fms-fsdp", "composer", Precision::bf16, true},
    FrameworkHabits{"torchtitan", "torch-eager", Precision::bf16, true, "eager"},
    FrameworkHabits{"torchtitan", "torch-compile", Precision::bf16, true},
    FrameworkHabits{"automodel", "torch-eager", Precision::bf16, true},
    // Single runs of software that has no family of its own.
    FrameworkHabits{"full_runs", "torch-eager", Precision::bf16, true},
    FrameworkHabits{"misc_single_runs", "torch-eager", Precision::bf16, true},
    FrameworkHabits{"aleph-alpha", "aleph-alpha-unfused-norm", Precision::fp32, false, "fa2"},
    FrameworkHabits{"aleph-alpha", "aleph-alpha-flash-1", Precision::fp32, false, "fa1"},
    FrameworkHabits{"aleph-alpha", "aleph-alpha", Precision::fp32, false},
    FrameworkHabits{"internevo", "internevo", Precision::fp32, true},
};

template <class Table>
auto find_row(const Table& table, std::string_view name) {
  return std::ranges::find_if(table, [&](const auto& entry) { return entry.row == name; });
}

const FrameworkHabits* habits_of(const PublishedRow& row) {
  const auto found = std::ranges::find_if(kFrameworks, [&](const FrameworkHabits& entry) {
    return entry.row == row.head.framework &&
           (entry.release.empty() || entry.release == row.release);
  });
  return found == kFrameworks.end() ? nullptr : &*found;
}

std::string word(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}
bool is_true(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}
std::int64_t whole(const nlohmann::json& object, const char* key, std::int64_t fallback) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<std::int64_t>() : fallback;
}
bool is_given(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && !found->is_null();
}

/// What rows call a precision, and what strategies do.
struct PrecisionName {
  std::string_view row;
  std::string_view strategy;
};
constexpr std::array kPrecisions{
    PrecisionName{"bf16", "bf16"},
    PrecisionName{"fp16", "fp16"},
    PrecisionName{"fp8", "fp8"},
    PrecisionName{"fp8cs", "fp8_current"},
    PrecisionName{"fp8row", "fp8_rowwise"},
    PrecisionName{"mxfp8", "mxfp8"},
    PrecisionName{"nvfp4", "nvfp4"},
};

/// What of the row no strategy of ours covers; empty if all is covered.
std::string uncovered(const PublishedRow& row) {
  const std::string precision = word(row.train, "precision");
  if (is_given(row.model, "moe")) return "mixture-of-experts models are not modelled";
  if (is_given(row.model, "mla")) return "multi-head latent attention is not modelled";
  if (is_given(row.model, "window")) return "sliding-window attention is not modelled";
  if (word(row.train, "task") != "pretrain") {
    return "fine-tuning (" + word(row.train, "task") + ") is not modelled";
  }
  if (find_row(kPrecisions, precision) == kPrecisions.end()) {
    return "the " + precision + " recipe is not modelled";
  }
  const std::string recompute = word(row.train, "recompute");
  if (recompute != "none" && recompute != "selective" && recompute != "full") {
    return "recomputation of \"" + recompute + "\" is not modelled";
  }
  const std::string fsdp = word(row.train, "fsdp");
  if (fsdp != "none" && fsdp != "full") return "FSDP mode \"" + fsdp + "\" is not modelled";
  if (whole(row.train, "cpu_offload_layers", 0) > 0) return "CPU offload is not modelled";
  if (find_row(kAccelerators, row.head.accelerator) == kAccelerators.end()) {
    return "there is no profile of " + row.head.accelerator;
  }
  if (habits_of(row) == nullptr) {
    return "no kernel family stands for framework \"" + row.head.framework + "\"";
  }
  return "";
}

nlohmann::json model_json(const PublishedRow& row, std::vector<std::string>& assumed) {
  const nlohmann::json& model = row.model;
  const bool gated = is_true(model, "gated");
  assumed.emplace_back(
      "rotary positions and RMS norms where the MLP is gated, else learned "
      "positions and layer norms");
  return {{"schema", "headway/model/1"},
          {"name", word(model, "name").empty() ? row.head.id : word(model, "name")},
          {"source", row.head.source},
          {"layers", model.at("layers")},
          {"hidden", model.at("hidden")},
          {"attention_heads", model.at("heads")},
          {"kv_heads", model.at("kv_heads")},
          {"head_size", model.at("head_dim")},
          {"ffn_hidden", model.at("ffn")},
          {"mlp", gated ? "gated" : "plain"},
          {"vocabulary", model.at("vocab")},
          {"tied_embeddings", !gated},
          {"normalization", gated ? "rms_norm" : "layer_norm"},
          {"position_encoding", gated ? "rotary" : "learned"},
          {"sequence_length", model.at("seq")}};
}

/// A fabric that is nobody's bottleneck: the sources describe full-bisection InfiniBand fabrics.
nlohmann::json topology_json(const PublishedRow& row, const AcceleratorName& accelerator,
                             std::string_view profile_accelerator) {
  // An NVL72 rack is eighteen nodes of four accelerators in one scale-up domain.
  constexpr std::int64_t kRackDomain = 72;
  constexpr std::int64_t kRackNode = 4;
  const std::int64_t node = row.nvlink_domain == kRackDomain ? kRackNode : row.nvlink_domain;
  const auto per_node = std::min<std::int64_t>(node, row.head.accelerators);
  const std::int64_t domain = std::max<std::int64_t>(per_node, row.nvlink_domain);
  const std::int64_t nodes = row.head.accelerators / per_node;
  constexpr std::int64_t kUnit = 32;
  const std::int64_t units = (nodes + kUnit - 1) / kUnit;
  return {
      {"schema", "headway/topology/1"},
      {"name", "published system"},
      {"node",
       {{"schema", "headway/node/1"},
        {"name", "published node"},
        {"accelerator", profile_accelerator},
        {"accelerators", per_node},
        {"scale_up",
         {{"bandwidth", accelerator.scale_up_bandwidth},
          {"latency", "500 ns"},
          {"domain", domain}}},
        {"nics",
         {{"count", per_node},
          {"bandwidth", exact_text(BytesPerSecond(row.nic_gigabytes_per_second * 1e9))},
          {"latency", "800 ns"}}}}},
      {"nodes", nodes},
      {"fabric",
       {{"kind", "clos"},
        {"attach", "rail"},
        {"nodes_per_unit", kUnit},
        {"units", units},
        {"leaf", {{"uplinks", kUnit}, {"cable_latency", "10 ns"}, {"switch_latency", "200 ns"}}},
        {"spine",
         {{"switches", kUnit}, {"cable_latency", "150 ns"}, {"switch_latency", "200 ns"}}}}}};
}

nlohmann::json strategy_json(const PublishedRow& row, const FrameworkHabits& habits,
                             std::vector<std::string>& assumed) {
  const nlohmann::json& train = row.train;
  const std::int64_t stages = whole(train, "pp", 1);
  const std::int64_t chunks = stages * whole(train, "vpp", 1);
  const std::int64_t layers = whole(row.model, "layers", 1);
  const bool tensor_parallel = whole(train, "tp", 1) > 1;
  const bool sequence_parallel = is_true(train, "sequence_parallel") && tensor_parallel;
  const bool sharded_optimizer = is_true(train, "distributed_optimizer");
  const bool full_sharding = word(train, "fsdp") == "full";
  assumed.push_back(fmt::format("gradients reduced in {}{}", precision_name(habits.gradients),
                                habits.overlaps_gradients ? ", overlapped with backward" : ""));
  nlohmann::json strategy = {
      {"tensor_parallel", whole(train, "tp", 1)},
      {"context_parallel", whole(train, "cp", 1)},
      {"pipeline_parallel", stages},
      {"data_parallel", whole(train, "dp", 1)},
      {"virtual_stages", whole(train, "vpp", 1)},
      {"layer_placement", layers % chunks == 0 ? "even" : "embedding_and_loss_as_layers"},
      {"micro_batch", train.at("micro_batch")},
      {"global_batch", train.at("global_batch")},
      {"sequence_parallel", sequence_parallel},
      {"tensor_parallel_overlap", is_true(train, "tp_overlap") && sequence_parallel},
      {"attention", is_true(train, "flash") ? "flash" : "unfused"},
      {"recompute", train.at("recompute")},
      {"zero_stage", full_sharding ? 3 : (sharded_optimizer ? 1 : 0)},
      {"overlap_gradient_reduce", habits.overlaps_gradients},
      {"overlap_parameter_gather",
       habits.overlaps_gradients && (full_sharding || sharded_optimizer)},
      {"overlap_pipeline_transfers", whole(train, "vpp", 1) > 1},
      {"precision", find_row(kPrecisions, word(train, "precision"))->strategy},
      {"gradient_precision", precision_name(habits.gradients)},
      {"kernel_family", habits.kernel_family}};
  return strategy;
}

/// Reads what we wrote ourselves; what it still refuses is the row's reason.
template <class Read>
auto read_own(const char* name, const nlohmann::json& json, std::string& reason, Read read) {
  Diagnostics diagnostics;
  InputFiles files({}, data_folders(), diagnostics);
  const nlohmann::json whole = {{name, json}};
  const JsonCursor root(JsonDocument::parse("row", whole.dump(), diagnostics));
  auto result = read(*root.member(name), files);
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.severity != Severity::error || !reason.empty()) continue;
    reason = diagnostic.message + (diagnostic.label.empty() ? "" : ": " + diagnostic.label);
  }
  return result;
}

}  // namespace

PublishedRow read_published_row(const JsonCursor& cursor, Diagnostics& diagnostics) {
  PublishedRow row;
  const auto object = [&](const char* key) -> std::optional<JsonCursor> {
    const auto member = cursor.value().is_object() ? cursor.member(key) : std::nullopt;
    if (member && member->value().is_object()) return member;
    diagnostics.add(cursor.problem(fmt::format("a row needs \"{}\", an object", key)));
    return std::nullopt;
  };
  const auto number = [&](const JsonCursor& from, const char* key) {
    const auto member = from.member(key);
    if (member && member->value().is_number() && member->value().get<double>() > 0.0) {
      return member->value().get<double>();
    }
    diagnostics.add((member ? *member : from)
                        .problem(fmt::format("a row needs \"{}\", a positive number", key)));
    return 1.0;
  };
  const auto model = object("model");
  const auto train = object("train");
  const auto measured = object("measured");
  if (!model || !train || !measured) return row;
  row.model = model->value();
  row.train = train->value();
  for (const char* key :
       {"layers", "hidden", "heads", "kv_heads", "head_dim", "ffn", "vocab", "seq"}) {
    number(*model, key);
  }
  for (const char* key : {"tp", "pp", "dp", "micro_batch", "global_batch"}) number(*train, key);
  for (const char* key : {"recompute", "precision", "task", "fsdp"}) {
    if (word(row.train, key).empty()) {
      diagnostics.add(train->problem(fmt::format("a row needs \"{}\", a text", key)));
    }
  }
  row.head.id = word(cursor.value(), "id");
  row.head.framework = word(cursor.value(), "framework");
  row.head.accelerator = word(cursor.value(), "gpu");
  row.head.precision = word(row.train, "precision");
  row.head.accelerators = static_cast<std::int64_t>(number(cursor, "gpus"));
  row.head.published_s = number(*measured, "iteration_time_s");
  row.nvlink_domain = static_cast<int>(number(cursor, "nvlink_domain"));
  row.nic_gigabytes_per_second = number(cursor, "nic_GBps_per_gpu");
  row.release = word(cursor.value(), "release");
  if (const auto source = cursor.member("source")) {
    row.head.source =
        source->value().is_object() ? word(source->value(), "key") : word(cursor.value(), "source");
  }
  if (row.head.id.empty()) diagnostics.add(cursor.problem("a row needs \"id\", a text"));
  return row;
}

std::variant<Scenario, Refusal> scenario_of_row(const PublishedRow& row,
                                                std::vector<std::string>& assumed) {
  std::string reason = uncovered(row);
  if (!reason.empty()) return Refusal{reason};
  const AcceleratorName& accelerator = *find_row(kAccelerators, row.head.accelerator);
  const FrameworkHabits& habits = *habits_of(row);

  const auto profile =
      read_own("profile", std::string(accelerator.profile), reason,
               [](const JsonCursor& part, InputFiles& files) { return read_profile(part, files); });
  if (!profile || !reason.empty()) return Refusal{reason};
  const auto model =
      read_own("model", model_json(row, assumed), reason,
               [](const JsonCursor& part, InputFiles& files) { return read_model(part, files); });
  if (!model || !reason.empty()) return Refusal{reason};
  assumed.emplace_back("a non-blocking rail-optimised fabric");
  const auto topology = read_own(
      "topology", topology_json(row, accelerator, profile->profile->accelerator), reason,
      [](const JsonCursor& part, InputFiles& files) { return read_topology(part, files); });
  if (!topology || !reason.empty()) return Refusal{reason};
  const int accelerators = topology->cluster->accelerators();
  const auto strategy = read_own("strategy", strategy_json(row, habits, assumed), reason,
                                 [&](const JsonCursor& part, InputFiles& files) {
                                   return read_strategy(part, *model, accelerators, files);
                                 });
  if (!strategy || !reason.empty()) return Refusal{reason};

  const DeviceCosts& device = profile->profile->device;
  if (!supports(device, strategy->strategy.precision) ||
      cast_bytes(device, strategy->strategy.scaling) == nullptr) {
    return Refusal{
        fmt::format("{} has no costs of {}", accelerator.profile, word(row.train, "precision"))};
  }

  Scenario scenario;
  scenario.name = row.head.id;
  scenario.model = model->model;
  scenario.cluster = topology->cluster;
  scenario.profile = profile->profile;
  scenario.strategy = strategy->strategy;
  scenario.placement = placement_of(scenario.strategy, Placement{}.order);
  scenario.perturbation.device_spread = scenario.profile->variation.device_speed.value;
  scenario.perturbation.operation_spread = scenario.profile->variation.operation_time.value;
  return scenario;
}

}  // namespace headway

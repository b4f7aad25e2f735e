#include "sim/reference/explain_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/file_text.h"
#include "sim/base/quantity_text.h"
#include "sim/base/utf8.h"
#include "sim/costs/read_profile.h"
#include "sim/files/input_files.h"
#include "sim/files/kinds/file_kind.h"
#include "sim/files/kinds/foreign_text.h"
#include "sim/jobs/frameworks.h"
#include "sim/layers/parameters.h"
#include "sim/models/huggingface/huggingface.h"
#include "sim/models/read_model.h"
#include "sim/network/node_type.h"
#include "sim/network/read_topology.h"
#include "sim/result/number_text.h"
#include "sim/result/words/evidence_sentence.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

/// "400 Gb/s": NICs are sold in bits.
std::string bits_text(BytesPerSecond rate) { return fmt::format("{:g} Gb/s", rate.count() * 8e-9); }

/// "989 TFLOP/s bf16": of the precision that most models train in, where the device has it.
std::string peak_text(const DeviceCosts& device) {
  for (const Precision precision :
       {Precision::bf16, Precision::fp16, Precision::tf32, Precision::fp32}) {
    const auto peak = device.peak_flops.find(precision);
    if (peak == device.peak_flops.end()) continue;
    return fmt::format("{} {}", short_text(FlopsPerSecond(peak->second.value)), word_of(precision));
  }
  HEADWAY_CHECK(false, "a device has the peak of a wide precision");
}

using Explained = std::optional<ExplainedFile>;

Explained explain_model(const JsonCursor& part, InputFiles& files) {
  auto read = read_model(part, files);
  if (!read) return std::nullopt;
  const std::int64_t parameters = parameter_count(read->model);
  if (!read->transformer) {
    return ExplainedFile{"model",
                         fmt::format("{} parameters, {}", parameters_text(parameters),
                                     counted(read->model.layer_count(), "layer")),
                         std::move(read->resolved)};
  }
  const TransformerModel& model = *read->transformer;
  std::string heads = fmt::format("{} heads", model.attention_heads);
  if (model.kv_heads != model.attention_heads) heads += fmt::format(" ({} kv)", model.kv_heads);
  std::string tower;
  if (model.vision) tower = ", a vision tower of " + counted(model.vision->layers, "layer");
  return ExplainedFile{"model",
                       fmt::format("{} parameters, {} layers, hidden {}, {}, sequence {}{}",
                                   parameters_text(parameters), model.layers, model.hidden, heads,
                                   model.sequence_length, tower),
                       std::move(read->resolved)};
}

Explained explain_topology(const JsonCursor& part, InputFiles& files) {
  auto read = read_topology(part, files);
  if (!read) return std::nullopt;
  const Cluster& cluster = *read->cluster;
  const int switches = cluster.topology.switch_count();
  return ExplainedFile{
      "topology",
      fmt::format("{}: {} x {}, {}{}, NICs of {}", counted(cluster.accelerators(), "GPU"),
                  grouped_digits(cluster.nodes), cluster.node_type.name,
                  read->resolved->at("fabric").at("kind").get<std::string>(),
                  switches > 0 ? " of " + counted(switches, "switch") : "",
                  bits_text(cluster.node_type.nic_bandwidth)),
      std::move(read->resolved)};
}

Explained explain_node(const JsonCursor& part, InputFiles& files) {
  auto read = read_node_type(part, files);
  if (!read) return std::nullopt;
  const NodeType& type = read->type;
  return ExplainedFile{"node",
                       fmt::format("{} x {}, {} of {}", type.accelerators, type.accelerator,
                                   counted(type.nics, "NIC"), bits_text(type.nic_bandwidth)),
                       std::move(read->resolved)};
}

/// What a published profile's predictions were held against.
std::string grade_text(const Profile& profile) {
  if (profile.kind == "measured") return "measured";
  const PublishedSteps& steps = profile.published_steps;
  return fmt::format(
      "published: {}, {}",
      profile.device.products.empty() ? "products by data sheet" : "products measured",
      published_steps_text(steps.count, steps.sources));
}

Explained explain_profile(const JsonCursor& part, InputFiles& files) {
  const auto read = read_profile(part, files);
  if (!read) return std::nullopt;
  const Profile& profile = *read->profile;
  return ExplainedFile{
      "profile",
      fmt::format("{}, {}, {}; {}", profile.accelerator, peak_text(profile.device),
                  short_text(Bytes(profile.device.memory_bytes.value)), grade_text(profile)),
      read->cursor.value()};  // a profile has no defaults to write out
}

Explained explain_framework(const JsonCursor& part, InputFiles& files) {
  const auto framework = read_framework(part, files.diagnostics());
  if (!framework) return std::nullopt;
  return ExplainedFile{"framework",
                       fmt::format("{}: kernels of family {}, gradients in {}", framework->name,
                                   framework->strategy.kernel_family,
                                   word_of(framework->strategy.gradient_precision)),
                       part.value()};
}

Explained explain_scenario(const std::string& path, const ScenarioOptions& options,
                           Diagnostics& diagnostics) {
  Diagnostics own;
  Explained explained;
  try {
    Scenario scenario = read_scenario(path, options, own);
    const Strategy& strategy = *scenario.strategy;
    const std::string context =
        strategy.context_parallel > 1 ? fmt::format(", cp {}", strategy.context_parallel) : "";
    explained =
        ExplainedFile{"scenario",
                      fmt::format("{} on {}, {}: tp {}{}, pp {}, dp {}", scenario.model.name,
                                  scenario.cluster->name, counted(strategy.ranks(), "GPU"),
                                  strategy.tensor_parallel, context, strategy.pipeline_parallel,
                                  strategy.data_parallel),
                      std::move(scenario.resolved)};
  } catch (const InputError& error) {
    if (!own.has_errors()) {
      for (const Diagnostic& problem : error.diagnostics()) own.add(problem);
    }
  }
  diagnostics.append(own);
  return explained;
}

/// Where names of a kind are looked for, and who reads it. A scenario is read by its path.
struct ExplainedKind {
  std::string_view schema;
  std::string_view folder;
  Explained (*explain)(const JsonCursor& part, InputFiles& files);
};
constexpr std::array<ExplainedKind, 7> kKinds = {{
    {"headway/scenario/1", "scenarios", nullptr},
    {"headway/topology/1", "topologies", explain_topology},
    {"headway/profile/1", "calibrate/profiles", explain_profile},
    {"headway/profile/1", "calibrate/profiles/accelerators", explain_profile},
    {"headway/model/1", "scenarios/models", explain_model},
    {"headway/node/1", "topologies/nodes", explain_node},
    {"headway/framework/1", "scenarios/frameworks", explain_framework},
}};

/// A file as named, or the one that a data folder has under that name; else the name itself.
std::string found_path(const std::string& name) {
  std::error_code error;
  if (name == "-" || fs::exists(name, error)) return name;
  for (const fs::path& data : data_folders()) {
    for (const ExplainedKind& kind : kKinds) {
      for (const std::string& file : {name, name + ".json"}) {
        const fs::path path = data / kind.folder / file;
        if (fs::is_regular_file(path, error)) return path.lexically_normal().string();
      }
    }
  }
  return name;
}

/// The kind that the file says it is; nothing, and a diagnostic, if it says none.
const ExplainedKind* kind_of(const JsonCursor& root, Diagnostics& diagnostics) {
  if (is_huggingface_config(root))
    return &*std::ranges::find(kKinds, "headway/model/1", &ExplainedKind::schema);
  const auto schema = root.is_object() ? root.member("schema") : std::nullopt;
  if (const ForeignText* const foreign = schema ? nullptr : foreign_object(root)) {
    diagnostics.add(
        root.problem(fmt::format("this is {}, of which nothing is checked", foreign->what), "",
                     std::string(foreign->help)));
    return nullptr;
  }
  if (!schema) {
    diagnostics.add(root.problem("missing field \"schema\", which says what the file is", "",
                                 "for example \"schema\": \"headway/scenario/1\""));
    return nullptr;
  }
  const auto found = std::ranges::find_if(
      kKinds, [&](const ExplainedKind& kind) { return schema->value() == kind.schema; });
  if (found != kKinds.end()) return &*found;
  if (schema->value() == "headway/strategy/1") {
    diagnostics.add(schema->problem("a strategy is checked against a model and a cluster", "",
                                    "check the scenario that names it"));
    return nullptr;
  }
  if (schema->value() == "headway/software/1") {
    diagnostics.add(schema->problem("software is checked on an accelerator", "",
                                    "check a profile that names it"));
    return nullptr;
  }
  const std::string name = schema->text().value_or("");
  const std::string_view use = file_kind_use(name);
  const bool is_of_another_version = std::ranges::any_of(
      kKinds, [&](const ExplainedKind& kind) { return are_of_one_kind(kind.schema, name); });
  if (!use.empty() && !is_of_another_version) {
    diagnostics.add(schema->problem(fmt::format("nothing is checked of {}", file_kind_words(name)),
                                    "", std::string(use)));
    return nullptr;
  }
  diagnostics.add(
      schema->problem("files of this schema are not known", "", name_help(name, known_schemas())));
  return nullptr;
}

}  // namespace

const std::vector<std::string>& known_schemas() {
  static const std::vector<std::string> kSchemas = [] {
    std::vector<std::string> schemas;
    schemas.reserve(kKinds.size());
    for (const ExplainedKind& kind : kKinds) schemas.emplace_back(kind.schema);
    schemas.erase(std::unique(schemas.begin(), schemas.end()), schemas.end());
    return schemas;
  }();
  return kSchemas;
}

Explained explained_file(const std::string& name, const ScenarioOptions& options,
                         Diagnostics& diagnostics) {
  if (name == "-") return explain_scenario(name, options, diagnostics);
  const std::string path = found_path(name);
  Diagnostics own;
  InputFiles files(options.overrides, data_folders(), own, options.memory);
  const std::optional<JsonCursor> root = files.open(path, "scenarios");
  Explained explained;
  if (root) {
    const ExplainedKind* const kind = kind_of(*root, own);
    if (kind != nullptr && kind->explain == nullptr) {
      return explain_scenario(path, options, diagnostics);
    }
    if (kind != nullptr) explained = kind->explain(*root, files);
    files.report_unused_overrides();
  }
  diagnostics.append(own);
  return own.has_errors() ? std::nullopt : explained;
}

void ProblemsOnce::append(const Diagnostics& found) {
  for (const Diagnostic& problem : found.all()) {
    const SourceLocation& place = problem.location;
    std::string key = fmt::format("{}\n{}\n{}:{}\n{}", problem.message, place.file, place.line,
                                  place.column, problem.pointer);
    if (known_.insert(std::move(key)).second) all_.push_back(problem);
  }
}

}  // namespace headway

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/files/input_files.h"
#include "sim/files/json_text.h"
#include "sim/jobs/frameworks.h"
#include "sim/jobs/read_strategy.h"
#include "sim/models/read_model.h"
#include "sim/reference/explain_tables.h"

namespace headway {
namespace {

/// The field that only adapters have.
constexpr const char* kOfAdapters = "lora_precision";
/// What follows from the accelerators of the job that a preset is resolved for.
constexpr const char* kOfTheJob[] = {"preset", "data_parallel", "tensor_parallel", "shard_group"};

/// The fields that a preset resolves to. Read by the reader of scenarios, so that what is told is
/// what happens. Nothing for a degree that the preset does not take.
nlohmann::json resolved_preset(std::string_view preset, int tensor_parallel,
                               const nlohmann::json& others) {
  constexpr const char* kModel = R"({"layers": 8, "hidden": 8, "attention_heads": 8,
    "ffn_hidden": 8, "mlp": "plain", "vocabulary": 8, "sequence_length": 8})";
  constexpr int kAccelerators = 4;
  nlohmann::json object = {
      {"preset", preset}, {"tensor_parallel", tensor_parallel}, {"global_batch", 8}};
  object.update(others);

  Diagnostics diagnostics;
  InputFiles files({}, {}, diagnostics);
  const auto model_document = JsonDocument::parse("model", kModel, diagnostics);
  // Read inside a document, where a model and a strategy need no schema of their own.
  const auto document = JsonDocument::parse(
      "preset",
      compact_json(nlohmann::json{{"model", model_document->root()}, {"strategy", object}}),
      diagnostics);
  const auto part = [&](const char* key) { return JsonCursor(document, std::string("/") + key); };
  const auto model = read_model(part("model"), files);
  HEADWAY_CHECK(model.has_value(), "the model of explain_presets is wrong");
  const auto strategy = read_strategy(part("strategy"), *model, kAccelerators, files);
  return strategy ? nlohmann::json(strategy->resolved) : nlohmann::json();
}

/// For a job in which as little as may be is without effect: tensor parallelism, where it is taken,
/// what software keeps, and adapters.
nlohmann::json preset_fields(std::string_view preset) {
  for (const int tensor_parallel : {2, 1}) {
    nlohmann::json fields =
        resolved_preset(preset, tensor_parallel, {{"memory", nlohmann::json::object()}});
    if (fields.is_null()) continue;
    const nlohmann::json with_adapters =
        resolved_preset(preset, tensor_parallel, {{"task", "lora"}});
    if (with_adapters.contains(kOfAdapters)) fields[kOfAdapters] = with_adapters.at(kOfAdapters);
    for (const char* degree : kOfTheJob) fields.erase(degree);
    return fields;
  }
  HEADWAY_CHECK(false, fmt::format("preset {} does not resolve", preset));
}

/// With what `fields` is a part of in front of each: "memory.".
std::string fields_text(const nlohmann::json& fields, const nlohmann::json& defaults,
                        const std::string& part) {
  std::string text;
  for (const auto& [key, value] : fields.items()) {
    const auto usual = defaults.find(key);
    if (usual != defaults.end() && value == *usual) continue;
    const std::string said =
        value.is_object()
            ? fields_text(value, usual != defaults.end() ? *usual : nlohmann::json::object(),
                          fmt::format("{}{}.", part, key))
            : fmt::format("{}{} {}", part, key, compact_json(value));
    text += (text.empty() ? "" : ", ") + said;
  }
  return text;
}

}  // namespace

std::vector<Topic> preset_topics() {
  const nlohmann::json defaults = preset_fields(frameworks().front().name);
  std::vector<Topic> topics;
  for (const Framework& framework : frameworks()) {
    const nlohmann::json fields = preset_fields(framework.name);
    std::string source = "strategy.preset; " + framework.about;
    for (const std::string& link : framework.links) source += "; " + link;
    const std::string set = fields_text(fields, defaults, "");
    topics.push_back(
        {TopicKind::preset, fmt::format("preset.{}", framework.name), "a value of strategy.preset",
         "", fmt::format("Sets {}.", set.empty() ? "nothing: the defaults of the fields" : set), "",
         std::move(source)});
  }
  return topics;
}

}  // namespace headway

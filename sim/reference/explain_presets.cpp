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

/// The fields that a preset resolves to. Read by the reader of scenarios, so that what is told is
/// what happens. Nothing for a degree that the preset does not take.
nlohmann::json resolved_preset(std::string_view preset, int tensor_parallel) {
  constexpr const char* kModel = R"({"layers": 8, "hidden": 8, "attention_heads": 8,
    "ffn_hidden": 8, "mlp": "plain", "vocabulary": 8, "sequence_length": 8})";
  constexpr int kAccelerators = 4;
  const nlohmann::json object = {
      {"preset", preset}, {"tensor_parallel", tensor_parallel}, {"global_batch", 8}};

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

/// For a job in which as little as may be is without effect: tensor parallelism, where it is taken.
nlohmann::json preset_fields(std::string_view preset) {
  for (const int tensor_parallel : {2, 1}) {
    const nlohmann::json fields = resolved_preset(preset, tensor_parallel);
    if (!fields.is_null()) return fields;
  }
  HEADWAY_CHECK(false, fmt::format("preset {} does not resolve", preset));
}

std::string fields_text(const nlohmann::json& fields, const nlohmann::json& defaults) {
  std::string text;
  for (const auto& [key, value] : fields.items()) {
    if (key == "preset" || !defaults.contains(key) || value == defaults.at(key)) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", key, compact_json(value));
  }
  return text.empty() ? "nothing: the defaults of the fields" : text;
}

}  // namespace

std::vector<Topic> preset_topics() {
  const nlohmann::json defaults = preset_fields(frameworks().front().name);
  std::vector<Topic> topics;
  for (const Framework& framework : frameworks()) {
    const nlohmann::json fields = preset_fields(framework.name);
    std::string source = "strategy.preset; " + framework.about;
    for (const std::string& link : framework.links) source += "; " + link;
    topics.push_back({TopicKind::preset, fmt::format("preset.{}", framework.name),
                      "a value of strategy.preset", "",
                      "Sets " + fields_text(fields, defaults) + ".", "", std::move(source)});
  }
  return topics;
}

}  // namespace headway

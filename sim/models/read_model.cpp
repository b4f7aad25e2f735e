#include "sim/models/read_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/files/json_reader.h"
#include "sim/models/huggingface/huggingface.h"
#include "sim/models/model_fields.h"

namespace headway {
namespace {

constexpr std::string_view kSchema = "headway/model/1";
constexpr std::string_view kFolder = "scenarios/models";
constexpr double kParameterTolerance = 0.005;  ///< publications round to two or three digits

/// Whether a `--set` has changed a field: then the model is no longer the published one.
bool is_overridden(const JsonCursor& object) {
  const nlohmann::json& fields = object.value();
  return std::any_of(fields.items().begin(), fields.items().end(), [&](const auto& field) {
    const std::optional<JsonCursor> member = object.member(field.key());
    return member && member->problem("").location.file.starts_with("--set");
  });
}

/// Holds the published count, if there is one, against what the fields add up to.
void check_parameters(std::int64_t published, const TransformerModel& model, ObjectReader& reader) {
  const std::int64_t counted = parameter_counts(model).total();
  const double distance = std::abs(static_cast<double>(counted - published));
  if (distance <= kParameterTolerance * static_cast<double>(published)) return;
  reader.report("parameters", "the fields do not add up to the published parameters",
                fmt::format("{} published, {} from the fields", grouped_digits(published),
                            grouped_digits(counted)),
                "mend the field that is off, or leave \"parameters\" out of a model of your own");
}

struct ModelSource {
  TransformerModel model;
  bool is_overridden;
};

/// An object with "huggingface": the configuration, and what the object says beside it.
std::optional<ModelSource> read_reference(ObjectReader& reader, InputFiles& files) {
  const std::string name = reader.text("name", "");
  const std::string source = reader.text("source", "");
  const std::optional<JsonCursor> part = reader.required_part("huggingface");
  if (!part) return std::nullopt;
  const std::optional<JsonCursor> config = files.follow(*part, std::string(kFolder));
  if (!config) return std::nullopt;
  std::optional<TransformerModel> model = read_huggingface(*config, reader.diagnostics());
  if (!model) return std::nullopt;
  if (!name.empty()) model->name = name;
  if (!source.empty()) model->source = source;
  return ModelSource{*model, is_overridden(*config)};
}

/// An object of ours, problems going into the reader's diagnostics.
std::optional<TransformerModel> read_object(ObjectReader& reader, InputFiles& files) {
  const bool is_whole_file = reader.cursor().pointer().empty();
  const bool has_schema = reader.has("schema");
  if ((is_whole_file || has_schema) && !read_schema(reader, kSchema)) return std::nullopt;

  const std::optional<ModelSource> source = reader.has("huggingface")
                                                ? read_reference(reader, files)
                                                : ModelSource{read_model_fields(reader), false};
  const bool has_published = reader.has("parameters");
  const std::int64_t published =
      has_published ? reader.integer("parameters", between(1, model_limits::kMostParameters)) : 0;
  // Combinations of fields that could not be read would only add false alarms; unknown fields do
  // not touch them.
  const bool is_readable = source && !reader.diagnostics().has_errors();
  reader.finish();
  if (!is_readable || !check_combinations(source->model, reader.cursor(), "attention_heads",
                                          "kv_heads", reader.diagnostics())) {
    return std::nullopt;
  }
  if (has_published && !source->is_overridden && !is_overridden(reader.cursor())) {
    check_parameters(published, source->model, reader);
  }
  return source->model;
}

}  // namespace

std::optional<ReadModel> read_model(const JsonCursor& part, InputFiles& files) {
  const std::optional<JsonCursor> cursor = files.follow(part, std::string(kFolder));
  if (!cursor) return std::nullopt;

  std::optional<TransformerModel> model;
  if (is_huggingface_config(*cursor)) {
    model = read_huggingface(*cursor, files.diagnostics());
  } else {
    Diagnostics own;
    ObjectReader reader(*cursor, own);
    model = read_object(reader, files);
    files.diagnostics().append(own);
  }
  if (!model) return std::nullopt;
  return ReadModel{.model = *model, .cursor = *cursor, .resolved = resolved_model(*model)};
}

}  // namespace headway

#include "sim/models/read_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/files/json_reader.h"
#include "sim/layers/parameters.h"
#include "sim/models/families.h"
#include "sim/models/huggingface/huggingface.h"
#include "sim/models/transformer/model_fields.h"
#include "sim/models/transformer/transformer_layers.h"
#include "sim/models/transformer/vision_tower.h"

namespace headway {
namespace {

constexpr std::string_view kSchema = "headway/model/1";
constexpr std::string_view kFolder = "scenarios/models";
constexpr double kParameterTolerance = 0.005;  ///< publications round to two or three digits

/// Whether a `--set` or a candidate has set the value, which then has no line of its own.
bool is_set_anew(const JsonCursor& value) { return value.problem("").location.line == 0; }

/// The same of a field at any depth: the model is no longer the published one.
bool is_overridden(const JsonCursor& part) {
  const auto changed = [](const JsonCursor& inner) {
    return is_set_anew(inner) || is_overridden(inner);
  };
  if (part.is_array()) {
    for (std::size_t i = 0; i < part.size(); ++i) {
      if (changed(part.element(i))) return true;
    }
    return false;
  }
  if (!part.is_object()) return false;
  const nlohmann::json& fields = part.value();
  return std::any_of(fields.items().begin(), fields.items().end(), [&](const auto& field) {
    const std::optional<JsonCursor> member = part.member(field.key());
    return member && changed(*member);
  });
}

/// Holds the published count, if there is one, against what the fields add up to.
void check_parameters(std::int64_t published, const Model& model, ObjectReader& reader) {
  const std::int64_t counted = parameter_count(model);
  const double distance = std::abs(static_cast<double>(counted - published));
  if (distance <= kParameterTolerance * static_cast<double>(published)) return;
  reader.report("parameters", "the fields do not add up to the published parameters",
                fmt::format("{} published, {} from the fields", grouped_digits(published),
                            grouped_digits(counted)),
                "mend the field that is off, or leave \"parameters\" out of a model of your own");
}

struct ModelSource {
  std::optional<TransformerModel> transformer;
  Model model = {};  ///< of another family
  /// The fields of another family that were not read from an object of ours.
  std::optional<nlohmann::json> resolved = {};
  bool is_overridden = false;
};

/// What an object says beside a configuration, which counts instead of what that says.
struct SaidBeside {
  std::string name = {};
  std::string source = {};
  std::optional<JsonCursor> images = {};
  std::optional<JsonCursor> clips = {};
};

SeenImages read_images(const JsonCursor& part, Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  SeenImages images;
  if (reader.has("share")) images.share = reader.number("share", kImageShares);
  if (reader.has("patches")) images.patches = reader.integer("patches", kImagePatches);
  static_cast<void>(reader.finish());
  return images;
}

HeardClips read_clips(const JsonCursor& part, Diagnostics& diagnostics) {
  ObjectReader reader(part, diagnostics);
  HeardClips clips;
  if (reader.has("samples"))
    clips.samples = reader.integer("samples", model_limits::kSequenceLength);
  static_cast<void>(reader.finish());
  return clips;
}

/// What is said beside a configuration that has nothing of the kind.
bool refuse_beside(const std::optional<JsonCursor>& part, bool is_read, std::string_view name,
                   Diagnostics& diagnostics) {
  if (!part || is_read) return false;
  diagnostics.add(part->key_problem(fmt::format("the configuration has no {} that are read", name),
                                    fmt::format("leave \"{}\" out", name)));
  return true;
}

std::optional<ModelSource> read_configuration(const JsonCursor& config, const SaidBeside& beside,
                                              Diagnostics& diagnostics) {
  const auto& [name, source, images, clips] = beside;
  if (refuse_beside(clips, hears_clips(config), "clips", diagnostics)) return std::nullopt;
  if (is_encoder(config)) {
    if (refuse_beside(images, false, "images", diagnostics)) return std::nullopt;
    const HeardClips heard = clips ? read_clips(*clips, diagnostics) : HeardClips{};
    std::optional<EncoderModel> read = read_huggingface_encoder(config, diagnostics, heard);
    if (!read) return std::nullopt;
    rename(*read, name, source);
    return ModelSource{.model = std::move(read->model), .resolved = *read->resolved};
  }
  const SeenImages seen = images ? read_images(*images, diagnostics) : SeenImages{};
  std::optional<TransformerModel> fields = read_huggingface(config, diagnostics, seen);
  if (!fields) return std::nullopt;
  if (refuse_beside(images, fields->vision.has_value(), "images", diagnostics)) {
    return std::nullopt;
  }
  if (fields->vision && images) {
    ObjectReader at(*images, diagnostics);
    check_vision_tower(at, *fields->vision);
  }
  if (!name.empty()) fields->name = name;
  if (!source.empty()) fields->source = source;
  return ModelSource{
      .transformer = fields, .model = layers_of(*fields), .resolved = resolved_model(*fields)};
}

/// An object with "huggingface": the configuration, and what the object says beside it.
std::optional<ModelSource> read_reference(ObjectReader& reader, InputFiles& files) {
  const SaidBeside beside{.name = reader.text("name", ""),
                          .source = reader.text("source", ""),
                          .images = reader.part("images"),
                          .clips = reader.part("clips")};
  const std::optional<JsonCursor> part = reader.required_part("huggingface");
  if (!part) return std::nullopt;
  const std::optional<JsonCursor> config = files.follow(*part, std::string(kFolder));
  if (!config) return std::nullopt;
  auto model = read_configuration(*config, beside, reader.diagnostics());
  if (model) model->is_overridden = is_overridden(*config);
  return model;
}

/// Whether its layers are listed: an array with an object in it, or one of none where nothing tells
/// of a transformer.
bool lists_layers(const ObjectReader& reader) {
  const auto layers = reader.cursor().member("layers");
  if (!layers || !layers->is_array()) return false;
  if (layers->value().empty()) return !reader.cursor().member("hidden");
  return std::ranges::any_of(layers->value(), [](const auto& layer) { return layer.is_object(); });
}

/// The family that an object names: nothing for a decoder-only transformer. Listed layers are a
/// list whether it says so or not.
const ModelFamily* read_family(ObjectReader& reader) {
  std::vector<std::pair<std::string_view, const ModelFamily*>> words = {{"transformer", nullptr}};
  for (const ModelFamily& family : model_families()) words.emplace_back(family.name, &family);
  const bool is_list = lists_layers(reader);
  if (!reader.has("family") && !is_list) return nullptr;
  return reader.choice("family", Words<const ModelFamily*>(words),
                       is_list ? words.back().second : nullptr);
}

std::optional<ModelSource> read_source(ObjectReader& reader, InputFiles& files) {
  if (reader.has("huggingface")) return read_reference(reader, files);
  if (const ModelFamily* family = read_family(reader)) {
    return ModelSource{.model = family->read(reader)};
  }
  return ModelSource{.transformer = read_model_fields(reader)};
}

/// An object of ours, problems going into the reader's diagnostics.
std::optional<ReadModel> read_object(ObjectReader& reader, InputFiles& files) {
  const bool is_whole_file = reader.cursor().pointer().empty();
  const bool has_schema = reader.has("schema");
  if ((is_whole_file || has_schema) && !read_schema(reader, kSchema)) return std::nullopt;

  std::optional<ModelSource> source = read_source(reader, files);
  const bool has_published = reader.has("parameters");
  const std::int64_t published =
      has_published ? reader.integer("parameters", between(1, model_limits::kMostParameters)) : 0;
  // Combinations of fields that could not be read would only add false alarms; unknown fields do
  // not touch them.
  const bool is_readable = source && !reader.diagnostics().has_errors();
  nlohmann::json resolved = reader.finish();
  if (!is_readable) return std::nullopt;
  if (source->resolved) resolved = *source->resolved;
  if (source->transformer) {
    if (!check_combinations(*source->transformer, reader.cursor(), "attention_heads", "kv_heads",
                            reader.diagnostics())) {
      return std::nullopt;
    }
    source->model = layers_of(*source->transformer);
    resolved = resolved_model(*source->transformer);
  }
  const bool is_published = !source->is_overridden && !is_overridden(reader.cursor());
  if (has_published && (is_published || is_set_anew(*reader.cursor().member("parameters")))) {
    check_parameters(published, source->model, reader);
  }
  return ReadModel{.model = std::move(source->model),
                   .transformer = std::move(source->transformer),
                   .cursor = reader.cursor(),
                   .resolved = std::move(resolved)};
}

}  // namespace

std::optional<ReadModel> read_model(const JsonCursor& part, InputFiles& files) {
  const std::optional<JsonCursor> cursor = files.follow(part, std::string(kFolder));
  if (!cursor) return std::nullopt;

  if (is_huggingface_config(*cursor)) {
    auto model = read_configuration(*cursor, {}, files.diagnostics());
    if (!model) return std::nullopt;
    return ReadModel{.model = std::move(model->model),
                     .transformer = std::move(model->transformer),
                     .cursor = *cursor,
                     .resolved = std::move(*model->resolved)};
  }
  Diagnostics own;
  ObjectReader reader(*cursor, own);
  std::optional<ReadModel> model = read_object(reader, files);
  files.diagnostics().append(own);
  return model;
}

}  // namespace headway

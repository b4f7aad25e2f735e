#include "sim/models/huggingface/huggingface.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "sim/base/join_words.h"
#include "sim/base/suggestion.h"
#include "sim/base/utf8.h"
#include "sim/files/json_value_text.h"
#include "sim/models/huggingface/huggingface_families.h"
#include "sim/models/transformer/model_fields.h"

namespace headway {
namespace {

/// Every family, dense ones first, then those with experts.
std::vector<Family> families() {
  std::vector<Family> all;
  for (const auto of_kind : {dense_families(), earlier_families(), expert_families(),
                             hybrid_families(), scan_families(), linear_families()}) {
    all.insert(all.end(), of_kind.begin(), of_kind.end());
  }
  return all;
}

std::vector<std::string_view> read_types() {
  std::vector<std::string_view> names = decoder_types();
  for (const std::string_view type : encoder_types()) names.push_back(type);
  return names;
}

std::string families_help() {
  return fmt::format(
      "read are {}; any other decoder can be written out in fields of ours, which `headway explain "
      "model` lists",
      join_words(read_types(), ", "));
}

/// "did you mean ...?"; empty where nothing is alike.
std::string meant_type(const JsonCursor& type, const std::vector<std::string_view>& types) {
  return type.value().is_string() ? meant_text(type.value().get<std::string>(), types) : "";
}

constexpr std::array<std::string_view, 4> kExpertKeys = {"num_local_experts", "n_routed_experts",
                                                         "num_experts", "moe_num_experts"};

/// True (and reported) if a configuration of a dense family has experts.
bool refuse_experts(const JsonCursor& config, Diagnostics& diagnostics) {
  for (const std::string_view key : kExpertKeys) {
    const std::optional<JsonCursor> experts = given(config, key);
    if (!experts || !experts->value().is_number() || experts->value().get<double>() <= 1) continue;
    diagnostics.add(experts->problem("a mixture of experts is not supported",
                                     "this family is read as a dense one", families_help()));
    return true;
  }
  return false;
}

constexpr std::string_view kText = "text_config";
constexpr std::string_view kTied = "tie_word_embeddings";
/// What models that hear have beside the decoder.
constexpr std::string_view kHearing = "audio_config";
/// How a checkpoint has its weights.
constexpr std::string_view kQuantised = "quantization_config";

/// Models that see and read keep what concerns text in an object of its own.
JsonCursor text_part(const JsonCursor& config) {
  const std::optional<JsonCursor> part = given(config, kText);
  return part && part->is_object() ? *part : config;
}

void warn_of_hearing(const JsonCursor& config, Diagnostics& diagnostics) {
  const std::optional<JsonCursor> part = given(config, kHearing);
  if (!part) return;
  Diagnostic warning =
      part->key_problem(fmt::format("{} is not read", in_quotes(kHearing)),
                        "what hears is not counted, and every position is a token");
  warning.severity = Severity::warning;
  diagnostics.add(std::move(warning));
}

void warn_of_quantised_weights(const JsonCursor& config, Diagnostics& diagnostics) {
  const std::optional<JsonCursor> part = given(config, kQuantised);
  if (!part) return;
  Diagnostic warning = part->key_problem(
      fmt::format("{} is not read", in_quotes(kQuantised)),
      "weights are taken in the format that strategy.precision works with; frozen ones in 8 or 4 "
      "bits (QLoRA) take less memory, and more time");
  warning.severity = Severity::warning;
  diagnostics.add(std::move(warning));
}

std::optional<Family> family_of_type(const JsonCursor& type) {
  for (const Family& family : families()) {
    if (type.value() == family.model_type) return family;
  }
  return std::nullopt;
}

/// By "model_type", that of the whole or of the part that concerns text; very old configurations
/// have only "architectures".
std::optional<Family> find_family(const JsonCursor& config, Diagnostics& diagnostics) {
  const std::optional<JsonCursor> type = given(config, "model_type");
  if (type) {
    if (const auto family = family_of_type(*type)) return family;
    const std::optional<JsonCursor> of_text = given(text_part(config), "model_type");
    if (of_text) {
      if (const auto family = family_of_type(*of_text)) return family;
    }
    diagnostics.add(type->problem("this Hugging Face model type is not supported",
                                  meant_type(*type, read_types()), families_help()));
    return std::nullopt;
  }
  if (const std::optional<JsonCursor> of_diffusers = given(config, kClassName)) {
    diagnostics.add(of_diffusers->problem(
        "this class of diffusers is not supported", meant_type(*of_diffusers, diffusion_types()),
        fmt::format("read are {}", join_words(diffusion_types(), ", "))));
    return std::nullopt;
  }
  const std::optional<JsonCursor> architectures = given(config, "architectures");
  if (architectures && architectures->is_array() && !architectures->value().empty()) {
    for (const Family& family : families()) {
      if (architectures->value().front() == family.architecture) return family;
    }
  }
  diagnostics.add(config.problem("missing field \"model_type\"", "", families_help()));
  return std::nullopt;
}

/// The library takes the words of most families in all of them.
FieldNames names_in(const JsonCursor& config, FieldNames names) {
  static constexpr FieldNames kOfMost;
  for (const auto field : {&FieldNames::layers, &FieldNames::hidden, &FieldNames::attention_heads,
                           &FieldNames::sequence_length}) {
    if (!given(config, names.*field) && given(config, kOfMost.*field)) {
      names.*field = kOfMost.*field;
    }
  }
  return names;
}

std::int64_t required_unless(ObjectReader& reader, std::string_view key, Range range,
                             std::int64_t fallback) {
  return fallback > 0 ? given_count(reader, key, range, fallback) : reader.integer(key, range);
}

/// A configuration says how far a model reaches, which is many times what it is trained at: that is
/// what its positions were stretched from, where it says so, and 8,192 tokens at most.
std::int64_t trained_length(const JsonCursor& config) {
  constexpr std::int64_t kUsual = 8192;
  for (const auto& part :
       {given(config, "rope_scaling"), given(config, "rope_parameters"), std::optional(config)}) {
    if (!part || !part->is_object()) continue;
    const auto length = given(*part, "original_max_position_embeddings");
    if (!length || !length->value().is_number_integer() || length->value() < 1) continue;
    return std::min(length->value().get<std::int64_t>(), kUsual);
  }
  return kUsual;
}

/// Into diagnostics of this configuration alone, so that errors among them are its own.
std::optional<TransformerModel> read_config(const JsonCursor& whole, const SeenImages& images,
                                            Diagnostics& own) {
  if (!whole.is_object()) {
    own.add(whole.problem("a Hugging Face configuration is an object", kind_text(whole.value())));
    return std::nullopt;
  }
  const std::optional<Family> family = find_family(whole, own);
  if (!family) return std::nullopt;
  const JsonCursor config = text_part(whole);
  if (!family->has_experts && refuse_experts(config, own)) return std::nullopt;
  const FieldNames names = names_in(config, family->names);
  ObjectReader reader(config, own);

  TransformerModel model;
  model.name = configuration_name(config, family->model_type);
  if (given(config, "_name_or_path")) model.name = reader.text("_name_or_path", model.name);
  model.source = fmt::format("Hugging Face configuration {}", config.document().name());
  model.layers = reader.integer(names.layers, model_limits::kLayers);
  model.hidden = reader.integer(names.hidden, model_limits::kHidden);
  model.attention_heads = required_unless(reader, names.attention_heads, model_limits::kHeads,
                                          names.default_attention_heads);
  model.kv_heads =
      given_count(reader, names.kv_heads, model_limits::kHeads,
                  names.default_kv_heads > 0 ? names.default_kv_heads : model.attention_heads);
  if (given(config, names.head_size) || names.default_head_size > 0) {
    model.head_size =
        given_count(reader, names.head_size, model_limits::kHeadSize, names.default_head_size);
  } else {
    model.head_size = default_head_size(model.hidden, model.attention_heads, reader, names.hidden,
                                        names.attention_heads, names.head_size);
  }
  model.vocabulary =
      required_unless(reader, "vocab_size", model_limits::kVocabulary, names.default_vocabulary);
  model.sequence_length = required_unless(
      reader, names.sequence_length, model_limits::kSequenceLength, names.default_sequence_length);
  family->read(reader, model);
  if (!given(config, kTied) && given(whole, kTied)) {
    model.tied_embeddings = ObjectReader(whole, own).flag(kTied, false);
  }
  if (own.has_errors()) return std::nullopt;
  if (model.position_encoding != PositionEncoding::learned) {
    model.sequence_length = std::min(model.sequence_length, trained_length(config));
  }
  warn_of_unread_fields(reader);
  model.vision = read_vision_config(whole, model.hidden, images, own);
  if (own.has_errors()) return std::nullopt;
  warn_of_hearing(whole, own);
  warn_of_quantised_weights(whole, own);
  if (!check_combinations(model, config, names.attention_heads, names.kv_heads, own)) {
    return std::nullopt;
  }
  return model;
}

}  // namespace

std::string configuration_name(const JsonCursor& config, std::string_view family) {
  const std::filesystem::path path = config.document().name();
  const std::string stem = path.stem().string();
  const std::string name = stem == "config" ? path.parent_path().filename().string() : stem;
  const bool says_something = !name.empty() && name != "." && name != ".." && name != "-";
  return says_something ? name : std::string(family);
}

std::vector<std::string_view> decoder_types() {
  std::vector<std::string_view> types;
  for (const Family& family : families()) types.push_back(family.model_type);
  return types;
}

bool is_huggingface_config(const JsonCursor& object) {
  return object.is_object() && !object.member("schema") &&
         (object.member("model_type") || object.member("architectures") ||
          object.member(kClassName));
}

std::optional<TransformerModel> read_huggingface(const JsonCursor& config, Diagnostics& diagnostics,
                                                 const SeenImages& images) {
  Diagnostics own;
  const std::optional<TransformerModel> model = read_config(config, images, own);
  diagnostics.append(own);
  return model;
}

}  // namespace headway

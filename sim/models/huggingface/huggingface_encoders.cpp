#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/models/huggingface/encoder_families.h"
#include "sim/models/huggingface/huggingface_families.h"
#include "sim/models/resnet.h"
#include "sim/models/transformer/bert.h"
#include "sim/models/transformer/model_fields.h"
#include "sim/models/transformer/t5.h"
#include "sim/models/transformer/vision_transformer.h"
#include "sim/models/transformer/whisper.h"

namespace headway {
namespace {

/// The decoder writes as many words as the encoder takes.
EncoderModel read_t5(ObjectReader& reader) {
  T5Model model;
  model.layers = reader.integer("num_layers", model_limits::kLayers);
  model.decoder_layers =
      given_count(reader, "num_decoder_layers", model_limits::kLayers, model.layers);
  model.hidden = reader.integer("d_model", model_limits::kHidden);
  model.attention_heads = reader.integer("num_heads", model_limits::kHeads);
  model.head_size = reader.integer("d_kv", model_limits::kHeadSize);
  model.ffn_hidden = reader.integer("d_ff", model_limits::kFfnHidden);
  if (given(reader.cursor(), "feed_forward_proj")) {
    model.gated_mlp = reader.text("feed_forward_proj").starts_with("gated");
  }
  model.position_buckets =
      given_count(reader, "relative_attention_num_buckets", between(1, 100'000), 32);
  model.vocabulary = reader.integer("vocab_size", model_limits::kVocabulary);
  model.tied_embeddings = given_flag(reader, "tie_word_embeddings", true);
  model.sequence_length =
      given_count(reader, "n_positions", model_limits::kSequenceLength, model.sequence_length);
  model.target_length = model.sequence_length;
  return encoder_of("t5", layers_of(model), t5_fields().written(model));
}

/// What BERT and vision transformers call the same.
template <class Fields>
Fields read_sizes(ObjectReader& reader) {
  Fields model;
  model.layers = reader.integer("num_hidden_layers", model_limits::kLayers);
  model.hidden = reader.integer("hidden_size", model_limits::kHidden);
  model.attention_heads = reader.integer("num_attention_heads", model_limits::kHeads);
  model.ffn_hidden = reader.integer("intermediate_size", model_limits::kFfnHidden);
  check_heads(model.hidden, model.attention_heads, reader);
  return model;
}

/// All words are predicted: how many were masked is the training's matter.
void read_words(ObjectReader& reader, BertModel& model) {
  model.vocabulary = reader.integer("vocab_size", model_limits::kVocabulary);
  model.positions = given_count(reader, "max_position_embeddings", model_limits::kSequenceLength,
                                model.positions);
  model.sequence_length = model.predicted_words = model.positions;
}

constexpr double kDropout = 0.1;  ///< of the library's encoders, where nothing is said

bool read_dropout(ObjectReader& reader) {
  return drops_out(reader, {"hidden_dropout_prob", "attention_probs_dropout_prob"}, kDropout);
}

EncoderModel read_bert_config(ObjectReader& reader) {
  auto model = read_sizes<BertModel>(reader);
  read_words(reader, model);
  model.token_types =
      given_count(reader, "type_vocab_size", between(0, 1'000'000), model.token_types);
  model.dropout = read_dropout(reader);
  return encoder_of("bert", layers_of(model), bert_fields().written(model));
}

/// Positions are counted from behind the padding word's number on.
EncoderModel read_roberta(ObjectReader& reader) {
  auto model = read_sizes<BertModel>(reader);
  read_words(reader, model);
  model.token_types = given_count(reader, "type_vocab_size", between(0, 1'000'000), 1);
  const std::int64_t taken = 1 + given_count(reader, "pad_token_id", between(0, 1'000'000), 1);
  if (model.positions <= taken) {
    reader.report("max_position_embeddings", "no position is left for words",
                  fmt::format("{}, of which the first {} are none's", model.positions, taken),
                  "positions begin behind \"pad_token_id\": 514 for 512 words");
    model.positions = taken + 1;
  }
  model.sequence_length = model.predicted_words = model.positions - taken;
  model.next_sentence = false;
  model.dropout = read_dropout(reader);
  return encoder_of("bert", layers_of(model), bert_fields().written(model));
}

EncoderModel read_distilbert(ObjectReader& reader) {
  BertModel model{.token_types = 0, .next_sentence = false};
  model.layers = reader.integer("n_layers", model_limits::kLayers);
  model.hidden = reader.integer("dim", model_limits::kHidden);
  model.attention_heads = reader.integer("n_heads", model_limits::kHeads);
  model.ffn_hidden = reader.integer("hidden_dim", model_limits::kFfnHidden);
  check_heads(model.hidden, model.attention_heads, reader);
  read_words(reader, model);
  model.dropout = drops_out(reader, {"dropout", "attention_dropout"}, kDropout);
  return encoder_of("bert", layers_of(model), bert_fields().written(model));
}

/// Classes are those that it has labels for.
std::int64_t read_classes(ObjectReader& reader, std::int64_t fallback) {
  const auto labels = given(reader.cursor(), "id2label");
  if (!labels || !labels->is_object()) return fallback;
  return std::max<std::int64_t>(1, std::ssize(labels->value()));
}

void refuse_other_colours(ObjectReader& reader) {
  constexpr std::int64_t kColours = 3;
  if (given_count(reader, "num_channels", between(1, 1000), kColours) == kColours) return;
  reader.report("num_channels", "images are in other than three colours", "",
                "only those of three are read");
}

EncoderModel read_vit(ObjectReader& reader) {
  auto model = read_sizes<VisionTransformerModel>(reader);
  model.patch_size = given_count(reader, "patch_size", between(1, 10'000), model.patch_size);
  model.image_size = given_count(reader, "image_size", between(8, 100'000), model.image_size);
  refuse_other_colours(reader);
  model.classes = read_classes(reader, model.classes);
  return encoder_of("vit", layers_of(model), vision_fields().written(model));
}

/// Widths of stages say again what follows from the first: each has twice that of the one before.
void check_stage_widths(ObjectReader& reader, const ResNetModel& model) {
  constexpr std::string_view kWidths = "hidden_sizes";
  const std::optional<JsonCursor> widths = given(reader.cursor(), kWidths);
  if (!widths) return;
  std::vector<std::int64_t> expected;
  for (std::size_t stage = 0; stage < model.blocks.size(); ++stage) {
    expected.push_back((model.bottleneck ? 4 : 1) * model.width << stage);
  }
  if (widths->value() == nlohmann::json(expected)) return;
  reader.report(kWidths, "the stages are not as wide as those of a ResNet",
                fmt::format("expected {}", nlohmann::json(expected).dump()),
                "of another network, list the layers (`headway explain model.layers`)");
}

EncoderModel read_resnet_config(ObjectReader& reader) {
  ResNetModel model;
  model.width = given_count(reader, "embedding_size", between(1, 100'000), model.width);
  constexpr std::string_view kDepths = "depths";
  if (given(reader.cursor(), kDepths)) {
    model.blocks = reader.integers(kDepths, between(1, 1000), true).value_or(model.blocks);
  }
  check_blocks(reader, kDepths, model);
  constexpr Word<bool> kBlocks[] = {{"bottleneck", true}, {"basic", false}};
  if (given(reader.cursor(), "layer_type")) {
    model.bottleneck = reader.choice("layer_type", Words<bool>(kBlocks));
  }
  model.classes = read_classes(reader, model.classes);
  refuse_other_colours(reader);
  check_stage_widths(reader, model);
  for (const char* elsewhere : {"downsample_in_first_stage", "downsample_in_bottleneck"}) {
    if (!given_flag(reader, elsewhere, false)) continue;
    reader.report(elsewhere, "stages halve the image in their first 3 x 3 convolution", "",
                  "read are networks that do, and whose first stage leaves it as it is");
  }
  return encoder_of("resnet", layers_of(model), resnet_fields().written(model));
}

/// The decoder is trained to write as many words as it has positions for. Both halves are of one
/// width; the library lets their heads and MLPs differ, which no published model does.
EncoderModel read_whisper_config(ObjectReader& reader) {
  WhisperModel model;
  model.layers = reader.integer("encoder_layers", model_limits::kLayers);
  // Says the same again.
  static_cast<void>(given_count(reader, "num_hidden_layers", model_limits::kLayers, 1));
  model.decoder_layers = reader.integer("decoder_layers", model_limits::kLayers);
  model.hidden = reader.integer("d_model", model_limits::kHidden);
  model.attention_heads = reader.integer("encoder_attention_heads", model_limits::kHeads);
  model.ffn_hidden = reader.integer("encoder_ffn_dim", model_limits::kFfnHidden);
  const auto is_alike = [&](std::string_view key, Range range, std::int64_t encoder) {
    const std::int64_t decoder = given_count(reader, key, range, encoder);
    if (decoder == encoder) return;
    reader.report(key, "the decoder differs from the encoder",
                  fmt::format("{}, where the encoder has {}", decoder, encoder),
                  "read are models whose halves are alike but for their layers");
  };
  is_alike("decoder_attention_heads", model_limits::kHeads, model.attention_heads);
  is_alike("decoder_ffn_dim", model_limits::kFfnHidden, model.ffn_hidden);
  model.vocabulary = reader.integer("vocab_size", model_limits::kVocabulary);
  model.mel_bins = given_count(reader, "num_mel_bins", between(1, 100'000), model.mel_bins);
  model.frames =
      2 * given_count(reader, "max_source_positions", between(1, 50'000'000), model.positions());
  model.target_positions = given_count(reader, "max_target_positions",
                                       model_limits::kSequenceLength, model.target_positions);
  model.target_length = model.target_positions;
  check_heads(model.hidden, model.attention_heads, reader);
  return encoder_of("whisper", layers_of(model), whisper_fields().written(model));
}

constexpr std::array kFamilies = {
    EncoderFamily{"t5", "T5ForConditionalGeneration", read_t5},
    EncoderFamily{"mt5", "MT5ForConditionalGeneration", read_t5},
    EncoderFamily{"bert", "BertForPreTraining", read_bert_config},
    EncoderFamily{"roberta", "RobertaForMaskedLM", read_roberta},
    EncoderFamily{"xlm-roberta", "XLMRobertaForMaskedLM", read_roberta},
    EncoderFamily{"camembert", "CamembertForMaskedLM", read_roberta},
    EncoderFamily{"distilbert", "DistilBertForMaskedLM", read_distilbert},
    EncoderFamily{"vit", "ViTForImageClassification", read_vit},
    EncoderFamily{"resnet", "ResNetForImageClassification", read_resnet_config},
    EncoderFamily{"whisper", "WhisperForConditionalGeneration", read_whisper_config},
};

/// By "model_type", or diffusers' "_class_name"; very old configurations have only "architectures".
const EncoderFamily* family_of(const JsonCursor& config) {
  const auto of_type = [](std::span<const EncoderFamily> families, const JsonCursor& type) {
    const auto found = std::ranges::find_if(
        families, [&](const EncoderFamily& family) { return type.value() == family.type; });
    return found == families.end() ? nullptr : &*found;
  };
  if (const auto type = given(config, "model_type")) return of_type(kFamilies, *type);
  if (const auto type = given(config, kClassName)) return of_type(diffusion_families(), *type);
  const std::optional<JsonCursor> names = given(config, "architectures");
  if (!names || !names->is_array() || names->value().empty()) return nullptr;
  const auto found =
      std::ranges::find_if(kFamilies, [name = names->value().front()](const EncoderFamily& family) {
        return name == family.architecture;
      });
  return found == kFamilies.end() ? nullptr : &*found;
}

std::vector<std::string_view> types_of(std::span<const EncoderFamily> families) {
  std::vector<std::string_view> types;
  for (const EncoderFamily& family : families) types.push_back(family.type);
  return types;
}

}  // namespace

std::vector<std::string_view> encoder_types() { return types_of(kFamilies); }
std::vector<std::string_view> diffusion_types() { return types_of(diffusion_families()); }

EncoderModel encoder_of(std::string_view family, Model model, JsonValue fields) {
  (*fields)["schema"] = "headway/model/1";
  (*fields)["family"] = family;
  return {std::move(model), std::move(fields)};
}

bool is_encoder(const JsonCursor& config) { return family_of(config) != nullptr; }

std::optional<EncoderModel> read_huggingface_encoder(const JsonCursor& config,
                                                     Diagnostics& diagnostics) {
  const EncoderFamily* const family = family_of(config);
  HEADWAY_CHECK(family != nullptr, "a configuration of an encoder");
  Diagnostics own;
  ObjectReader reader(config, own);
  EncoderModel read = family->read(reader);
  const bool is_read = !own.has_errors();
  if (is_read) warn_of_unread_fields(reader);
  diagnostics.append(own);
  if (!is_read) return std::nullopt;
  rename(read, configuration_name(config, family->type),
         fmt::format("Hugging Face configuration {}", config.document().name()));
  return read;
}

void rename(EncoderModel& model, const std::string& name, const std::string& source) {
  if (!name.empty()) (*model.resolved)["name"] = model.model.name = name;
  if (!source.empty()) (*model.resolved)["source"] = model.model.source = source;
}

}  // namespace headway

#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>

#include "sim/models/huggingface/encoder_families.h"
#include "sim/models/huggingface/huggingface_families.h"
#include "sim/models/transformer/bert.h"
#include "sim/models/transformer/mobilebert.h"
#include "sim/models/transformer/model_fields.h"

namespace headway {
namespace {

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

/// The discriminator, unless the configuration is that of a generator, which fills words in. Both
/// have tables of a width of their own.
EncoderModel read_electra(ObjectReader& reader) {
  auto model = read_sizes<BertModel>(reader);
  read_words(reader, model);
  constexpr std::int64_t kWidth = 128;
  model.table_width = given_count(reader, "embedding_size", model_limits::kHidden, kWidth);
  model.token_types =
      given_count(reader, "type_vocab_size", between(0, 1'000'000), model.token_types);
  model.next_sentence = false;
  model.tells_replaced = !is_of_architecture(reader, "ElectraForMaskedLM");
  model.dropout = read_dropout(reader);
  return encoder_of("bert", layers_of(model), bert_fields().written(model));
}

/// "layer_types", where given, has to name full attention where an interval from the first layer on
/// would.
std::int64_t interval_from_the_first(ObjectReader& reader, std::int64_t layers,
                                     std::int64_t interval) {
  constexpr std::string_view kWordLayers = "layer_types";
  const std::optional<JsonCursor> types = given(reader.cursor(), kWordLayers);
  if (!types || !types->is_array()) return interval;
  const nlohmann::json& names = types->value();
  const auto is_full = [&](std::int64_t layer) {
    return names[static_cast<std::size_t>(layer)] == "full_attention";
  };
  if (std::ssize(names) != layers) {
    reader.report(kWordLayers, "layer_types names the attention of every layer",
                  fmt::format("{} for {} layers", names.size(), layers),
                  R"(write "full_attention" or "sliding_attention" for each)");
    return interval;
  }
  std::int64_t second = 1;
  while (second < layers && !is_full(second)) ++second;
  for (std::int64_t layer = 0; layer < layers; ++layer) {
    if (is_full(layer) == (layer % second == 0)) continue;
    reader.report(kWordLayers, "full attention does not come at an even interval", "",
                  "read are models of which the first of every n layers attends to all");
    break;
  }
  return second;
}

/// Biases of norms, attention and MLPs, which models have or have not; that of each word is counted
/// either way.
bool read_biases(ObjectReader& reader) {
  const bool has = given_flag(reader, "attention_bias", false);
  for (const char* key : {"mlp_bias", "norm_bias"}) {
    if (given_flag(reader, key, false) == has) continue;
    reader.report(key, "attention has biases and this has none, or the other way round", "",
                  "read are models that have biases everywhere or nowhere");
  }
  return has;
}

/// Gated MLPs, rotary positions, a window in two of three layers, no dropout.
EncoderModel read_modernbert(ObjectReader& reader) {
  auto model = read_sizes<BertModel>(reader);
  model.positions = 8192;
  read_words(reader, model);
  model.gated_mlp = true;
  model.biases = read_biases(reader);
  model.position_encoding = PositionEncoding::rotary;
  model.token_types = 0;
  model.next_sentence = model.dropout = false;
  constexpr std::int64_t kWindow = 128;
  model.window = given_count(reader, "local_attention", model_limits::kSequenceLength, kWindow);
  constexpr std::int64_t kEveryThird = 3;
  const std::int64_t interval = interval_from_the_first(
      reader, model.layers,
      given_count(reader, "global_attn_every_n_layers", model_limits::kLayers, kEveryThird));
  if (interval == 1) model.window = 0;
  if (model.window > 0) model.full_attention_interval = interval;
  return encoder_of("bert", layers_of(model), bert_fields().written(model));
}

/// Attention by distances, both ways and by the matrices of words; others are told of.
void read_distances(ObjectReader& reader, BertModel& model) {
  if (!given_flag(reader, "relative_attention", false)) return;
  const auto most = [&](std::string_view key, std::int64_t otherwise) {
    const std::int64_t rows = given_count(reader, key, between(-1, 1'000'000), -1);
    return rows > 0 ? rows : otherwise;
  };
  const std::int64_t farthest = most("max_relative_positions", model.positions);
  model.relative_positions = 2 * most("position_buckets", farthest);
  if (!given_flag(reader, "share_att_key", false)) {
    reader.report("share_att_key", "queries and keys of distances have matrices of their own", "",
                  "read are models that make them by those of words: \"share_att_key\": true");
  }
  const std::optional<JsonCursor> kinds = given(reader.cursor(), "pos_att_type");
  const std::string named = kinds ? kinds->value().dump() : "";
  if (named.find("p2c") == std::string::npos || named.find("c2p") == std::string::npos) {
    reader.report("pos_att_type", "words and distances are not compared both ways", "",
                  "read are models of \"p2c|c2p\"");
  }
}

EncoderModel read_deberta_v2(ObjectReader& reader) {
  auto model = read_sizes<BertModel>(reader);
  read_words(reader, model);
  model.token_types = given_count(reader, "type_vocab_size", between(0, 1'000'000), 0);
  model.next_sentence = false;
  if (!given_flag(reader, "position_biased_input", true)) {
    model.position_encoding = PositionEncoding::none;
  }
  read_distances(reader, model);
  model.table_width = given_count(reader, "embedding_size", model_limits::kHidden, model.hidden);
  // Of a pooled word, which pretraining has not.
  static_cast<void>(given_count(reader, "pooler_hidden_size", model_limits::kHidden, 1));
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

/// Layers of another make than MobileBERT's are told of.
void refuse_other_layers(ObjectReader& reader) {
  struct Other {
    std::string_view key;
    bool usual;
  };
  constexpr Other kOthers[] = {{"use_bottleneck", true},
                               {"use_bottleneck_attention", false},
                               {"key_query_shared_bottleneck", true},
                               {"trigram_input", true}};
  for (const auto& [key, usual] : kOthers) {
    if (given_flag(reader, key, usual) == usual) continue;
    reader.report(key, "the layers are not as MobileBERT has them",
                  fmt::format("read are models where this is {}", usual));
  }
}

/// What is left out is as the library's class has it.
EncoderModel read_mobilebert_config(ObjectReader& reader) {
  MobileBertModel model;
  constexpr std::int64_t kLayers = 24;
  constexpr std::int64_t kWords = 30'522;
  model.layers = given_count(reader, "num_hidden_layers", model_limits::kLayers, kLayers);
  model.hidden = given_count(reader, "hidden_size", model_limits::kHidden, model.hidden);
  model.inner_width =
      given_count(reader, "intra_bottleneck_size", model_limits::kHidden, model.inner_width);
  model.attention_heads =
      given_count(reader, "num_attention_heads", model_limits::kHeads, model.attention_heads);
  model.ffn_hidden =
      given_count(reader, "intermediate_size", model_limits::kFfnHidden, model.ffn_hidden);
  model.mlps = given_count(reader, "num_feedforward_networks", between(1, 1'000), model.mlps);
  model.activation = activation_of(reader, "hidden_act", "relu");
  model.vocabulary = given_count(reader, "vocab_size", model_limits::kVocabulary, kWords);
  model.table_width =
      given_count(reader, "embedding_size", model_limits::kHidden, model.table_width);
  model.token_types =
      given_count(reader, "type_vocab_size", between(0, 1'000'000), model.token_types);
  model.positions = given_count(reader, "max_position_embeddings", model_limits::kSequenceLength,
                                model.positions);
  model.sequence_length = model.predicted_words = model.positions;
  model.pooler = given_flag(reader, "classifier_activation", true);
  const bool of_rows = drops_out(reader, {"hidden_dropout_prob"}, 0.0);
  model.dropout = drops_out(reader, {"attention_probs_dropout_prob"}, kDropout) || of_rows;
  // Says the same again: what works inside of layers.
  static_cast<void>(given_count(reader, "true_hidden_size", model_limits::kHidden, 1));
  refuse_other_layers(reader);
  check_mobilebert(reader, "embedding_size", model);
  return encoder_of("mobilebert", layers_of(model), mobilebert_fields().written(model));
}

constexpr std::array kWordFamilies = {
    EncoderFamily{"bert", "BertForPreTraining", read_bert_config},
    EncoderFamily{"roberta", "RobertaForMaskedLM", read_roberta},
    EncoderFamily{"xlm-roberta", "XLMRobertaForMaskedLM", read_roberta},
    EncoderFamily{"camembert", "CamembertForMaskedLM", read_roberta},
    EncoderFamily{"distilbert", "DistilBertForMaskedLM", read_distilbert},
    EncoderFamily{"electra", "ElectraForPreTraining", read_electra},
    EncoderFamily{"modernbert", "ModernBertForMaskedLM", read_modernbert},
    EncoderFamily{"deberta-v2", "DebertaV2ForMaskedLM", read_deberta_v2},
    EncoderFamily{"mobilebert", "MobileBertForPreTraining", read_mobilebert_config},
};

}  // namespace

std::span<const EncoderFamily> word_families() { return kWordFamilies; }

}  // namespace headway

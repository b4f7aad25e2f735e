// Encoders of waveforms: what wav2vec 2.0, HuBERT and WavLM call the same.
#include <fmt/format.h>

#include <array>
#include <vector>

#include "sim/models/huggingface/encoder_families.h"
#include "sim/models/huggingface/huggingface_families.h"
#include "sim/models/transformer/model_fields.h"
#include "sim/models/transformer/wav2vec2.h"

namespace headway {
namespace {

/// What the library's classes have where a configuration leaves it out.
Wav2Vec2Model usual_waves() {
  Wav2Vec2Model model;
  model.layers = model.attention_heads = 12;
  model.hidden = 768;
  model.ffn_hidden = 3072;
  return model;
}

void read_list(ObjectReader& reader, std::string_view key, Range range,
               std::vector<std::int64_t>& list) {
  if (given(reader.cursor(), key)) list = reader.integers(key, range, true).value_or(list);
}

void read_filters(ObjectReader& reader, Wav2Vec2Model& model) {
  read_list(reader, "conv_dim", model_limits::kHidden, model.filter_channels);
  read_list(reader, "conv_kernel", between(1, 100'000), model.filter_kernels);
  read_list(reader, "conv_stride", between(1, 100'000), model.filter_strides);
  model.filter_biases = given_flag(reader, "conv_bias", false);
  constexpr Word<FilterNorms> kNorms[] = {{"group", FilterNorms::first},
                                          {"layer", FilterNorms::all}};
  if (given(reader.cursor(), "feat_extract_norm")) {
    model.filter_norms = reader.choice("feat_extract_norm", Words<FilterNorms>(kNorms));
  }
  model.position_kernel =
      given_count(reader, "num_conv_pos_embeddings", between(1, 100'000), model.position_kernel);
  model.position_groups = given_count(reader, "num_conv_pos_embedding_groups", between(1, 100'000),
                                      model.position_groups);
}

/// What is learned of codes; where letters are, the configuration says it all the same.
void read_codes(ObjectReader& reader, bool are_learned, Wav2Vec2Model& model) {
  constexpr Range kCounts = between(1, 1'000'000);
  constexpr std::int64_t kBooks = 2;
  const std::int64_t books =
      given_count(reader, "num_codevector_groups", between(1, 1'000), kBooks);
  model.codes = given_count(reader, "num_codevectors_per_group", kCounts, model.codes);
  model.code_width = given_count(reader, "codevector_dim", model_limits::kHidden, model.code_width);
  model.contrast_width =
      given_count(reader, "proj_codevector_dim", model_limits::kHidden, model.contrast_width);
  model.negatives = given_count(reader, "num_negatives", kCounts, model.negatives);
  if (are_learned) model.codebooks = books;
}

void refuse_other_parts(ObjectReader& reader) {
  struct Other {
    std::string_view key;
    bool usual;
    std::string_view what;
  };
  constexpr Other kOthers[] = {
      {"add_adapter", false, "filters behind the layers are not read"},
      {"conv_pos_batch_norm", false, "the filter over positions has a norm of another kind"},
      {"feat_proj_layer_norm", true, "the filters have no norm behind the last"}};
  for (const auto& [key, usual, what] : kOthers) {
    if (given_flag(reader, key, usual) == usual) continue;
    reader.report(key, std::string(what), "",
                  "read are models that are as the first of their kind");
  }
  if (given(reader.cursor(), "adapter_attn_dim")) {
    reader.report("adapter_attn_dim", "adapters in the layers are not read");
  }
  for (const std::string_view kind : {"Wav2Vec2", "Hubert", "WavLM"}) {
    if (!is_of_architecture(reader, fmt::format("{}ForXVector", kind))) continue;
    reader.report("architectures", "what tells speakers apart is not read",
                  "filters in the place of letters");
  }
  // Of parts that are refused, and of heads that are not read.
  for (const std::string_view key :
       {"num_adapter_layers", "adapter_kernel_size", "output_hidden_size", "xvector_output_dim",
        "num_feat_extract_layers", "num_ctc_classes"}) {
    static_cast<void>(given_count(reader, key, between(0, 1e9), 1));
  }
}

/// Each rank draws for itself which layers it skips, and the one that skips fewest is waited for.
void warn_of_skipped_layers(ObjectReader& reader) {
  constexpr std::string_view kKey = "layerdrop";
  constexpr double kUsual = 0.1;
  const double share =
      given(reader.cursor(), kKey) ? reader.number(kKey, between(0.0, 1.0), kUsual) : kUsual;
  if (share <= 0.0) return;
  warn_at(
      reader, kKey, "layers that are skipped at random are counted as if they were not",
      fmt::format("{} of them are, by each rank by itself: of many ranks one skips few", share));
}

void read_clips(ObjectReader& reader, const HeardClips& clips, Wav2Vec2Model& model) {
  model.samples = clips.samples.value_or(model.samples);
  if (clips.samples) return;
  warn_at(
      reader, "model_type", "clips are taken to have 250,000 samples",
      "15.6 s at 16 kHz, as wav2vec 2.0 was pretrained at: give \"clips\": {\"samples\": 480000} "
      "beside \"huggingface\"");
}

/// With codes to tell apart where "architectures" names pretraining; otherwise with letters, as
/// ForCTC has them.
EncoderModel read_waves(ObjectReader& reader, const HeardClips& clips, Wav2Vec2Model model) {
  model.layers = given_count(reader, "num_hidden_layers", model_limits::kLayers, model.layers);
  model.hidden = given_count(reader, "hidden_size", model_limits::kHidden, model.hidden);
  model.attention_heads =
      given_count(reader, "num_attention_heads", model_limits::kHeads, model.attention_heads);
  model.ffn_hidden =
      given_count(reader, "intermediate_size", model_limits::kFfnHidden, model.ffn_hidden);
  read_filters(reader, model);
  read_codes(reader, is_of_architecture(reader, "Wav2Vec2ForPreTraining"), model);
  model.vocabulary = given_count(reader, "vocab_size", model_limits::kVocabulary, model.vocabulary);
  constexpr double kDropout = 0.1;
  model.dropout =
      drops_out(reader, {"hidden_dropout", "attention_dropout", "activation_dropout"}, kDropout);
  refuse_other_parts(reader);
  check_wav2vec2(reader,
                 {.channels = "conv_dim",
                  .kernels = "conv_kernel",
                  .strides = "conv_stride",
                  .groups = "num_conv_pos_embedding_groups",
                  .codebooks = "num_codevector_groups"},
                 model);
  warn_of_skipped_layers(reader);
  read_clips(reader, clips, model);
  return encoder_of("wav2vec2", layers_of(model), wav2vec2_fields().written(model));
}

EncoderModel read_wav2vec2_config(ObjectReader& reader, const HeardClips& clips) {
  return read_waves(reader, clips, usual_waves());
}

EncoderModel read_wavlm(ObjectReader& reader, const HeardClips& clips) {
  Wav2Vec2Model model = usual_waves();
  constexpr std::int64_t kDistances = 320;
  model.gated_distances = given_count(reader, "num_buckets", between(1, 1'000'000), kDistances);
  return read_waves(reader, clips, std::move(model));
}

constexpr std::array kSpeechFamilies = {
    EncoderFamily{"wav2vec2", "Wav2Vec2ForCTC", nullptr, read_wav2vec2_config},
    EncoderFamily{"hubert", "HubertForCTC", nullptr, read_wav2vec2_config},
    EncoderFamily{"wavlm", "WavLMForCTC", nullptr, read_wavlm},
};

}  // namespace

std::span<const EncoderFamily> speech_families() { return kSpeechFamilies; }

}  // namespace headway

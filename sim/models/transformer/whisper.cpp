#include "sim/models/transformer/whisper.h"

#include <fmt/format.h>

#include <utility>

#include "sim/models/convolution_block.h"
#include "sim/models/families.h"
#include "sim/models/family_fields.h"
#include "sim/models/transformer/encoder_decoder.h"
#include "sim/models/transformer/model_fields.h"
#include "sim/models/transformer/transformer_layers.h"
#include "sim/models/transformer/transformer_parts.h"

namespace headway {
namespace {

constexpr double kTaps = 3.0;
constexpr double kHalving = 2.0;  ///< spectra of a position
// Bytes a channel, in tensors of 2 bytes.
constexpr double kActivation = 4.0;  ///< read and written
constexpr double kSinusoids = 6.0;   ///< two terms read, their sum written; the gradient passes

/// What both halves have in common with a decoder's layers, in its words.
TransformerModel shared_shape(const WhisperModel& fields) {
  return {.name = fields.name,
          .source = fields.source,
          .hidden = fields.hidden,
          .attention_heads = fields.attention_heads,
          .kv_heads = fields.attention_heads,
          .head_size = fields.hidden / fields.attention_heads,
          .ffn_hidden = fields.ffn_hidden,
          .vocabulary = fields.vocabulary,
          .tied_embeddings = true,
          .position_encoding = PositionEncoding::none,
          .qkv_bias = false,
          .sequence_length = fields.positions()};
}

/// Queries and values have biases, keys have none.
Layer biased_layer(const TransformerModel& shared, LayerVariant variant) {
  Layer layer = transformer_layer(shared, variant);
  constexpr double kBiases = 2.0;
  layer.weights.push_back({Part::attention, kBiases * real(shared.hidden), Cut::tensor, kBiases});
  const double others = variant.crossed > 0.0 ? variant.crossed : 1.0;
  add_head_copies(layer, real(shared.hidden), others);
  return layer;
}

/// Words of the decoder, which enter with the spectra.
Layer word_embedding(TransformerModel shared, const WhisperModel& fields, double targets) {
  shared.position_encoding = PositionEncoding::learned;
  shared.dropout = false;
  shared.sequence_length = fields.target_positions;
  return with_rows(embedding_layer(shared), targets);
}

/// Every tensor-parallel rank has both convolutions whole.
void add_convolutions(Layer& stem, const WhisperModel& fields) {
  const double h = real(fields.hidden);
  const double mel = real(fields.mel_bins);
  const auto add = [&](const std::string& name, double rows, double inputs, double reuse) {
    stem.products.push_back({.name = name,
                             .rows_each = rows,
                             .outputs = h,
                             .inputs = kTaps * inputs,
                             .bias = true,
                             .input_gradient = inputs == h,
                             .reuse = reuse,
                             .filtering = convolution_rate(false)});
    add_pass(stem, name + "_activation", Rows::tokens, kActivation * rows * h, Cut::none, {});
    stem.kept.push_back({.name = name + " activation input",
                         .elements = rows * h,
                         .stored = Stored::activation_input});
  };
  stem.kept.push_back({.name = "spectra", .elements = kHalving * mel, .for_weights = true});
  add("first_convolution", kHalving, mel, kTaps);
  stem.kept.push_back(
      {.name = "second convolution input", .elements = kHalving * h, .for_weights = true});
  add("second_convolution", 1.0, h, kTaps / kHalving);
  stem.passes.push_back({.name = "sinusoids", .forward = kSinusoids * h});
}

}  // namespace

Model layers_of(const WhisperModel& fields) {
  const TransformerModel shared = shared_shape(fields);
  const double targets = real(fields.target_length) / real(fields.positions());
  Model model = layers_of(shared);
  model.kinds.clear();
  model.layers.clear();
  model.is_validated = false;
  model.has_tokens = false;
  model.first = word_embedding(shared, fields, targets);
  model.first.name = "convolutions and words";
  model.first.output = real(fields.hidden);
  add_convolutions(model.first, fields);
  model.first.weights.push_back(norm_weights(shared));  // behind the encoder

  Layer encoder = biased_layer(shared, {});
  encoder.attention->causal = false;
  append_layers(model, std::move(encoder), static_cast<int>(fields.layers));
  append_decoder(model,
                 {.attention = with_rows(biased_layer(shared, {.feeds = false}), targets),
                  .crossed = with_rows(biased_layer(shared, {.crossed = 1.0 / targets}), targets)},
                 fields.decoder_layers, real(fields.hidden));
  model.last = with_rows(std::move(model.last), targets);
  return model;
}

const FieldTable<WhisperModel>& whisper_fields() {
  using Whisper = WhisperModel;
  static const FieldTable<Whisper> kFields(
      {{"layers", whole(&Whisper::layers, model_limits::kLayers).required(), "Encoder layers."},
       {"decoder_layers",
        whole(&Whisper::decoder_layers, model_limits::kLayers).settled([](Whisper& model) {
          model.decoder_layers = model.layers;
        }),
        "Of an encoder-decoder.\ndefault: layers"},
       {"hidden", whole(&Whisper::hidden, model_limits::kHidden).required(),
        "Size of the residual stream."},
       {"attention_heads", whole(&Whisper::attention_heads, model_limits::kHeads).required(),
        "Attention heads.\nlimits: divide hidden"},
       {"ffn_hidden",
        whole(&Whisper::ffn_hidden, model_limits::kFfnHidden).settled([](Whisper& model) {
          model.ffn_hidden = 4 * model.hidden;
        }),
        "Inner size of the MLP.\ndefault: 4 hidden"},
       {"vocabulary", whole(&Whisper::vocabulary, model_limits::kVocabulary).required(),
        "Rows of the table of words."},
       {"mel_bins", whole(&Whisper::mel_bins, between(1, 100'000)),
        R"(Frequencies of a spectrum that a Whisper hears.
see: Radford et al. 2022 (arXiv:2212.04356), 2.2)"},
       {"frames", whole(&Whisper::frames, between(2, 100'000'000)),
        R"(Spectra of a clip, which is a sample; one each 10 ms, 3,000 of 30 s. The encoder of a Whisper
has half as many positions.
limits: even)"},
       {"target_positions", whole(&Whisper::target_positions, model_limits::kSequenceLength),
        "Rows of the learned table of positions of a Whisper's decoder."},
       {"target_length",
        whole(&Whisper::target_length, model_limits::kSequenceLength).settled([](Whisper& model) {
          model.target_length = model.target_positions;
        }),
        "Words that the decoder is trained to write.\ndefault: target_positions"}});
  return kFields;
}

void check_whisper(ObjectReader& reader, const WhisperModel& model) {
  check_heads(model.hidden, model.attention_heads, reader);
  if (model.frames % 2 != 0) {
    reader.report("frames", "frames must be even", "the second convolution takes every other",
                  fmt::format("use {}", model.frames + 1));
  }
  if (model.target_length > model.target_positions) {
    reader.report("target_length", "target_length must be at most target_positions",
                  fmt::format("{} of {}", model.target_length, model.target_positions),
                  "leave it out for all of them, or raise target_positions with it");
  }
}

namespace {

Model read_whisper(ObjectReader& reader) {
  const WhisperModel fields = read_family_fields(reader, whisper_fields(), "speech model");
  check_whisper(reader, fields);
  return layers_of(fields);
}

}  // namespace

ModelFamily whisper() {
  return {.name = "whisper",
          .what = "an encoder of speech, and a decoder that writes it",
          .read = read_whisper,
          .fields = [] { return whisper_fields().described(); }};
}

}  // namespace headway

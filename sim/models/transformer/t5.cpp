#include "sim/models/transformer/t5.h"

#include <utility>

#include "sim/models/families.h"
#include "sim/models/family_fields.h"
#include "sim/models/transformer/encoder_decoder.h"
#include "sim/models/transformer/model_fields.h"
#include "sim/models/transformer/transformer_layers.h"
#include "sim/models/transformer/transformer_parts.h"

namespace headway {
namespace {

/// What both halves have in common with a decoder's layers, in its words. Sinusoids are added like
/// a learned table, which then has no rows.
TransformerModel shared_shape(const T5Model& fields) {
  const bool adds_positions = fields.position_buckets == 0;
  return {
      .name = fields.name,
      .source = fields.source,
      .hidden = fields.hidden,
      .attention_heads = fields.attention_heads,
      .kv_heads = fields.attention_heads,
      .head_size = fields.head_size,
      .ffn_hidden = fields.ffn_hidden,
      .gated_mlp = fields.gated_mlp,
      .activation = fields.activation.value_or(fields.gated_mlp ? ActivationFunction::gelu_new
                                                                : ActivationFunction::relu),
      .vocabulary = fields.vocabulary,
      .tied_embeddings = fields.tied_embeddings,
      .normalization = fields.biases ? Normalization::layer_norm : Normalization::rms_norm,
      .normalization_bias = fields.biases,
      .position_encoding = adds_positions ? PositionEncoding::learned : PositionEncoding::none,
      .dropout = fields.dropout,
      .qkv_bias = fields.biases,
      .projection_bias = fields.biases,
      .mlp_bias = fields.biases,
      .sequence_length = adds_positions ? fields.positions.value_or(0) : fields.sequence_length};
}

}  // namespace

Model layers_of(const T5Model& fields) {
  const TransformerModel shared = shared_shape(fields);
  const double h = real(fields.hidden);
  const double targets = real(fields.target_length) / real(fields.sequence_length);
  Model model = layers_of(shared);
  model.kinds.clear();
  model.layers.clear();
  model.is_validated = false;
  model.biases_scores = fields.position_buckets > 0;
  model.sequence_length = fields.sequence_length;
  model.most_positions = fields.positions;
  for (MemoryPass& pass : model.first.passes) {
    pass.forward *= 1.0 + targets;  // both look their words up
    pass.backward *= 1.0 + targets;
  }
  for (KeptTensor& tensor : model.first.kept) tensor.elements *= 1.0 + targets;
  constexpr double kHalves = 2.0;
  if (fields.position_buckets > 0) {
    model.first.weights.push_back({Part::positions,
                                   kHalves * real(fields.position_buckets * fields.attention_heads),
                                   Cut::tensor});
  }
  if (fields.positions) {  // the second table
    model.first.weights.push_back({Part::positions, real(*fields.positions) * h});
  }
  model.first.weights.push_back(norm_weights(shared));  // behind the encoder

  Layer encoder = transformer_layer(shared);
  encoder.attention->causal = false;
  append_layers(model, std::move(encoder), static_cast<int>(fields.layers));

  append_decoder(
      model,
      {.attention = with_rows(transformer_layer(shared, {.feeds = false}), targets),
       .crossed = with_rows(transformer_layer(shared, {.crossed = 1.0 / targets}), targets)},
      fields.decoder_layers, h);
  model.last = with_rows(std::move(model.last), targets);
  return model;
}

const FieldTable<T5Model>& t5_fields() {
  static const FieldTable<T5Model> kFields(
      {{"layers", whole(&T5Model::layers, model_limits::kLayers).required(), "Encoder layers."},
       {"decoder_layers",
        whole(&T5Model::decoder_layers, model_limits::kLayers).settled([](T5Model& model) {
          model.decoder_layers = model.layers;
        }),
        R"(Of an encoder-decoder. Each counts twice where layers are shared out over stages: attention,
and cross attention with the MLP.
default: layers)"},
       {"hidden", whole(&T5Model::hidden, model_limits::kHidden).required(),
        "Size of the residual stream."},
       {"attention_heads", whole(&T5Model::attention_heads, model_limits::kHeads).required(),
        "Attention heads."},
       {"head_size", whole(&T5Model::head_size, model_limits::kHeadSize), "Of a T5 64 by default."},
       {"ffn_hidden", whole(&T5Model::ffn_hidden, model_limits::kFfnHidden).required(),
        "Inner size of the MLP."},
       {"mlp", word(&T5Model::gated_mlp, kMlps),
        R"(Of a T5 plain, with a ReLU; of version 1.1 gated, with a GELU as transformers' gelu_new.
see: Shazeer 2020 (arXiv:2002.05202))"},
       {"activation", word(&T5Model::activation), "Of a T5 as its mlp says by default."},
       {"biases", flag(&T5Model::biases).where([](const T5Model& model) { return model.biases; }),
        "Of a T5 false by default."},
       {"position_buckets", whole(&T5Model::position_buckets, between(0, 100'000)),
        R"(Distances that a T5 tells apart. 0: positions are added to the words instead, as in BART.
see: Raffel et al. 2020 (arXiv:1910.10683), 2.1; Lewis et al. 2019 (arXiv:1910.13461))"},
       {"positions",
        whole(&T5Model::positions, model_limits::kSequenceLength)
            .only_where(
                [](const T5Model& model) { return model.position_buckets == 0; },
                {"position_buckets", "0", "a model either adds positions or tells distances"}),
        "Of a T5 none by default."},
       {"dropout",
        flag(&T5Model::dropout)
            .only_where(
                [](const T5Model& model) { return model.position_buckets == 0; },
                {"position_buckets", "0", "dropout of a T5 that tells distances is not counted"}),
        "Of a T5 false by default."},
       {"vocabulary", whole(&T5Model::vocabulary, model_limits::kVocabulary).required(),
        "Rows of the table of words."},
       {"tied_embeddings", flag(&T5Model::tied_embeddings),
        "Whether the output head is the table of words."},
       {"sequence_length", whole(&T5Model::sequence_length, model_limits::kSequenceLength),
        "Words of a sequence that the encoder takes."},
       {"target_length",
        whole(&T5Model::target_length, model_limits::kSequenceLength).settled([](T5Model& model) {
          model.target_length = model.sequence_length;
        }),
        R"(Words that the decoder of an encoder-decoder is trained to write for a sequence; in another
strategy.sequence_length as many in proportion.
default: sequence_length; of a Whisper target_positions)"}});
  return kFields;
}

ModelFamily t5() {
  return {.name = "t5",
          .what = "an encoder, and a decoder that attends to it",
          .read =
              [](ObjectReader& reader) {
                return layers_of(read_family_fields(reader, t5_fields(), "encoder-decoder"));
              },
          .fields = [] { return t5_fields().described(); }};
}

}  // namespace headway

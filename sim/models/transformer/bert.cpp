#include "sim/models/transformer/bert.h"

#include <fmt/format.h>

#include <utility>

#include "sim/models/families.h"
#include "sim/models/family_fields.h"
#include "sim/models/transformer/model_fields.h"
#include "sim/models/transformer/transformer_layers.h"
#include "sim/models/transformer/transformer_parts.h"

namespace headway {
namespace {

/// What both have in common, in the words of the decoder.
TransformerModel as_transformer(const BertModel& fields) {
  return {.layers = fields.layers,
          .hidden = fields.hidden,
          .attention_heads = fields.attention_heads,
          .kv_heads = fields.attention_heads,
          .head_size = fields.hidden / fields.attention_heads,
          .ffn_hidden = fields.ffn_hidden,
          .vocabulary = fields.vocabulary,
          .tied_embeddings = true,
          .dropout = fields.dropout,
          .sequence_length = fields.positions};
}

Layer embedding(const BertModel& fields, const TransformerModel& shared) {
  Layer embedding = embedding_layer(shared);
  embedding.weights.push_back({Part::positions, real(fields.token_types * fields.hidden)});
  embedding.weights.push_back(norm_weights(shared));
  return embedding;
}

/// A product and a norm before the words, whose matrix is the embedding's; a pooled row of each
/// sequence for the order of sentences.
Layer head(const BertModel& fields, const TransformerModel& shared) {
  const double h = real(fields.hidden);
  const double predicted = real(fields.predicted_words) / real(fields.sequence_length);
  const double pooled = 1.0 / real(fields.sequence_length);
  Layer head{.name = "head", .input = h};
  const auto add = [&head, h](std::string name, double rows, double outputs, Split split) {
    head.products.push_back({.name = std::move(name),
                             .part = Part::head,
                             .rows_each = rows,
                             .outputs = outputs,
                             .inputs = h,
                             .split = split,
                             .bias = split == Split::none});
  };
  add("transform", predicted, h, Split::none);
  add("words", predicted, real(fields.vocabulary), Split::outputs);
  if (fields.next_sentence) {
    add("pooler", pooled, h, Split::none);
    add("next_sentence", pooled, 2.0, Split::none);
  }
  head.weights.push_back({Part::head, real(fields.vocabulary), Cut::tensor});  // a bias a word
  head.weights.push_back(norm_weights(shared));
  head.loss_classes = predicted * real(fields.vocabulary);
  head.passes.push_back(cross_entropy_pass(head.loss_classes));
  head.kept = {{.name = "transform input", .elements = predicted * h},
               {.name = "transform activation input", .elements = predicted * h},
               {.name = "transform norm input", .elements = predicted * h},
               {.name = "words input", .elements = predicted * h}};
  return head;
}

}  // namespace

Model layers_of(const BertModel& fields) {
  const TransformerModel shared = as_transformer(fields);
  Model model{.name = fields.name,
              .source = fields.source,
              .first = embedding(fields, shared),
              .last = head(fields, shared),
              .tied = true,
              .sequence_length = fields.sequence_length,
              .most_positions = fields.positions,
              .tensor_limits = tensor_limits(shared)};
  Layer encoder = transformer_layer(shared);
  encoder.attention->causal = false;
  append_layers(model, std::move(encoder), static_cast<int>(fields.layers));
  return model;
}

const FieldTable<BertModel>& bert_fields() {
  static const FieldTable<BertModel> kFields(
      {{"layers", whole(&BertModel::layers, model_limits::kLayers).required(), "Encoder layers."},
       {"hidden", whole(&BertModel::hidden, model_limits::kHidden).required(),
        "Size of the residual stream."},
       {"attention_heads", whole(&BertModel::attention_heads, model_limits::kHeads).required(),
        "Attention heads.\nlimits: divide hidden"},
       {"ffn_hidden",
        whole(&BertModel::ffn_hidden, model_limits::kFfnHidden).settled([](BertModel& model) {
          model.ffn_hidden = 4 * model.hidden;
        }),
        "Inner size of the MLP.\ndefault: 4 hidden"},
       {"vocabulary", whole(&BertModel::vocabulary, model_limits::kVocabulary).required(),
        "Rows of the table of words."},
       {"token_types", whole(&BertModel::token_types, between(0, 1'000'000)),
        "Rows of a BERT's table of segments."},
       {"positions", whole(&BertModel::positions, model_limits::kSequenceLength),
        "Rows of a BERT's learned table of positions."},
       {"sequence_length",
        whole(&BertModel::sequence_length, model_limits::kSequenceLength)
            .settled([](BertModel& model) { model.sequence_length = model.positions; }),
        "Words of a sequence that the model is trained at.\ndefault: positions"},
       {"predicted_words",
        whole(&BertModel::predicted_words, model_limits::kSequenceLength)
            .settled([](BertModel& model) { model.predicted_words = model.sequence_length; }),
        R"(Words of a sequence whose loss a BERT computes: those that were masked, or all.
limits: no more than sequence_length
see: Devlin et al. 2018 (arXiv:1810.04805), 3.1
default: sequence_length)"},
       {"next_sentence", flag(&BertModel::next_sentence),
        R"(A row of each sequence is pooled, and predicts whether its two sentences belong together. Off in
RoBERTa and DistilBERT.
see: Liu et al. 2019 (arXiv:1907.11692), 4.2)"},
       {"dropout", flag(&BertModel::dropout),
        R"(Embeddings, residuals and the probabilities of a BERT's unfused attention are dropped out, which keeps
masks and, of probabilities in fp32, is a pass of its own.)"}});
  return kFields;
}

namespace {

Model read_bert(ObjectReader& reader) {
  BertModel fields = read_family_fields(reader, bert_fields(), "encoder");
  check_heads(fields.hidden, fields.attention_heads, reader);
  if (fields.predicted_words > fields.sequence_length) {
    reader.report("predicted_words", "predicted_words must be at most sequence_length",
                  fmt::format("{} of {}", fields.predicted_words, fields.sequence_length),
                  "leave it out for all of them");
  }
  return layers_of(fields);
}

}  // namespace

ModelFamily bert() {
  return {.name = "bert",
          .what = "an encoder trained to fill in words",
          .read = read_bert,
          .fields = [] { return bert_fields().described(); }};
}

}  // namespace headway

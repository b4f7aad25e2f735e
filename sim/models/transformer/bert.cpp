#include "sim/models/transformer/bert.h"

#include <utility>

#include "sim/models/families.h"
#include "sim/models/family_fields.h"
#include "sim/models/transformer/model_fields.h"
#include "sim/models/transformer/transformer_layers.h"
#include "sim/models/transformer/transformer_parts.h"

namespace headway {
namespace {

/// Whether words hear of positions by distances alone.
bool has_distances_alone(const BertModel& fields) {
  return fields.relative_positions > 0 && fields.position_encoding == PositionEncoding::none;
}

/// What both have in common, in the words of the decoder. Where there are distances alone it drops
/// out as with a learned table, which then has no rows.
TransformerModel as_transformer(const BertModel& fields) {
  const bool has_table = !has_distances_alone(fields);
  return {.layers = fields.layers,
          .hidden = fields.hidden,
          .attention_heads = fields.attention_heads,
          .kv_heads = fields.attention_heads,
          .head_size = fields.hidden / fields.attention_heads,
          .ffn_hidden = fields.ffn_hidden,
          .gated_mlp = fields.gated_mlp,
          .vocabulary = fields.vocabulary,
          .tied_embeddings = true,
          .normalization_bias = fields.biases,
          .position_encoding = has_table ? fields.position_encoding : PositionEncoding::learned,
          .dropout = fields.dropout,
          .qkv_bias = fields.biases,
          .projection_bias = fields.biases,
          .mlp_bias = fields.biases,
          .sequence_length = has_table ? fields.positions : 0};
}

/// The same as wide as the tables.
TransformerModel as_wide_as_tables(const BertModel& fields, TransformerModel shared) {
  if (fields.table_width > 0) shared.hidden = fields.table_width;
  return shared;
}

Layer embedding(const BertModel& fields, const TransformerModel& shared) {
  const TransformerModel tables = as_wide_as_tables(fields, shared);
  Layer embedding = embedding_layer(tables);
  embedding.weights.push_back({Part::positions, real(fields.token_types * tables.hidden)});
  embedding.weights.push_back(norm_weights(tables));
  if (fields.relative_positions > 0) {
    embedding.weights.push_back({Part::positions, real(fields.relative_positions * fields.hidden)});
    embedding.weights.push_back(norm_weights(shared));
  }
  if (has_distances_alone(fields)) {
    std::erase_if(embedding.passes,
                  [](const MemoryPass& pass) { return pass.name == "position_embedding"; });
  }
  if (tables.hidden == fields.hidden) return embedding;
  embedding.output = real(fields.hidden);
  embedding.products.push_back({.name = "embedding_projection",
                                .outputs = real(fields.hidden),
                                .inputs = real(tables.hidden),
                                .bias = true});
  embedding.kept.push_back(
      {.name = "embedding projection input", .elements = real(tables.hidden), .for_weights = true});
  return embedding;
}

/// A product and a norm before the words, whose matrix is the embedding's; a pooled row of each
/// sequence for the order of sentences. Who tells replaced words has a product before that of one
/// column, and no norm.
Layer head(const BertModel& fields, const TransformerModel& shared) {
  const TransformerModel tables = as_wide_as_tables(fields, shared);
  const double h = real(fields.hidden);
  const double predicted = real(fields.predicted_words) / real(fields.sequence_length);
  const double pooled = 1.0 / real(fields.sequence_length);
  const double width = fields.tells_replaced ? h : real(tables.hidden);
  Layer head{.name = "head", .input = h};
  const auto add = [&](std::string name, double rows, double outputs, double inputs, Split split) {
    head.products.push_back({.name = std::move(name),
                             .part = Part::head,
                             .rows_each = rows,
                             .outputs = outputs,
                             .inputs = inputs,
                             .split = split,
                             .bias = fields.biases && split == Split::none});
  };
  add("transform", predicted, width, h, Split::none);
  if (fields.tells_replaced) {
    add("replaced", predicted, 1.0, width, Split::none);
  } else {
    add("words", predicted, real(fields.vocabulary), width, Split::outputs);
  }
  if (fields.next_sentence) {
    add("pooler", pooled, h, h, Split::none);
    add("next_sentence", pooled, 2.0, h, Split::none);
  }
  head.kept = {{.name = "transform input", .elements = predicted * h},
               {.name = "transform activation input", .elements = predicted * width}};
  if (!fields.tells_replaced) {
    head.weights.push_back({Part::head, real(fields.vocabulary), Cut::tensor});  // a bias a word
    head.weights.push_back(norm_weights(tables));
    head.kept.push_back({.name = "transform norm input", .elements = predicted * width});
  }
  head.kept.push_back({.name = "words input", .elements = predicted * width});
  head.loss_classes = predicted * (fields.tells_replaced ? 1.0 : real(fields.vocabulary));
  head.passes.push_back(cross_entropy_pass(head.loss_classes));
  return head;
}

/// Behind a causal mask a window of half the size hides as much as a whole one does where positions
/// see both ways.
constexpr double kSidesOfWindow = 2.0;

// Bytes of a score, of 16 bits, that transformers' operators move (DebertaV2:
// disentangled_attention_ bias): either kind is picked by numbers of 8 bytes, scaled and added to
// another, and both are added to what words say of words. Backward each is scaled and put back.
constexpr double kPicked = 8.0 + 2.0 + 2.0;
constexpr double kScaled = 2.0 + 2.0;
constexpr double kAdded = 3.0 * 2.0;
constexpr double kPutBack = 8.0 + 2.0 + 2.0 * 2.0;

/// Words are compared with distances, and distances with words: as many products as there are rows
/// of the table, of which each score picks one. Queries and keys of distances are made by the
/// matrices of words, here for each sequence; the library makes them once for those of a
/// micro-batch.
void add_distances(Layer& layer, const BertModel& fields) {
  if (fields.relative_positions == 0) return;
  constexpr double kBoth = 2.0;
  constexpr double kOfThree = kBoth / 3.0;  // queries and keys, of queries, keys and values
  const double distances = real(fields.relative_positions) / real(fields.sequence_length);
  for (Product& product : layer.products) {
    if (product.target == AdapterTarget::qkv) product.rows_each += kOfThree * distances;
  }
  const double heads = real(fields.attention_heads);
  for (const char* name : {"words to distances", "distances to words"}) {
    layer.activation_products.push_back(
        {.name = name,
         .heads = heads,
         .inputs = real(fields.hidden / fields.attention_heads),
         .outputs = real(fields.relative_positions),
         .again = {{RecomputePart::scores}, {RecomputePart::core_attn}}});
  }
  const double scores = heads * real(fields.sequence_length);
  layer.passes.push_back({.name = "scores of distances",
                          .forward = scores * (kBoth * (kPicked + kScaled + kAdded) + kAdded),
                          .backward = scores * kBoth * (kPutBack + kScaled),
                          .cut = Cut::tensor,
                          .again = {{RecomputePart::scores}, {RecomputePart::core_attn}},
                          .merged = false});
  layer.kept.push_back({.name = "queries and keys of distances",
                        .elements = kBoth * distances * real(fields.hidden),
                        .cut = Cut::tensor});
}

void add_encoder_layers(Model& model, const BertModel& fields, const TransformerModel& shared) {
  Layer full = transformer_layer(shared);
  full.attention->causal = false;
  add_distances(full, fields);
  Layer windowed = full;
  windowed.attention->window = real(fields.window) / kSidesOfWindow;
  if (fields.window == 0 || fields.full_attention_interval == 0) {
    append_layers(model, std::move(windowed), static_cast<int>(fields.layers));
    return;
  }
  model.kinds = {std::move(full), std::move(windowed)};
  for (std::int64_t layer = 0; layer < fields.layers; ++layer) {
    model.layers.push_back(layer % fields.full_attention_interval == 0 ? 0 : 1);
  }
}

}  // namespace

Model layers_of(const BertModel& fields) {
  const TransformerModel shared = as_transformer(fields);
  Model model{.name = fields.name,
              .source = fields.source,
              .first = embedding(fields, shared),
              .last = head(fields, shared),
              .tied = !fields.tells_replaced,
              .sequence_length = fields.sequence_length,
              .tensor_limits = tensor_limits(shared)};
  if (fields.position_encoding == PositionEncoding::learned) {
    model.most_positions = fields.positions;
  }
  model.biases_scores = fields.relative_positions > 0;
  add_encoder_layers(model, fields, shared);
  if (fields.tells_replaced) {
    model.left_out.emplace_back(
        "words come as another model filled them in, which is trained beside: what that takes is "
        "not counted");
  }
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
       {"mlp", word(&BertModel::gated_mlp, kMlps).where([](const BertModel& model) {
          return model.gated_mlp;
        }),
        "Of a BERT plain by default."},
       {"biases",
        flag(&BertModel::biases).where([](const BertModel& model) { return !model.biases; }),
        R"(Norms and products have biases. Off in ModernBERT; of a T5 on in BART, whose norms are layer norms
then.
default: true; of a T5 false)"},
       {"window",
        whole(&BertModel::window, model_limits::kSequenceLength).where([](const BertModel& model) {
          return model.window > 0;
        }),
        R"(Positions that a position of a BERT attends to, half of them on either side.
see: Warner et al. 2024 (arXiv:2412.13663), 2.1.1
default: all)"},
       {"full_attention_interval",
        whole(&BertModel::full_attention_interval, between(0, 10'000))
            .only_where([](const BertModel& model) { return model.window > 0; },
                        {.field = "window",
                         .why = "without a window all layers attend to the whole sequence"}),
        R"(Of a BERT with a window the first of every so many layers attends to the whole sequence.
default: 0, no such layer)"},
       {"vocabulary", whole(&BertModel::vocabulary, model_limits::kVocabulary).required(),
        "Rows of the table of words."},
       {"table_width",
        whole(&BertModel::table_width, model_limits::kHidden).where([](const BertModel& model) {
          return model.table_width > 0 && model.table_width != model.hidden;
        }),
        R"(Columns of a BERT's tables, which a product makes as wide as the layers, where they are not.
see: Clark et al. 2020 (arXiv:2003.10555), 3.2
default: hidden)"},
       {"token_types", whole(&BertModel::token_types, between(0, 1'000'000)),
        "Rows of a BERT's table of segments."},
       {"position_encoding", word(&BertModel::position_encoding).where([](const BertModel& model) {
          return model.position_encoding != PositionEncoding::learned;
        }),
        "Of a BERT learned by default."},
       {"relative_positions",
        whole(&BertModel::relative_positions, between(0, 1'000'000))
            .where([](const BertModel& model) { return model.relative_positions > 0; }),
        R"(Rows of a BERT's table of distances, which keys and queries of words are compared with besides those
of words (DeBERTa: 512). FlashAttention does not add such scores.
see: He et al. 2020 (arXiv:2006.03654), 3.2
default: 0, no such table)"},
       {"positions", whole(&BertModel::positions, model_limits::kSequenceLength),
        R"(Rows of a BERT's learned table of positions; of a T5 without position_buckets those of each
half's. Positions of one that has no such table are sinusoids.
default: 512; of a T5 none)"},
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
       {"tells_replaced", flag(&BertModel::tells_replaced).where([](const BertModel& model) {
          return model.tells_replaced;
        }),
        R"(The head tells of each word whether another model put it in, instead of which word it is: ELECTRA's
discriminator. The other model is not counted.
see: Clark et al. 2020 (arXiv:2003.10555), 2)"},
       {"dropout", flag(&BertModel::dropout),
        R"(Embeddings, residuals and the probabilities of a BERT's unfused attention are dropped out, which keeps
masks and, of probabilities in fp32, is a pass of its own.)"}});
  return kFields;
}

namespace {

Model read_bert(ObjectReader& reader) {
  BertModel fields = read_family_fields(reader, bert_fields(), "encoder");
  check_heads(fields.hidden, fields.attention_heads, reader);
  check_predicted_words(fields.predicted_words, fields.sequence_length, reader);
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

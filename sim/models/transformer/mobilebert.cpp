#include "sim/models/transformer/mobilebert.h"

#include <fmt/format.h>

#include <iterator>
#include <utility>

#include "sim/models/families.h"
#include "sim/models/family_fields.h"
#include "sim/models/transformer/model_fields.h"
#include "sim/models/transformer/transformer_layers.h"
#include "sim/models/transformer/transformer_parts.h"

namespace headway {
namespace {

// Bytes a channel, in tensors of 2 bytes.
constexpr double kSummedAndNormed = 10.0;  ///< two terms read, their sum written; normed
constexpr double kAddedPosition = 6.0;     ///< two terms read, their sum written

/// What works inside of a layer, in the words of the decoder.
TransformerModel inner_shape(const MobileBertModel& fields) {
  return {.layers = fields.layers,
          .hidden = fields.inner_width,
          .attention_heads = fields.attention_heads,
          .kv_heads = fields.attention_heads,
          .head_size = fields.inner_width / fields.attention_heads,
          .ffn_hidden = fields.ffn_hidden,
          .activation = fields.activation,
          .vocabulary = fields.vocabulary,
          .tied_embeddings = true,
          .position_encoding = PositionEncoding::learned,
          .dropout = fields.dropout,
          .sequence_length = fields.positions};
}

/// The same as wide as what passes between layers.
TransformerModel outer_shape(const MobileBertModel& fields) {
  TransformerModel outer = inner_shape(fields);
  outer.hidden = fields.hidden;
  return outer;
}

void add_norm_pass(Layer& layer, const std::string& name, const TransformerModel& shape,
                   double bytes) {
  layer.weights.push_back(norm_weights(shape));
  add_pass(layer, name, Rows::own, bytes * real(shape.hidden), Cut::none, {});
  layer.kept.push_back({.name = name + " input",
                        .rows = Rows::own,
                        .elements = real(shape.hidden),
                        .stored = Stored::residual});
}

template <class Part>
void append(std::vector<Part>& to, std::vector<Part> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

/// What follows in the same layer.
void append(Layer& layer, Layer next) {
  append(layer.products, std::move(next.products));
  append(layer.passes, std::move(next.passes));
  append(layer.weights, std::move(next.weights));
  append(layer.kept, std::move(next.kept));
  append(layer.exchanges, std::move(next.exchanges));
  layer.launches.forward += next.launches.forward;
  layer.launches.backward += next.launches.backward;
}

/// Queries and keys are made of narrow rows, values of what passes between layers.
void widen_values(Layer& layer, const MobileBertModel& fields) {
  Product& queries = layer.products.front();
  Product values = queries;
  queries.name = "queries and keys";
  queries.outputs = 2.0 * real(fields.inner_width);
  queries.grouped_outputs = real(fields.inner_width);
  values.name = "values";
  values.outputs = values.grouped_outputs = real(fields.inner_width);
  values.inputs = real(fields.hidden);
  values.target.reset();
  layer.products.insert(layer.products.begin() + 1, std::move(values));
}

/// Every tensor-parallel rank has the products between widths whole.
void add_width_product(Layer& layer, std::string name, std::int64_t outputs, std::int64_t inputs) {
  layer.products.push_back(
      {.name = std::move(name), .outputs = real(outputs), .inputs = real(inputs), .bias = true});
}

Layer layer_of(const MobileBertModel& fields) {
  const TransformerModel inner = inner_shape(fields);
  Layer layer = transformer_layer(inner, {.feeds = false});
  layer.attention->causal = false;
  widen_values(layer, fields);
  layer.kept.push_back({.name = "layer input",
                        .rows = Rows::own,
                        .elements = real(fields.hidden),
                        .for_weights = true});
  for (const std::string of : {"query", "stream"}) {
    add_width_product(layer, of + "_narrowed", fields.inner_width, fields.hidden);
    add_norm_pass(layer, of + " norm", inner, kReadAndWritten);
  }
  for (std::int64_t mlp = 0; mlp < fields.mlps; ++mlp) {
    append(layer, transformer_layer(inner, {.mixer = Mixer::none}));
  }
  layer.kept.push_back({.name = "widened",
                        .rows = Rows::own,
                        .elements = real(fields.inner_width),
                        .for_weights = true});
  add_width_product(layer, "widened", fields.hidden, fields.inner_width);
  add_norm_pass(layer, "layer norm", outer_shape(fields), kSummedAndNormed);
  layer.name = "narrow transformer layer";
  layer.input = layer.output = real(fields.hidden);
  return layer;
}

/// Three neighbours of a word side by side.
Layer embedding(const MobileBertModel& fields) {
  constexpr double kNeighbours = 3.0;
  const double h = real(fields.hidden);
  const double wide = kNeighbours * real(fields.table_width);
  TransformerModel table = inner_shape(fields);
  table.hidden = fields.table_width;
  table.position_encoding = PositionEncoding::none;
  Layer first = embedding_layer(table);
  add_pass(first, "neighbours", Rows::tokens, kReadAndWritten * wide, Cut::none, {});
  first.kept.push_back({.name = "neighbours", .elements = wide, .for_weights = true});
  first.products.push_back({.name = "embedding", .outputs = h, .inputs = wide, .bias = true});
  first.weights.push_back({Part::positions, real(fields.positions) * h});
  first.weights.push_back({Part::positions, real(fields.token_types) * h});
  first.passes.push_back({.name = "position_embedding",
                          .forward = kAddedPosition * h,
                          .backward = kAddedPosition * h});
  add_norm_pass(first, "embedding norm", outer_shape(fields), kReadAndWritten);
  first.output = h;
  return first;
}

Layer head_of(const MobileBertModel& fields) {
  const double h = real(fields.hidden);
  const double words = real(fields.vocabulary);
  const double predicted = real(fields.predicted_words) / real(fields.sequence_length);
  const double one = 1.0 / real(fields.sequence_length);
  Layer head{.name = "head", .input = h};
  const auto add = [&](std::string name, double rows, double outputs, Split split) {
    head.products.push_back({.name = std::move(name),
                             .part = Part::head,
                             .rows_each = rows,
                             .outputs = outputs,
                             .inputs = h,
                             .split = split,
                             .bias = true});
  };
  add("transform", predicted, h, Split::none);
  add("words", predicted, words, Split::outputs);
  if (fields.next_sentence) {
    if (fields.pooler) add("pooler", one, h, Split::none);
    add("next_sentence", one, 2.0, Split::none);
  }
  head.weights.push_back(norm_weights(outer_shape(fields)));
  head.kept = {{.name = "transform input", .elements = predicted * h},
               {.name = "transform activation input", .elements = predicted * h},
               {.name = "transform norm input", .elements = predicted * h},
               {.name = "words input", .elements = predicted * h}};
  head.loss_classes = predicted * words;
  head.passes.push_back(cross_entropy_pass(head.loss_classes));
  return head;
}

}  // namespace

Model layers_of(const MobileBertModel& fields) {
  Model model{.name = fields.name,
              .source = fields.source,
              .first = embedding(fields),
              .last = head_of(fields),
              .tied = true,
              .sequence_length = fields.sequence_length,
              .most_positions = fields.positions,
              .tensor_limits = tensor_limits(inner_shape(fields))};
  append_layers(model, layer_of(fields), static_cast<int>(fields.layers));
  return model;
}

const FieldTable<MobileBertModel>& mobilebert_fields() {
  using Mobile = MobileBertModel;
  static const FieldTable<Mobile> kFields(
      {{"layers", whole(&Mobile::layers, model_limits::kLayers).required(), "Encoder layers."},
       {"hidden", whole(&Mobile::hidden, model_limits::kHidden).required(),
        "Size of what passes between layers."},
       {"inner_width", whole(&Mobile::inner_width, model_limits::kHidden),
        R"(Channels that the layers of a MobileBERT work on inside, fewer than pass between them.
see: Sun et al. 2020 (arXiv:2004.02984), 3.1)"},
       {"attention_heads", whole(&Mobile::attention_heads, model_limits::kHeads).required(),
        "Attention heads.\nlimits: divide inner_width"},
       {"ffn_hidden", whole(&Mobile::ffn_hidden, model_limits::kFfnHidden).required(),
        "Inner size of an MLP."},
       {"mlps", whole(&Mobile::mlps, between(1, 1'000)),
        R"(That follow each other in a layer of a MobileBERT.
see: Sun et al. 2020 (arXiv:2004.02984), 3.3)"},
       {"activation", word(&Mobile::activation), "Of a MobileBERT relu by default."},
       {"vocabulary", whole(&Mobile::vocabulary, model_limits::kVocabulary).required(),
        "Rows of the table of words."},
       {"table_width", whole(&Mobile::table_width, model_limits::kHidden),
        "Of a MobileBERT 128 by default.\nlimits: at most hidden"},
       {"token_types", whole(&Mobile::token_types, between(0, 1'000'000)),
        "Rows of the table of segments."},
       {"positions", whole(&Mobile::positions, model_limits::kSequenceLength),
        "Rows of the learned table of positions."},
       {"sequence_length",
        whole(&Mobile::sequence_length, model_limits::kSequenceLength).settled([](Mobile& model) {
          model.sequence_length = model.positions;
        }),
        "Words of a sequence that the model is trained at.\ndefault: positions"},
       {"predicted_words",
        whole(&Mobile::predicted_words, model_limits::kSequenceLength).settled([](Mobile& model) {
          model.predicted_words = model.sequence_length;
        }),
        "As of a BERT.\ndefault: sequence_length"},
       {"next_sentence", flag(&Mobile::next_sentence), "As of a BERT."},
       {"pooler", flag(&Mobile::pooler).where([](const Mobile& model) { return model.pooler; }),
        "The row of a sequence that a MobileBERT pools passes a product in front of its head."},
       {"dropout", flag(&Mobile::dropout), "As of a BERT."}});
  return kFields;
}

void check_mobilebert(ObjectReader& reader, std::string_view table_key,
                      const MobileBertModel& fields) {
  check_heads(fields.inner_width, fields.attention_heads, reader);
  if (fields.table_width <= fields.hidden) return;
  reader.report(table_key, "the table of words is wider than the layers",
                fmt::format("{}, where layers have {}", fields.table_width, fields.hidden),
                "the head takes its columns from what layers give");
}

namespace {

Model read_mobilebert(ObjectReader& reader) {
  MobileBertModel fields = read_family_fields(reader, mobilebert_fields(), "narrow encoder");
  check_mobilebert(reader, "table_width", fields);
  check_predicted_words(fields.predicted_words, fields.sequence_length, reader);
  return layers_of(fields);
}

}  // namespace

ModelFamily mobilebert() {
  return {.name = "mobilebert",
          .what = "a BERT whose layers work on fewer channels than pass between them",
          .read = read_mobilebert,
          .fields = [] { return mobilebert_fields().described(); }};
}

}  // namespace headway

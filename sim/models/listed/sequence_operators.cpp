// What looks along a sequence: attention, recurrent layers, state spaces.
#include <fmt/format.h>

#include <algorithm>

#include "sim/models/listed/layer_operators.h"
#include "sim/models/lstm.h"
#include "sim/models/transformer/transformer_parts.h"

namespace headway {
namespace {

constexpr Range kFeatureCounts = between(1, 10'000'000);
constexpr Range kHeads = between(1, 100'000);

/// A decoder's layer of that width, of which one operator is taken.
TransformerModel around(const SampleShape& in) {
  return {.hidden = in.back(),
          .position_encoding = PositionEncoding::none,
          .sequence_length = in.front()};
}

struct AttentionFields {
  std::int64_t heads = 1;
  std::optional<std::int64_t> kv_heads = {};
  std::optional<std::int64_t> head_size = {};
  std::optional<std::int64_t> cross = {};
  bool causal = true;
  bool bias = true;
};

const FieldTable<AttentionFields>& attention_fields() {
  static const FieldTable<AttentionFields> kFields(
      {{"heads", whole(&AttentionFields::heads, kHeads).required(),
        "Heads of attention, or of a state space."},
       {"kv_heads", whole(&AttentionFields::kv_heads, kHeads),
        "Heads of keys and values.\ndefault: as many as heads"},
       {"head_size", whole(&AttentionFields::head_size, kFeatureCounts),
        "Elements of a head.\ndefault: what comes in, over the heads"},
       {"cross", whole(&AttentionFields::cross, between(1, 1'000'000'000)),
        "Positions of another sequence that attention goes to (cross attention): of what an "
        "encoder gave, say.\ndefault: its own sequence"},
       {"causal", flag(&AttentionFields::causal),
        "Positions attend to those in front only; else to all, as those of another sequence are."},
       {"bias", flag(&AttentionFields::bias), "A number is added to each output."}});
  return kFields;
}

SampleShape add_listed_attention(const AttentionFields& fields, ObjectReader& reader,
                                 const SampleShape& in, LayerWriter& layer) {
  if (layer.layer().attention) {
    reader.report("kind", "a layer has one attention at most", "", "make two layers of it");
    return in;
  }
  TransformerModel model = around(in);
  model.attention_heads = fields.heads;
  model.kv_heads = fields.kv_heads.value_or(fields.heads);
  const bool is_causal = reader.has("causal") && fields.causal;
  check_attention(reader, fields.heads, model.kv_heads, is_causal, fields.cross.has_value());
  if (!fields.head_size && model.hidden % fields.heads != 0) {
    reader.report("heads", "heads divide what comes in, where \"head_size\" does not say theirs",
                  fmt::format("{} of {}", fields.heads, model.hidden));
  }
  model.head_size =
      fields.head_size.value_or(std::max<std::int64_t>(1, model.hidden / fields.heads));
  model.qkv_bias = fields.bias;
  model.projection_bias = fields.bias;
  layer.input_is_kept();
  const double crossed =
      static_cast<double>(fields.cross.value_or(0)) / static_cast<double>(model.sequence_length);
  add_attention(layer.layer(), model, false, crossed);
  layer.layer().attention->causal = fields.causal && !fields.cross;
  keep_scores(layer.layer(), model);
  const double products = fields.cross ? 3.0 : 2.0;
  layer.kernels(products + 1.0, 2.0 * products + 1.0);
  return in;
}

struct RecurrentFields {
  std::int64_t hidden = 1;
  RecurrentCell cell = RecurrentCell::lstm;
  bool bidirectional = false;
};

const FieldTable<RecurrentFields>& recurrent_fields() {
  static const FieldTable<RecurrentFields> kFields(
      {{"hidden", whole(&RecurrentFields::hidden, kFeatureCounts).required(),
        "Elements of a recurrent layer's state."},
       {"cell", word(&RecurrentFields::cell), "What makes the next state."},
       {"bidirectional", flag(&RecurrentFields::bidirectional),
        "A second layer goes from the end to the beginning; both states come out."}});
  return kFields;
}

SampleShape add_recurrent(const RecurrentFields& fields, ObjectReader&, const SampleShape& in,
                          LayerWriter& layer) {
  const auto hidden = static_cast<double>(fields.hidden);
  const Layer one = recurrent_layer(fields.cell, static_cast<double>(in.back()), hidden,
                                    static_cast<double>(in.front()));
  const int directions = fields.bidirectional ? 2 : 1;
  layer.input_is_kept();
  Layer& into = layer.layer();
  for (int direction = 0; direction < directions; ++direction) {
    into.products.insert(into.products.end(), one.products.begin(), one.products.end());
    into.passes.insert(into.passes.end(), one.passes.begin(), one.passes.end());
    into.kept.insert(into.kept.end(), one.kept.begin() + direction, one.kept.end());
    layer.kernels(one.launches.forward, one.launches.backward);
  }
  return {in.front(), directions * fields.hidden};
}

const FieldTable<StateSpace>& listed_state_space_fields() {
  static const FieldTable<StateSpace> kFields(
      {{"heads", whole(&StateSpace::heads, kHeads).required(),
        "Heads of attention, or of a state space."},
       {"head_size", whole(&StateSpace::head_size, kFeatureCounts).required(),
        "Elements of a head."},
       {"state_size", whole(&StateSpace::state_size, kFeatureCounts).required(),
        "Elements of a state for each element of a head."},
       {"groups", whole(&StateSpace::groups, kHeads),
        "Groups of heads of a state space that share what goes into their states."},
       {"convolution", whole(&StateSpace::convolution, between(1, 100'000)),
        "Positions that the convolution in front of a state space sees."},
       {"chunk", whole(&StateSpace::chunk, between(1, 1'000'000)),
        "Positions that a state space works on together."}});
  return kFields;
}

SampleShape add_listed_state_space(const StateSpace& fields, ObjectReader& reader,
                                   const SampleShape& in, LayerWriter& layer) {
  if (fields.heads % fields.groups != 0) {
    reader.report("groups", "groups divide the heads",
                  fmt::format("{} of {}", fields.groups, fields.heads));
  }
  TransformerModel model = around(in);
  model.state_space = fields;
  layer.input_is_kept();
  add_state_space(layer.layer(), model);
  // Two products, a convolution, five kernels of the scan and a norm, as Dao and Gu's code launches
  // them; backward about twice as many.
  layer.kernels(9.0, 18.0);
  return in;
}

bool is_sequence(const SampleShape& in) { return in.size() == 2; }

}  // namespace

void check_attention(ObjectReader& reader, std::int64_t heads, std::int64_t kv_heads,
                     bool is_causal, bool is_crossed) {
  if (is_causal && is_crossed) {
    reader.report("causal", "positions of another sequence are none of the past or the future", "",
                  "leave causal out, or cross");
  }
  if (heads % kv_heads != 0) {
    reader.report("kv_heads", "kv_heads must divide heads",
                  fmt::format("{} does not divide {}", kv_heads, heads),
                  "leave it out for as many as heads");
  }
}

std::vector<LayerOperator> sequence_operators() {
  constexpr std::string_view kSequences = "[positions, features]";
  return {operator_of({.name = "attention",
                       .what = "queries, keys and values, the core and what puts heads together",
                       .takes = kSequences,
                       .fits = is_sequence,
                       .rows = OperatorRows::tokens},
                      attention_fields, add_listed_attention),
          operator_of({.name = "recurrent",
                       .what = "LSTM, GRU or plain, in one direction or both",
                       .takes = kSequences,
                       .fits = is_sequence,
                       .rows = OperatorRows::tokens},
                      recurrent_fields, add_recurrent),
          operator_of({.name = "state_space",
                       .what = "Mamba-2 with its projections",
                       .takes = kSequences,
                       .fits = is_sequence,
                       .rows = OperatorRows::tokens},
                      listed_state_space_fields, add_listed_state_space)};
}

}  // namespace headway

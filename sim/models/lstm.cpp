#include "sim/models/lstm.h"

#include <fmt/format.h>

#include <utility>

#include "sim/base/diagnostic.h"
#include "sim/models/families.h"
#include "sim/models/family_fields.h"
#include "sim/models/transformer/transformer_layers.h"

namespace headway {
namespace {

/// What a cell has for each element of the state, in tensors of 2 bytes.
struct CellSizes {
  double gates;   ///< products of inputs, and of states
  double states;  ///< what it hands to the next position
  double forward_bytes;
  double backward_bytes;
};

// An LSTM has input, forget and output gates, and what is proposed for the cell. Forward both
// products of the gates and the cell are read, the gates, the cell and the state written; backward
// the gates, two cells and both gradients are read, those of the gates and the cell written. A GRU
// has no cell: its state takes that part, and of what it proposes both products have a gradient. A
// plain layer reads both products and writes its state, which with its gradient is all that the
// backward pass reads for one that it writes.
CellSizes sizes_of(RecurrentCell cell) {
  const auto sizes = [](double gates, double states, double forward, double backward) {
    return CellSizes{gates, states, kWorkingElement * forward, kWorkingElement * backward};
  };
  switch (cell) {
    case RecurrentCell::lstm:
      return sizes(4.0, 2.0, 2.0 * 4.0 + 1.0 + 4.0 + 2.0, 4.0 + 2.0 + 2.0 + 4.0 + 1.0);
    case RecurrentCell::gru:
      return sizes(3.0, 1.0, 2.0 * 3.0 + 1.0 + 3.0 + 1.0, 3.0 + 1.0 + 1.0 + 4.0 + 1.0);
    case RecurrentCell::plain:
      return sizes(1.0, 1.0, 2.0 + 1.0, 2.0 + 1.0);
  }
  HEADWAY_CHECK(false, "unknown cell");
}

}  // namespace

// A product and a kernel of gates for each position. One call of cuDNN launches those of all
// positions, in about 8 us each where an operator of Python takes 63 (of eager layers, 0.88 ms for
// 14): on hosts of an H100 and an H200 LSTMs of 280 such launches leave 5 us for one, DeepSpeech2's
// 6,400 leave 10 (scripts/torch_models.py).
double launches_in_turns(double positions) {
  constexpr double kKernels = 2.0 * 8.0 / 63.0;
  return kKernels * positions;
}

Layer recurrent_layer(RecurrentCell cell, double inputs, double hidden, double positions) {
  const CellSizes sizes = sizes_of(cell);
  Layer layer{.name = std::string(word_of(cell)), .input = inputs, .output = hidden};
  layer.products = {{.name = "gates of inputs",
                     .part = Part::mlp,
                     .outputs = sizes.gates * hidden,
                     .inputs = inputs,
                     .bias = true,
                     .splits_terms = true},
                    {.name = "gates of states",
                     .part = Part::mlp,
                     .outputs = sizes.gates * hidden,
                     .inputs = hidden,
                     .bias = true,
                     .splits_terms = true,
                     .in_turns = true}};
  layer.passes.push_back({.name = "cell",
                          .forward = sizes.forward_bytes * hidden,
                          .backward = sizes.backward_bytes * hidden,
                          .merged = false});
  layer.kept = {{.name = "inputs", .elements = inputs, .for_weights = true},
                {.name = "gates", .elements = sizes.gates * hidden},
                {.name = "cells and states", .elements = sizes.states * hidden}};
  // Both gradients of weights at the end.
  const double turns = launches_in_turns(positions);
  layer.launches = {1.0 + turns, 3.0 + turns};
  return layer;
}

Model layers_of(const LstmModel& fields) {
  const auto hidden = static_cast<double>(fields.hidden);
  const auto width = static_cast<double>(fields.embedding_width);
  const auto vocabulary = static_cast<double>(fields.vocabulary);
  Model model{.name = fields.name,
              .source = fields.source,
              .first = {.name = "embedding", .output = width},
              .last = {.name = "head", .input = hidden, .loss_classes = vocabulary},
              .tied = fields.tied_embeddings,
              .sequence_length = fields.sequence_length,
              .tensor_limits = {{"hidden", "a recurrent layer (which is never split)", 1}}};
  model.first.weights.push_back({Part::embedding, vocabulary * width});
  model.first.passes.push_back(
      {.name = "lookup", .forward = kLookupBytes * width, .backward = kLookupBytes * width});
  const auto positions = static_cast<double>(fields.sequence_length);
  append_layers(model, recurrent_layer(RecurrentCell::lstm, width, hidden, positions));
  if (fields.layers > 1) {
    append_layers(model, recurrent_layer(RecurrentCell::lstm, hidden, hidden, positions),
                  static_cast<int>(fields.layers) - 1);
  }
  model.last.products.push_back(
      {.name = "head", .part = Part::head, .outputs = vocabulary, .inputs = hidden, .bias = true});
  model.last.passes.push_back(cross_entropy_pass(vocabulary));
  model.last.kept = {{.name = "head input", .elements = hidden, .for_weights = true}};
  return model;
}

namespace {

const FieldTable<LstmModel>& lstm_fields() {
  constexpr Range kWidths = between(1, 10'000'000);
  static const FieldTable<LstmModel> kFields(
      {{"layers", whole(&LstmModel::layers, between(1, 10'000)), "Layers of the model."},
       {"hidden", whole(&LstmModel::hidden, kWidths), "Elements of the state of a layer."},
       {"embedding_width", whole(&LstmModel::embedding_width, kWidths),
        "Elements of a row of an embedding table."},
       {"vocabulary", whole(&LstmModel::vocabulary, between(1, 100'000'000)),
        "Rows of the table of words."},
       {"sequence_length", whole(&LstmModel::sequence_length, between(1, 1'000'000)),
        "Words of a sequence that the model is trained at (truncated backpropagation)."},
       {"tied_embeddings", flag(&LstmModel::tied_embeddings),
        "The head shares the table of the embedding."}});
  return kFields;
}

Model read_lstm(ObjectReader& reader) {
  const LstmModel fields = read_family_fields(reader, lstm_fields(), "LSTM language model");
  if (fields.tied_embeddings && fields.embedding_width != fields.hidden) {
    reader.report("tied_embeddings",
                  "a head that shares the table needs a state as wide as its rows",
                  fmt::format("{} and {}", fields.hidden, fields.embedding_width),
                  "set embedding_width to hidden, or leave it out");
  }
  return layers_of(fields);
}

}  // namespace

ModelFamily lstm() {
  return {.name = "lstm", .what = "a recurrent language model", .read = read_lstm, .fields = [] {
            return lstm_fields().described();
          }};
}

}  // namespace headway

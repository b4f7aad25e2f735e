#pragma once

#include <cstdint>
#include <string>

#include "sim/base/words.h"
#include "sim/layers/model.h"

namespace headway {

/// What makes a recurrent layer's next state: gates of an LSTM (Hochreiter and Schmidhuber 1997) or
/// of a GRU (Cho et al. 2014, arXiv:1406.1078), or one function (Elman 1990).
enum class RecurrentCell { lstm, gru, plain };
template <>
inline constexpr Word<RecurrentCell> kWords<RecurrentCell>[] = {
    {"lstm", RecurrentCell::lstm}, {"gru", RecurrentCell::gru}, {"plain", RecurrentCell::plain}};

/// Launches of a layer's products with its states and of their gates, each way, in those of
/// operators of Python.
[[nodiscard]] double launches_in_turns(double positions);

/// A layer in one direction, of a token; `positions` follow each other in a sequence. Its products
/// with inputs are taken for all positions at once, those with its state one after the other.
[[nodiscard]] Layer recurrent_layer(RecurrentCell cell, double inputs, double hidden,
                                    double positions);

/// Bytes moved for each element of a row that is looked up in a table, in tensors of 2 bytes: read
/// and written, either way.
inline constexpr double kLookupBytes = 4.0;

/// A language model of LSTM layers (Hochreiter and Schmidhuber 1997; Zaremba et al. 2014,
/// arXiv:1409.2329), as PyTorch's word_language_model example builds it.
struct LstmModel {
  std::string name = {};
  std::string source = {};
  std::int64_t layers = 2;
  std::int64_t hidden = 200;
  std::int64_t embedding_width = 200;
  std::int64_t vocabulary = 33278;
  std::int64_t sequence_length = 35;
  bool tied_embeddings = false;
};

/// A layer's products with its inputs are taken for all positions of a sequence at once, those with
/// its state one position after the other. Requires an embedding as wide as the state where the
/// head shares its table.
[[nodiscard]] Model layers_of(const LstmModel& fields);

}  // namespace headway

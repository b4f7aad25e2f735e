#pragma once

#include <cstdint>
#include <string>

#include "sim/layers/model.h"

namespace headway {

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

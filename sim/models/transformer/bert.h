#pragma once

#include <cstdint>
#include <string>

#include "sim/files/field_table.h"
#include "sim/layers/model.h"
#include "sim/models/transformer/transformer.h"

namespace headway {

/// An encoder trained to fill in masked words (Devlin et al. 2018, arXiv:1810.04805), with the
/// pooled prediction of the next sentence or without (Liu et al. 2019, arXiv:1907.11692); or to
/// tell which words another one filled in (Clark et al. 2020, arXiv:2003.10555). Also with what
/// decoders have had since: rotary positions, gated MLPs, windows (Warner et al. 2024,
/// arXiv:2412.13663).
struct BertModel {
  std::string name = {};
  std::string source = {};
  std::int64_t layers = 1;
  std::int64_t hidden = 1;
  std::int64_t attention_heads = 1;
  std::int64_t ffn_hidden = 1;
  bool gated_mlp = false;
  bool biases = true;  ///< of norms and products, but for the one of each word
  /// Positions that a position attends to, half of them on either side; 0: all.
  std::int64_t window = 0;
  std::int64_t full_attention_interval = 0;  ///< the first of every so many layers has no window
  std::int64_t vocabulary = 1;
  std::int64_t table_width = 0;  ///< of the tables, if not hidden
  std::int64_t token_types = 2;
  PositionEncoding position_encoding = PositionEncoding::learned;
  std::int64_t positions = 512;        ///< rows of the learned table
  std::int64_t sequence_length = 512;  ///< trained at
  /// Words of a sequence that the head predicts; all where the loss masks those that stayed.
  std::int64_t predicted_words = 512;
  /// Rows of a table of distances, of which queries and keys are made as of words, and which words'
  /// keys and queries are compared with (He et al. 2020, arXiv:2006.03654, section 3.2); 0: none.
  std::int64_t relative_positions = 0;
  bool next_sentence = true;    ///< a row of each sequence is pooled, and predicts it
  bool tells_replaced = false;  ///< the head tells of each word whether it was put in
  bool dropout = true;
};

/// Layers are those of a GPT whose attention sees both ways; what they keep and move is the same
/// with the norm behind each half instead of in front. Where it is in front, as with rotary
/// positions, the norm behind the last layer is counted as one in front of the first, which
/// ModernBERT has not.
[[nodiscard]] Model layers_of(const BertModel& fields);

[[nodiscard]] const FieldTable<BertModel>& bert_fields();

}  // namespace headway

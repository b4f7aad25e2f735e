#pragma once

#include <cstdint>
#include <string>

#include "sim/files/field_table.h"
#include "sim/layers/model.h"
#include "sim/models/transformer/transformer.h"

namespace headway {

/// A BERT whose layers work on fewer channels than pass between them (Sun et al. 2020,
/// arXiv:2004.02984, section 3): two narrow products in front, one for queries and keys and one for
/// what attention is added to, several MLPs, and a product back. Words come from a narrow table, by
/// three neighbours each.
struct MobileBertModel {
  std::string name = {};
  std::string source = {};
  std::int64_t layers = 1;
  std::int64_t hidden = 512;       ///< channels between layers
  std::int64_t inner_width = 128;  ///< inside of them
  std::int64_t attention_heads = 4;
  std::int64_t ffn_hidden = 512;
  std::int64_t mlps = 4;  ///< of a layer
  ActivationFunction activation = ActivationFunction::relu;
  std::int64_t vocabulary = 1;
  std::int64_t table_width = 128;  ///< of the table of words
  std::int64_t token_types = 2;
  std::int64_t positions = 512;        ///< rows of the learned table
  std::int64_t sequence_length = 512;  ///< trained at
  std::int64_t predicted_words = 512;  ///< of a sequence that the head predicts
  bool next_sentence = true;           ///< the first row of each sequence predicts it
  bool pooler = false;                 ///< through a product of its own
  bool dropout = true;
};

/// Norms without statistics, which MobileBERT has, are counted as those that have them: they move
/// and keep the same. The head's words share their table's columns with the embedding, the others
/// are its own.
[[nodiscard]] Model layers_of(const MobileBertModel& fields);

[[nodiscard]] const FieldTable<MobileBertModel>& mobilebert_fields();

/// Reports widths that do not go together, under what they are called where they were read.
void check_mobilebert(ObjectReader& reader, std::string_view table_key,
                      const MobileBertModel& fields);

}  // namespace headway

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sim/base/words.h"
#include "sim/files/field_table.h"
#include "sim/layers/model.h"

namespace headway {

/// Which filters of a waveform have a norm behind them: the first, over a whole channel, or all,
/// over the channels of a position.
enum class FilterNorms { first, all };
template <>
inline constexpr Word<FilterNorms> kWords<FilterNorms>[] = {{"first", FilterNorms::first},
                                                            {"all", FilterNorms::all}};

/// An encoder of waveforms (Baevski et al. 2020, arXiv:2006.11477, section 2): filters that make
/// few positions of many samples, one more over the positions that tells each where it stands, and
/// layers. It learns which letter was said (CTC), or which of several codes stands behind a
/// position that was masked. HuBERT (arXiv:2106.07447) is the same, WavLM (arXiv:2110.13900) adds
/// gated biases to the scores.
struct Wav2Vec2Model {
  std::string name = {};
  std::string source = {};
  std::int64_t layers = 1;
  std::int64_t hidden = 1;
  std::int64_t attention_heads = 1;
  std::int64_t ffn_hidden = 1;
  std::int64_t samples = 250'000;  ///< of a clip, 16,000 a second
  std::vector<std::int64_t> filter_channels = std::vector<std::int64_t>(7, 512);
  std::vector<std::int64_t> filter_kernels = {10, 3, 3, 3, 3, 2, 2};
  std::vector<std::int64_t> filter_strides = {5, 2, 2, 2, 2, 2, 2};
  bool filter_biases = false;
  FilterNorms filter_norms = FilterNorms::first;
  std::int64_t position_kernel = 128;  ///< of the filter over positions
  std::int64_t position_groups = 16;   ///< of its channels
  /// That heads tell apart by biases, which a position turns up and down; 0: none.
  std::int64_t gated_distances = 0;
  std::int64_t codebooks = 0;  ///< that codes are put together from; 0: letters are learned
  std::int64_t codes = 320;    ///< of each
  std::int64_t code_width = 256;
  std::int64_t contrast_width = 256;  ///< in which positions and codes are compared
  std::int64_t negatives = 100;       ///< that a code is told from
  std::int64_t vocabulary = 32;       ///< letters
  bool dropout = true;

  /// Positions behind so many of the filters, one at least.
  [[nodiscard]] std::int64_t positions_behind(std::size_t filters) const;
  [[nodiscard]] std::int64_t positions() const { return positions_behind(filter_channels.size()); }
};

/// A sample is a clip, of as many rows as positions are left of it. Layers are those of a BERT:
/// what they keep and move is the same with the norm behind each half instead of in front. Where it
/// is in front, the norm behind the last layer is counted as one in front of the first.
[[nodiscard]] Model layers_of(const Wav2Vec2Model& fields);

[[nodiscard]] const FieldTable<Wav2Vec2Model>& wav2vec2_fields();

/// What the fields that are checked together are called where they were read.
struct Wav2Vec2Keys {
  std::string_view channels = "filter_channels";
  std::string_view kernels = "filter_kernels";
  std::string_view strides = "filter_strides";
  std::string_view groups = "position_groups";
  std::string_view codebooks = "codebooks";
};

/// Reports fields that are each right and do not go together, and makes them so that reading can
/// go on.
void check_wav2vec2(ObjectReader& reader, const Wav2Vec2Keys& keys, Wav2Vec2Model& fields);

}  // namespace headway

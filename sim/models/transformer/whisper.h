#pragma once

#include <cstdint>
#include <string>

#include "sim/files/field_table.h"
#include "sim/layers/model.h"

namespace headway {

/// An encoder of clips of speech, and a decoder that writes what was said (Radford et al. 2022,
/// arXiv:2212.04356, section 2.2): two convolutions over spectra, of which the second halves their
/// number, positions of the encoder by fixed sinusoids, of the decoder by a learned table, no
/// biases of keys, and no dropout.
struct WhisperModel {
  std::string name = {};
  std::string source = {};
  std::int64_t layers = 1;          ///< of the encoder
  std::int64_t decoder_layers = 1;  ///< each with attention, cross attention and an MLP
  std::int64_t hidden = 1;
  std::int64_t attention_heads = 1;
  std::int64_t ffn_hidden = 1;
  std::int64_t vocabulary = 1;
  std::int64_t mel_bins = 80;           ///< of a spectrum
  std::int64_t frames = 3000;           ///< spectra of a clip; even
  std::int64_t target_positions = 448;  ///< rows of the decoder's table
  std::int64_t target_length = 448;     ///< that the decoder is trained to write of a clip

  /// That the encoder works on.
  [[nodiscard]] std::int64_t positions() const { return frames / 2; }
};

/// Layers of the encoder, then two for each of the decoder. A sample is a clip, of as many rows as
/// the encoder has positions; the decoder has a part of them. The encoder's sinusoids are in no
/// count: nothing trains them.
[[nodiscard]] Model layers_of(const WhisperModel& fields);

[[nodiscard]] const FieldTable<WhisperModel>& whisper_fields();

/// Reports fields that are each right and do not go together.
void check_whisper(ObjectReader& reader, const WhisperModel& model);

}  // namespace headway

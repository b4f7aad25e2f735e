#pragma once

#include <cstdint>
#include <string>

#include "sim/files/field_table.h"
#include "sim/layers/model.h"
#include "sim/models/transformer/transformer.h"

namespace headway {

/// A transformer that takes noise out of images as an autoencoder gives them, in patches. A class
/// (Peebles and Xie 2022, arXiv:2212.09748, section 3.2), or a text that attends together with the
/// image (Esser et al. 2024, arXiv:2403.03206, section 4), says of what. The norms' gains and
/// biases, and a gate for what each half adds, are products of one vector of an image: of its time
/// and class, or the mean of its text.
struct DiffusionTransformer {
  std::string name = {};
  std::string source = {};
  std::int64_t layers = 1;         ///< with a text each has two streams with weights of their own
  std::int64_t single_layers = 0;  ///< behind them: one stream, attention and MLP side by side
  std::int64_t hidden = 1;
  std::int64_t attention_heads = 1;
  std::int64_t ffn_hidden = 1;
  bool query_key_norm = false;  ///< an RMS norm of each head, with gains
  PositionEncoding position_encoding = PositionEncoding::none;  ///< none: fixed sinusoids
  std::int64_t image_size = 256;                                ///< pixels a side
  std::int64_t latent_scale = 8;  ///< pixels that a position of the autoencoder's stands for
  std::int64_t patch_size = 2;    ///< such positions a side
  std::int64_t channels = 4;      ///< of the autoencoder's
  std::int64_t output_channels = 8;
  std::int64_t text_length = 0;     ///< positions; 0: a class instead
  std::int64_t text_width = 4096;   ///< channels of its frozen encoder
  std::int64_t pooled_width = 768;  ///< of the vector that stands for all of it
  bool guidance = false;            ///< its strength is told to the model like the time
  std::int64_t classes = 1000;
  /// What embeds time and class stands in every layer (diffusers) instead of once.
  bool embedders_in_layers = false;

  [[nodiscard]] bool has_text() const { return text_length > 0; }
  [[nodiscard]] std::int64_t patches() const {
    const std::int64_t side = image_size / (latent_scale * patch_size);
    return side * side;
  }
  [[nodiscard]] std::int64_t positions() const { return patches() + text_length; }
};

/// A sample is an image, its positions those of patches and text. Tensor-parallel ranks have the
/// modulations whole (NeMo, dit_layer_spec.py). Not counted: fixed positions, which nothing trains,
/// and what frozen encoders take.
[[nodiscard]] Model layers_of(const DiffusionTransformer& fields);

[[nodiscard]] const FieldTable<DiffusionTransformer>& diffusion_fields();

/// Reports fields that are each right and do not go together.
void check_diffusion(ObjectReader& reader, const DiffusionTransformer& model);

}  // namespace headway

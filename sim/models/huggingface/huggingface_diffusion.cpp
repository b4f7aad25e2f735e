#include <fmt/format.h>

#include <array>

#include "sim/models/huggingface/encoder_families.h"
#include "sim/models/huggingface/huggingface_families.h"
#include "sim/models/transformer/diffusion_transformer.h"
#include "sim/models/transformer/model_fields.h"

namespace headway {
namespace {

constexpr std::string_view kNormType = "norm_type";
constexpr std::string_view kAdaptive = "ada_norm_zero";
constexpr Range kSamples = between(1, 100'000);

/// What all call the same. Autoencoders make one position of eight pixels a side.
DiffusionTransformer read_diffusion_sizes(ObjectReader& reader) {
  DiffusionTransformer model;
  model.layers = reader.integer("num_layers", model_limits::kLayers);
  model.attention_heads = reader.integer("num_attention_heads", model_limits::kHeads);
  model.hidden =
      model.attention_heads * reader.integer("attention_head_dim", model_limits::kHeadSize);
  model.ffn_hidden = 4 * model.hidden;
  model.channels = reader.integer("in_channels", kSamples);
  model.patch_size = given_count(reader, "patch_size", kSamples, model.patch_size);
  model.output_channels = given_count(reader, "out_channels", kSamples, model.channels);
  return model;
}

void set_image_size(ObjectReader& reader, DiffusionTransformer& model, std::int64_t positions) {
  model.image_size = model.latent_scale * given_count(reader, "sample_size", kSamples, positions);
  check_diffusion(reader, model);
}

/// What a configuration does not say.
void tell_of_text(ObjectReader& reader, const DiffusionTransformer& model) {
  Diagnostic warning =
      reader.cursor()
          .member("_class_name")
          ->key_problem(
              fmt::format("images are taken to have {0} x {0} pixels, texts {1} positions",
                          model.image_size, model.text_length),
              "a configuration does not say: `headway check --resolve` writes the model in fields "
              "of ours, "
              "of which these are image_size and text_length");
  warning.severity = Severity::warning;
  reader.diagnostics().add(std::move(warning));
}

void read_text(ObjectReader& reader, DiffusionTransformer& model, std::int64_t length) {
  model.text_length = length;
  model.text_width = reader.integer("joint_attention_dim", model_limits::kHidden);
  model.pooled_width = reader.integer("pooled_projection_dim", model_limits::kHidden);
}

/// Each block embeds time and class by itself.
EncoderModel read_dit_config(ObjectReader& reader) {
  DiffusionTransformer model = read_diffusion_sizes(reader);
  const std::string norm =
      given(reader.cursor(), kNormType) ? reader.text(kNormType) : std::string(kAdaptive);
  if (norm != kAdaptive) {
    reader.report(kNormType, "a transformer of images that is no DiT",
                  fmt::format("{} instead of {}", norm, kAdaptive), "only DiTs are read");
  }
  model.classes =
      given_count(reader, "num_embeds_ada_norm", between(1, 100'000'000), model.classes);
  model.embedders_in_layers = true;
  constexpr std::int64_t kUsualPositions = 32;
  set_image_size(reader, model, kUsualPositions);
  return encoder_of("dit", layers_of(model), diffusion_fields().written(model));
}

/// Channels are those of two by two positions of the autoencoder, side by side.
EncoderModel read_flux_config(ObjectReader& reader) {
  DiffusionTransformer model = read_diffusion_sizes(reader);
  constexpr std::int64_t kUsualText = 512;
  read_text(reader, model, kUsualText);
  model.single_layers = given_count(reader, "num_single_layers", between(0, 10'000), 0);
  model.guidance = given_flag(reader, "guidance_embeds", false);
  model.query_key_norm = true;
  model.position_encoding = PositionEncoding::rotary;
  model.latent_scale = 16;
  model.image_size = 1024;
  check_diffusion(reader, model);
  tell_of_text(reader, model);
  return encoder_of("dit", layers_of(model), diffusion_fields().written(model));
}

/// Texts are 77 positions of CLIP's and 77 of T5's, as trained.
EncoderModel read_sd3_config(ObjectReader& reader) {
  DiffusionTransformer model = read_diffusion_sizes(reader);
  constexpr std::int64_t kTrainedText = 154;
  read_text(reader, model, kTrainedText);
  if (given_count(reader, "caption_projection_dim", model_limits::kHidden, model.hidden) !=
      model.hidden) {
    reader.report("caption_projection_dim", "text and image are of different width",
                  fmt::format("the image's stream has {}", model.hidden),
                  "both streams attend together, in heads of one size");
  }
  model.query_key_norm = given(reader.cursor(), "qk_norm").has_value();
  const auto twice = given(reader.cursor(), "dual_attention_layers");
  if (twice && twice->is_array() && twice->size() > 0) {
    reader.report("dual_attention_layers", "layers with a second attention are not read",
                  "of the image to itself", "read are Stable Diffusion 3 and 3.5 large");
  }
  static_cast<void>(given_count(reader, "pos_embed_max_size", kSamples, 1));  // nothing trains it
  constexpr std::int64_t kUsualPositions = 128;
  set_image_size(reader, model, kUsualPositions);
  tell_of_text(reader, model);
  return encoder_of("dit", layers_of(model), diffusion_fields().written(model));
}

constexpr std::array kDiffusionFamilies = {
    EncoderFamily{"DiTTransformer2DModel", "", read_dit_config},
    EncoderFamily{"Transformer2DModel", "", read_dit_config},
    EncoderFamily{"FluxTransformer2DModel", "", read_flux_config},
    EncoderFamily{"SD3Transformer2DModel", "", read_sd3_config},
};

}  // namespace

std::span<const EncoderFamily> diffusion_families() { return kDiffusionFamilies; }

}  // namespace headway

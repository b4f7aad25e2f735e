#include "sim/models/transformer/diffusion_transformer.h"

#include <fmt/format.h>

#include "sim/models/families.h"
#include "sim/models/family_fields.h"
#include "sim/models/transformer/model_fields.h"

namespace headway {
namespace {

constexpr Range kScales = between(1, 10'000);
constexpr Range kLatentChannels = between(1, 100'000);
constexpr Word<PositionEncoding> kPlacings[] = {{"rotary", PositionEncoding::rotary},
                                                {"none", PositionEncoding::none}};

bool has_text(const DiffusionTransformer& model) { return model.has_text(); }
bool has_class(const DiffusionTransformer& model) { return !model.has_text(); }
constexpr FieldNeed kNeedsText{"text_length", "above 0", "there is no text", "512, say"};
constexpr FieldNeed kNeedsClass{"text_length", "0", "a text says what the image is of"};

}  // namespace

const FieldTable<DiffusionTransformer>& diffusion_fields() {
  using Diffusion = DiffusionTransformer;
  static const FieldTable<Diffusion> kFields(
      {{"layers", whole(&Diffusion::layers, model_limits::kLayers).required(),
        "Of a diffusion transformer with a text, those whose streams have weights of their own."},
       {"hidden", whole(&Diffusion::hidden, model_limits::kHidden).required(),
        "Size of the residual stream."},
       {"attention_heads", whole(&Diffusion::attention_heads, model_limits::kHeads).required(),
        "Attention heads.\nlimits: divide hidden"},
       {"ffn_hidden",
        whole(&Diffusion::ffn_hidden, model_limits::kFfnHidden).settled([](Diffusion& model) {
          model.ffn_hidden = 4 * model.hidden;
        }),
        "Inner size of the MLP.\ndefault: 4 hidden"},
       {"query_key_norm", flag(&Diffusion::query_key_norm),
        "Queries and keys of a diffusion transformer are normalised, with a gain for each channel "
        "of a head."},
       {"position_encoding",
        word(&Diffusion::position_encoding, Words<PositionEncoding>(kPlacings)),
        "Of a diffusion transformer rotary, or none that is trained: fixed sinusoids."},
       {"image_size", whole(&Diffusion::image_size, between(8, 100'000)),
        "Pixels of a side of an image."},
       {"latent_scale", whole(&Diffusion::latent_scale, kScales),
        R"(Pixels of a side that one position of the autoencoder stands for, whose images a diffusion
transformer works on. 1: on pixels.
see: Rombach et al. 2021 (arXiv:2112.10752), 3.1)"},
       {"patch_size", whole(&Diffusion::patch_size, between(1, 10'000)),
        "Positions of the autoencoder of a side of a patch.\nlimits: latent_scale times patch_size "
        "divides image_size"},
       {"channels", whole(&Diffusion::channels, kLatentChannels),
        "Channels of the images that a diffusion transformer works on."},
       {"text_length", whole(&Diffusion::text_length, between(0, 1'000'000'000)),
        R"(Positions of the text that a diffusion transformer makes an image of: they attend, and are
attended to, with those of the image. 0: a class says of what.
see: Esser et al. 2024 (arXiv:2403.03206), 4)"},
       {"text_width",
        whole(&Diffusion::text_width, model_limits::kHidden).only_where(has_text, kNeedsText),
        "Channels that the frozen encoder of the text gives."},
       {"pooled_width",
        whole(&Diffusion::pooled_width, model_limits::kHidden).only_where(has_text, kNeedsText),
        "Channels of the vector that stands for the whole text, and modulates with the time."},
       {"single_layers",
        whole(&Diffusion::single_layers, between(0, 10'000)).only_where(has_text, kNeedsText),
        R"(Layers behind the others in which image and text have weights in common, and attention stands
beside the MLP (FLUX). Without them the text ends in the attention of the last layer.)"},
       {"guidance", flag(&Diffusion::guidance),
        "The strength of guidance modulates as the time does (FLUX.1 dev)."},
       {"classes",
        whole(&Diffusion::classes, between(1, 100'000'000)).only_where(has_class, kNeedsClass),
        "Classes that a network tells apart."},
       {"output_channels",
        whole(&Diffusion::output_channels, kLatentChannels).settled([](Diffusion& model) {
          model.output_channels = (model.has_text() ? 1 : 2) * model.channels;
        }),
        R"(Channels that a diffusion transformer tells: of the noise, and of its variance where that is
learned.
default: twice channels; channels with a text)"},
       {"embedders_in_layers", flag(&Diffusion::embedders_in_layers),
        "What embeds time and class stands in every layer of a diffusion transformer, as in "
        "diffusers, and not once."}});
  return kFields;
}

void check_diffusion(ObjectReader& reader, const DiffusionTransformer& model) {
  check_heads(model.hidden, model.attention_heads, reader);
  const std::int64_t side = model.latent_scale * model.patch_size;
  if (model.image_size % side == 0) return;
  reader.report("image_size", "latent_scale times patch_size must divide image_size",
                fmt::format("{} x {} = {} does not divide {}", model.latent_scale, model.patch_size,
                            side, model.image_size),
                fmt::format("use an image_size of {}", (model.image_size / side + 1) * side));
}

namespace {

Model read_diffusion(ObjectReader& reader) {
  DiffusionTransformer fields =
      read_family_fields(reader, diffusion_fields(), "diffusion transformer");
  check_diffusion(reader, fields);
  if (fields.patches() == 0) fields.image_size = fields.latent_scale * fields.patch_size;
  return layers_of(fields);
}

}  // namespace

ModelFamily diffusion_transformer() {
  return {.name = "dit",
          .what = "a diffusion transformer of classes (DiT) or texts (MMDiT, FLUX)",
          .read = read_diffusion,
          .fields = [] { return diffusion_fields().described(); }};
}

}  // namespace headway

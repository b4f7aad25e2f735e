#include "sim/models/transformer/vision_tower.h"

#include <fmt/format.h>

#include <map>
#include <utility>
#include <vector>

#include "sim/models/transformer/model_fields.h"
#include "sim/models/transformer/transformer_layers.h"
#include "sim/models/transformer/transformer_parts.h"
#include "sim/models/transformer/vision_transformer.h"

namespace headway {
namespace {

// Bytes a channel, in tensors of 2 bytes.
constexpr double kPatchPosition = 6.0;  ///< two terms read, their sum written
constexpr double kPatchPass = 4.0;      ///< read and written

/// What a layer has in common with a decoder's, in its words.
TransformerModel as_transformer(const VisionTower& tower) {
  return {.layers = tower.layers,
          .hidden = tower.hidden,
          .attention_heads = tower.attention_heads,
          .kv_heads = tower.attention_heads,
          .head_size = tower.hidden / tower.attention_heads,
          .ffn_hidden = tower.ffn_hidden,
          .gated_mlp = tower.gated_mlp,
          .normalization = tower.normalization,
          .normalization_bias = tower.normalization == Normalization::layer_norm,
          .position_encoding = PositionEncoding::none,
          .qkv_bias = tower.biases && tower.qkv_biases,
          .projection_bias = tower.biases,
          .mlp_bias = tower.biases};
}

/// For each position of a sequence.
double patches_each(const VisionTower& tower) {
  return tower.image_share * real(tower.patches_per_token);
}

void add_pixels(Layer& embedding, const VisionTower& tower) {
  const double rows = patches_each(tower);
  const double h = real(tower.hidden);
  // Not of the embedding's part, which the head has in common where it is tied.
  Product patches = patch_product(h, tower.patch_size * tower.patch_size * tower.frames);
  patches.rows_each = rows;
  add_patches(embedding, std::move(patches));
  if (tower.position_rows == 0) return;
  embedding.weights.push_back({Part::positions, real(tower.position_rows) * h});
  embedding.passes.push_back({.name = "patch_positions",
                              .forward = kPatchPosition * rows * h,
                              .backward = kPatchPosition * rows * h});
}

Layer encoder_layer(const VisionTower& tower, std::int64_t block) {
  Layer layer = transformer_layer(as_transformer(tower));
  if (tower.query_key_norms) {
    const double both = 2.0 * real(tower.hidden);
    add_query_key_norms(layer, Normalization::rms_norm,
                        {Part::normalization, both, Cut::tensor, 2.0}, both);
  }
  if (tower.layer_scale) add_layer_scale(layer, real(tower.hidden));
  layer.name = "vision layer";
  layer.attention->causal = false;
  layer.attention->block = real(block);
  return with_rows(std::move(layer), patches_each(tower));
}

void add_patch_pass(Layer& layer, std::string name, double channels) {
  add_pass(layer, std::move(name), Rows::tokens, kPatchPass * channels, Cut::none, {});
}

/// A norm of the patches, and an MLP on those of a place.
void add_projector(Layer& layer, const VisionTower& tower, double width) {
  const double rows = patches_each(tower);
  const double h = real(tower.hidden);
  layer.weights.push_back(norm_weights(as_transformer(tower)));
  add_patch_pass(layer, "projector_norm", rows * h);
  layer.kept.push_back({.name = "projector norm input", .elements = rows * h});
  std::vector<double> sizes = {tower.pooled ? h : real(tower.patches_per_token) * h};
  for (const std::int64_t inner : tower.projector) sizes.push_back(real(inner));
  sizes.push_back(width);
  for (std::size_t i = 0; i + 1 < sizes.size(); ++i) {
    layer.kept.push_back({.name = fmt::format("projector input {}", i + 1),
                          .elements = tower.image_share * sizes[i],
                          .for_weights = true});
    layer.products.push_back({.name = fmt::format("projector {}", i + 1),
                              .part = Part::other,
                              .rows_each = tower.image_share,
                              .outputs = sizes[i + 1],
                              .inputs = sizes[i],
                              .bias = tower.projector_biases});
    if (i == 0) continue;
    add_patch_pass(layer, "projector_activation", tower.image_share * sizes[i]);
    layer.kept.push_back({.name = "projector activation input",
                          .elements = tower.image_share * sizes[i],
                          .stored = Stored::activation_input});
  }
  add_patch_pass(layer, "image_tokens", tower.image_share * width);
}

}  // namespace

void add_vision_tower(Model& model, const TransformerModel& fields, const VisionTower& tower) {
  const double width = real(fields.hidden);
  add_pixels(model.first, tower);
  model.first.output += patches_each(tower) * real(tower.hidden);

  const auto block_of = [&](std::int64_t layer) {
    const bool has_windows = tower.window > 0 && is_between(layer, tower.full_attention_interval);
    return has_windows ? tower.window : tower.patches;
  };
  std::vector<int> placed;
  std::map<std::int64_t, int> kind_of_block;
  for (std::int64_t layer = 0; layer + 1 < tower.layers; ++layer) {
    const auto next = static_cast<int>(model.kinds.size());
    const auto [kind, is_new] = kind_of_block.try_emplace(block_of(layer), next);
    placed.push_back(kind->second);
    if (!is_new) continue;
    model.kinds.push_back(encoder_layer(tower, block_of(layer)));
    model.kinds.back().output += width;  // where layers_per_stage parts them, words wait
  }
  Layer last = encoder_layer(tower, block_of(tower.layers - 1));
  last.name = "vision layer and projector";
  last.output = width;
  for (std::int64_t i = 0; i < tower.projectors; ++i) add_projector(last, tower, width);
  placed.push_back(static_cast<int>(model.kinds.size()));
  model.kinds.push_back(std::move(last));
  model.layers.insert(model.layers.begin(), placed.begin(), placed.end());
  model.leading_layers = static_cast<int>(placed.size());

  for (TensorLimit& limit : tensor_limits(as_transformer(tower))) {
    limit.field = "vision";
    limit.what += " of the vision tower";
    model.tensor_limits.push_back(std::move(limit));
  }
}

void check_vision_tower(ObjectReader& reader, const VisionTower& tower) {
  check_heads(tower.hidden, tower.attention_heads, reader);
  const auto check = [&](std::string_view key, std::int64_t size, std::string_view whole,
                         std::int64_t patches) {
    if (size == 0 || patches % size == 0) return;
    reader.report(key, fmt::format("{} must divide {}", key, whole),
                  fmt::format("{} does not divide {}", size, patches),
                  fmt::format("use {} patches, say", (patches / size + 1) * size));
  };
  check("patches_per_token", tower.patches_per_token, "patches", tower.patches);
  check("window", tower.window, "patches", tower.patches);
  if (tower.full_attention_interval > 0 && tower.window == 0) {
    reader.report("full_attention_interval", "no layer has windows", "",
                  "give \"window\", the patches of one, or leave it out");
  }
}

const FieldTable<VisionTower>& vision_tower_fields() {
  using Tower = VisionTower;
  constexpr auto has_windows = [](const Tower& tower) { return tower.window > 0; };
  static const FieldTable<Tower> kFields(
      {{"layers", whole(&Tower::layers, model_limits::kLayers).required(),
        R"(Layers of the tower. They stand on the first stage, besides its share of the decoder's.
see: strategy.layers_per_stage, which counts them too)"},
       {"hidden", whole(&Tower::hidden, model_limits::kHidden).required(),
        "Size of its residual stream."},
       {"attention_heads", whole(&Tower::attention_heads, model_limits::kHeads).required(),
        "Its attention heads.\nlimits: divide hidden"},
       {"ffn_hidden", whole(&Tower::ffn_hidden, model_limits::kFfnHidden).settled([](Tower& tower) {
          tower.ffn_hidden = 4 * tower.hidden;
        }),
        "Inner size of its MLP.\ndefault: 4 hidden"},
       {"mlp", word(&Tower::gated_mlp, kMlps), "How many matrices the MLP has: plain, or gated."},
       {"biases", flag(&Tower::biases), "Its products have biases."},
       {"qkv_biases",
        flag(&Tower::qkv_biases).where([](const Tower& tower) { return !tower.qkv_biases; }),
        "Its queries, keys and values have biases, where its products do."},
       {"query_key_norms", flag(&Tower::query_key_norms).where([](const Tower& tower) {
          return tower.query_key_norms;
        }),
        "RMS norms of its queries and keys, of all heads together (InternViT-6B)."},
       {"layer_scale",
        flag(&Tower::layer_scale).where([](const Tower& tower) { return tower.layer_scale; }),
        R"(What its attention and its MLP give has a gain for each channel (InternViT).
see: Touvron et al. 2021 (arXiv:2103.17239), 2)"},
       {"normalization", word(&Tower::normalization), "The norms of its layers."},
       {"patch_size", whole(&Tower::patch_size, between(1, 10'000)),
        "Pixels of a side of a patch."},
       {"frames", whole(&Tower::frames, between(1, 1'000)), "Frames that a patch reaches over."},
       {"patches", whole(&Tower::patches, kImagePatches).required(),
        R"(Patches of an image, each of which attends to all of them: 1,024 of 448 x 448 pixels in
patches of 14.)"},
       {"position_rows", whole(&Tower::position_rows, between(0, 100'000'000)),
        "Rows of a learned table of positions. 0: there is none."},
       {"window", whole(&Tower::window, kImagePatches).where(has_windows),
        R"(Patches that attend to each other in layers with windows (Qwen2.5-VL).
limits: divides patches
default: no layer has windows)"},
       {"full_attention_interval",
        whole(&Tower::full_attention_interval, model_limits::kFullAttentionInterval)
            .where([](const Tower& tower) { return tower.full_attention_interval > 0; }),
        R"(The last of every so many layers has no windows.
limits: needs window
default: no such layer)"},
       {"patches_per_token", whole(&Tower::patches_per_token, between(1, 10'000)),
        R"(Patches that one position of the decoder stands for.
limits: divides patches)"},
       {"pooled", flag(&Tower::pooled),
        "Those patches become their mean (Gemma 3), instead of standing side by side."},
       {"projector", wholes(&Tower::projector, model_limits::kHidden),
        R"(Inner sizes of the MLP between the tower and the decoder.
default: one product)"},
       {"projector_biases", flag(&Tower::projector_biases).settled([](Tower& tower) {
          tower.projector_biases = tower.biases;
        }),
        "Its products have biases.\ndefault: biases"},
       {"projectors", whole(&Tower::projectors, between(1, 100)),
        "Such MLPs: one, and one for each layer in between whose patches enter the decoder too."},
       {"image_share", number(&Tower::image_share, kImageShares),
        R"(Positions of a sequence that images take, in the mean over what is trained on. The tower works on
that many times patches_per_token patches.)"}});
  return kFields;
}

}  // namespace headway

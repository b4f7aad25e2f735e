#include "sim/models/transformer/swin.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "sim/models/families.h"
#include "sim/models/family_fields.h"
#include "sim/models/transformer/model_fields.h"
#include "sim/models/transformer/transformer_layers.h"
#include "sim/models/transformer/transformer_parts.h"

namespace headway {
namespace {

constexpr double kMerged = 4.0;        ///< patches that become one
constexpr double kNormPass = 4.0;      ///< bytes a channel: read and written
constexpr double kWindowCopies = 8.0;  ///< cut into windows and put together: read and written each
constexpr std::size_t kMostStages = 8;

/// A stage's channels and patches a side, and its rows for each of the first stage's.
struct Stage {
  std::int64_t hidden;
  std::int64_t heads;
  std::int64_t side;
  double rows;
};

std::int64_t first_side(const SwinModel& fields) {
  return std::max(fields.image_size / fields.patch_size, std::int64_t{1});
}

Stage stage_of(const SwinModel& fields, std::size_t index) {
  const std::int64_t first = first_side(fields);
  const std::int64_t side = std::max(first >> index, std::int64_t{1});
  return {.hidden = fields.hidden << index,
          .heads = fields.attention_heads << index,
          .side = side,
          .rows = real(side * side) / real(first * first)};
}

/// What a layer has in common with a decoder's, in its words.
TransformerModel as_transformer(const SwinModel& fields, const Stage& stage) {
  return {.hidden = stage.hidden,
          .attention_heads = stage.heads,
          .kv_heads = stage.heads,
          .head_size = stage.hidden / stage.heads,
          .ffn_hidden = fields.mlp_ratio * stage.hidden,
          .position_encoding = PositionEncoding::none};
}

/// Windows that move are rolled there and back, which copies as much again.
Layer windowed_layer(const SwinModel& fields, const Stage& stage, bool moves) {
  const double h = real(stage.hidden);
  Layer layer = transformer_layer(as_transformer(fields, stage));
  const std::int64_t side = std::min(fields.window_size, stage.side);
  layer.attention->causal = false;
  layer.attention->block = real(side * side);
  const std::int64_t distances = 2 * fields.window_size - 1;
  layer.weights.push_back(
      {Part::attention, real(distances * distances * stage.heads), Cut::tensor});
  add_pass(layer, "windows", Rows::own, (moves ? 2.0 : 1.0) * kWindowCopies * h, Cut::none, {});
  return with_rows(std::move(layer), stage.rows);
}

/// Four patches side by side, a norm, and a product without a bias.
Layer merging(const SwinModel& fields, const Stage& from, const Stage& to) {
  const double inputs = kMerged * real(from.hidden);
  Layer layer{.name = "patch merging",
              .input = from.rows * real(from.hidden),
              .output = to.rows * real(to.hidden)};
  layer.products.push_back(
      {.name = "merging", .rows_each = to.rows, .outputs = real(to.hidden), .inputs = inputs});
  TransformerModel norm = as_transformer(fields, from);
  norm.hidden *= static_cast<std::int64_t>(kMerged);
  layer.weights.push_back(norm_weights(norm));
  add_pass(layer, "merging_norm", Rows::tokens, 2.0 * kNormPass * to.rows * inputs, Cut::none, {});
  layer.kept = {
      {.name = "merging norm input", .elements = to.rows * inputs, .stored = Stored::residual},
      {.name = "merging input", .elements = to.rows * inputs, .for_weights = true}};
  return layer;
}

Layer patch_embedding(const SwinModel& fields, const Stage& first) {
  const double h = real(fields.hidden);
  Layer embedding{.name = "patch embedding", .output = h};
  Product patches = patch_product(h, fields.patch_size * fields.patch_size);
  patches.part = Part::embedding;
  patches.bias = true;
  add_patches(embedding, std::move(patches));
  embedding.weights.push_back(norm_weights(as_transformer(fields, first)));
  add_pass(embedding, "patch_norm", Rows::tokens, kNormPass * h, Cut::none, {});
  embedding.kept.push_back({.name = "patch norm input", .elements = h});
  return embedding;
}

/// A norm of all patches of the last stage, and a product of their mean.
Layer class_head(const SwinModel& fields, const Stage& last) {
  const double h = real(last.hidden);
  const double one = 1.0 / real(first_side(fields) * first_side(fields));
  Layer head{.name = "head", .input = last.rows * h, .loss_classes = one * real(fields.classes)};
  head.products.push_back({.name = "classes",
                           .part = Part::head,
                           .rows_each = one,
                           .outputs = real(fields.classes),
                           .inputs = h,
                           .bias = true});
  head.weights.push_back(norm_weights(as_transformer(fields, last)));
  head.passes.push_back(cross_entropy_pass(head.loss_classes));
  head.kept = {{.name = "final norm input",
                .rows = Rows::own,
                .elements = last.rows * h,
                .stored = Stored::residual},
               {.name = "mean of patches", .elements = one * h}};
  return head;
}

}  // namespace

Model layers_of(const SwinModel& fields) {
  const Stage first = stage_of(fields, 0);
  const std::size_t stages = fields.depths.size();
  Model model{.name = fields.name,
              .source = fields.source,
              .first = patch_embedding(fields, first),
              .last = class_head(fields, stage_of(fields, stages - 1)),
              .biases_scores = true,
              .has_tokens = false,
              .sequence_length = first.side * first.side,
              .tensor_limits = tensor_limits(as_transformer(fields, first))};
  for (std::size_t index = 0; index < stages; ++index) {
    const Stage stage = stage_of(fields, index);
    if (index > 0) append_layers(model, merging(fields, stage_of(fields, index - 1), stage));
    const auto resting = static_cast<int>(model.kinds.size());
    const bool moves = stage.side > fields.window_size;
    model.kinds.push_back(windowed_layer(fields, stage, false));
    if (moves) model.kinds.push_back(windowed_layer(fields, stage, true));
    for (std::int64_t layer = 0; layer < fields.depths[index]; ++layer) {
      model.layers.push_back(resting + (moves && layer % 2 == 1 ? 1 : 0));
    }
  }
  return model;
}

const FieldTable<SwinModel>& swin_fields() {
  using Swin = SwinModel;
  static const FieldTable<Swin> kFields(
      {{"depths", wholes(&Swin::depths, between(1, 1000)),
        R"(Layers of each stage of a Swin.
see: Liu et al. 2021 (arXiv:2103.14030), 3.3)"},
       {"hidden", whole(&Swin::hidden, between(1, 100'000)),
        "Channels of the first stage; each has twice those of the one before."},
       {"attention_heads", whole(&Swin::attention_heads, between(1, 10'000)),
        "Of the first stage; each has twice those of the one before.\nlimits: divide hidden"},
       {"mlp_ratio", whole(&Swin::mlp_ratio, between(1, 1000)),
        "Inner size of a Swin's MLPs, in channels of their stage."},
       {"patch_size", whole(&Swin::patch_size, between(1, 10'000)), "Pixels of a side of a patch."},
       {"window_size", whole(&Swin::window_size, between(1, 10'000)),
        R"(Patches of a side of a Swin's window, which attend to each other.
see: Liu et al. 2021 (arXiv:2103.14030), 3.2)"},
       {"image_size", whole(&Swin::image_size, between(8, 100'000)),
        "Pixels of a side of an image."},
       {"classes", whole(&Swin::classes, between(1, 100'000'000)),
        "Classes that a network tells apart."}});
  return kFields;
}

void check_swin(ObjectReader& reader, std::string_view depths_key, SwinModel& fields) {
  check_heads(fields.hidden, fields.attention_heads, reader);
  if (!fields.depths.empty() && fields.depths.size() <= kMostStages) return;
  const std::size_t stages = fields.depths.size();
  fields.depths = {1};
  const std::optional<JsonCursor> list = reader.cursor().member(depths_key);
  if (!list || !list->is_array() || list->value().size() != stages) return;  // reported already
  reader.report(depths_key, fmt::format("stages are 1 to {}", kMostStages),
                fmt::format("{} of them", stages), "Swin-T has [2, 2, 6, 2]");
}

namespace {

Model read_swin(ObjectReader& reader) {
  SwinModel fields = read_family_fields(reader, swin_fields(), "vision transformer in stages");
  check_swin(reader, "depths", fields);
  return layers_of(fields);
}

}  // namespace

ModelFamily swin() {
  return {.name = "swin",
          .what = "an encoder of image patches in stages, with windows",
          .read = read_swin,
          .fields = [] { return swin_fields().described(); }};
}

}  // namespace headway

#include "sim/models/resnet.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "sim/models/convolution_block.h"
#include "sim/models/families.h"
#include "sim/models/family_fields.h"

namespace headway {
namespace {

constexpr double kExpansion = 4.0;  ///< of a bottleneck's last convolution
constexpr double kStemKernel = 7.0;
constexpr double kStemStride = 4.0;  ///< convolution and pooling, two each
constexpr double kColours = 3.0;

struct BlockShape {
  double in = 0.0;  ///< channels
  double width = 0.0;
  double in_size = 0.0;  ///< positions a side
  double size = 0.0;
};

Layer residual_block(const BlockShape& shape, bool bottleneck) {
  ConvolutionBlock block("residual block");
  const double out = (bottleneck ? kExpansion : 1.0) * shape.width;
  if (bottleneck) {
    block.convolution({.name = "conv1", .in = shape.in, .out = shape.width, .size = shape.in_size});
    block.convolution({.name = "conv2",
                       .in = shape.width,
                       .out = shape.width,
                       .kernel = 3.0,
                       .size = shape.size,
                       .stride = shape.in_size / shape.size});
    block.convolution(
        {.name = "conv3", .in = shape.width, .out = out, .size = shape.size, .rectified = false});
  } else {
    block.convolution({.name = "conv1",
                       .in = shape.in,
                       .out = shape.width,
                       .kernel = 3.0,
                       .size = shape.size,
                       .stride = shape.in_size / shape.size});
    block.convolution({.name = "conv2",
                       .in = shape.width,
                       .out = out,
                       .kernel = 3.0,
                       .size = shape.size,
                       .rectified = false});
  }
  if (shape.in != out || shape.in_size != shape.size) {
    block.convolution(
        {.name = "downsample", .in = shape.in, .out = out, .size = shape.size, .rectified = false});
  }
  const double elements = shape.size * shape.size * out;
  block.sum(elements);
  return std::move(block).finished(shape.in_size * shape.in_size * shape.in, elements);
}

Layer stem(const ResNetModel& fields) {
  const double width = static_cast<double>(fields.width);
  const double size = static_cast<double>(fields.image_size) / 2.0;
  const double pooled = static_cast<double>(fields.image_size) / kStemStride;
  ConvolutionBlock block("stem");
  block.convolution({.name = "stem",
                     .in = kColours,
                     .out = width,
                     .kernel = kStemKernel,
                     .size = size,
                     .stride = 2.0,
                     .input_gradient = false});
  block.pool(width, size, pooled, 3.0);
  Layer layer = std::move(block).finished(0.0, pooled * pooled * width);
  const double side = static_cast<double>(fields.image_size);
  for (KeptTensor& input : kept_inputs(kColours * side * side)) {
    layer.kept.push_back(std::move(input));
  }
  return layer;
}

Layer head_of(double channels, double size, double classes) {
  ConvolutionBlock block("classifier");
  block.mean(channels, size);
  return classifier(std::move(block), size * size * channels, channels, classes);
}

}  // namespace

Model layers_of(const ResNetModel& fields) {
  Model model{.name = fields.name,
              .source = fields.source,
              .first = stem(fields),
              .has_tokens = false,
              .tensor_limits = {{"blocks", "a convolution (which is never split)", 1}}};
  BlockShape shape{.in = static_cast<double>(fields.width),
                   .width = static_cast<double>(fields.width),
                   .in_size = static_cast<double>(fields.image_size) / kStemStride,
                   .size = static_cast<double>(fields.image_size) / kStemStride};
  for (std::size_t stage = 0; stage < fields.blocks.size(); ++stage) {
    if (stage > 0) {
      shape.width *= 2.0;
      shape.size /= 2.0;
    }
    append_layers(model, residual_block(shape, fields.bottleneck));
    shape.in = (fields.bottleneck ? kExpansion : 1.0) * shape.width;
    shape.in_size = shape.size;
    const auto others = static_cast<int>(fields.blocks[stage]) - 1;
    if (others > 0) append_layers(model, residual_block(shape, fields.bottleneck), others);
  }
  model.last = head_of(shape.in, shape.size, static_cast<double>(fields.classes));
  return model;
}

const FieldTable<ResNetModel>& resnet_fields() {
  static const FieldTable<ResNetModel> kFields(
      {{"blocks", wholes(&ResNetModel::blocks, between(1, 1000)),
        R"(Residual blocks of each stage of a ResNet.
see: He et al. 2015 (arXiv:1512.03385), table 1)"},
       {"bottleneck", flag(&ResNetModel::bottleneck),
        R"(A block has convolutions of 1 x 1, 3 x 3 and 1 x 1 with four times the width, not two of 3 x 3.)"},
       {"width", whole(&ResNetModel::width, between(1, 100'000)),
        "Channels of a ResNet's first stage; each stage has twice those of the one before."},
       {"image_size", whole(&ResNetModel::image_size, between(8, 100'000)),
        "Pixels of a side of an image."},
       {"classes", whole(&ResNetModel::classes, between(1, 100'000'000)),
        "Classes that a network tells apart."}});
  return kFields;
}

void check_blocks(ObjectReader& reader, std::string_view key, ResNetModel& fields) {
  if (!fields.blocks.empty()) return;
  fields.blocks = {1};
  const std::optional<JsonCursor> list = reader.cursor().member(key);
  if (!list || !list->is_array() || !list->value().empty()) return;  // reported already
  reader.report(key, "a residual network has one stage of blocks at least", "",
                "ResNet-50 has [3, 4, 6, 3]");
}

namespace {

Model read_resnet(ObjectReader& reader) {
  ResNetModel fields = read_family_fields(reader, resnet_fields(), "residual network");
  check_blocks(reader, "blocks", fields);
  return layers_of(fields);
}

}  // namespace

ModelFamily resnet() {
  return {.name = "resnet",
          .what = "a residual convolutional network",
          .read = read_resnet,
          .fields = [] { return resnet_fields().described(); }};
}

}  // namespace headway

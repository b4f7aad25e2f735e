#include "sim/models/resnet.h"

#include <nlohmann/json.hpp>
#include <utility>

#include "sim/models/families.h"
#include "sim/models/transformer/transformer_layers.h"

namespace headway {
namespace {

// Bytes of memory passes for each element of a convolution's output, in tensors of 2 bytes.
// Batch normalization reads its input for the statistics and again to normalise, and writes; the
// rectifier reads and writes. Backward: gradient and input twice, one written; gradient and output
// of the rectifier read, one written.
constexpr double kNormForward = 6.0;
constexpr double kNormBackward = 10.0;
constexpr double kRectifierForward = 4.0;
constexpr double kRectifierBackward = 6.0;
constexpr double kSumPass = 6.0;  ///< two terms read, one written, either way
constexpr double kPoolBytes = 2.0;

constexpr double kExpansion = 4.0;  ///< of a bottleneck's last convolution
constexpr double kStemKernel = 7.0;
constexpr double kStemStride = 4.0;  ///< convolution and pooling, two each
constexpr double kColours = 3.0;

/// Writes a block convolution by convolution.
class Block {
 public:
  explicit Block(std::string name) { layer_.name = std::move(name); }

  /// k x k, to `size` x `size` positions.
  void convolution(const std::string& name, double in, double out, double k, double size,
                   bool rectified, bool input_gradient = true) {
    const double positions = size * size;
    layer_.products.push_back({.name = name,
                               .rows_each = positions,
                               .outputs = out,
                               .inputs = in * k * k,
                               .input_gradient = input_gradient});
    layer_.weights.push_back({Part::normalization, 2.0 * out});
    const double elements = positions * out;
    pass(name + " norm", kNormForward * elements, kNormBackward * elements);
    layer_.kept.push_back({.name = name + " norm input", .elements = elements});
    ++layer_.launches.forward;
    layer_.launches.backward += input_gradient ? 2.0 : 1.0;
    if (rectified) rectifier(name, elements);
  }
  /// What goes around the block is added to what comes out of it, and rectified.
  void sum(double elements) {
    pass("residual sum", kSumPass * elements, kSumPass * elements);
    rectifier("block", elements);
  }
  void pass(std::string name, double forward, double backward, Again again = {}) {
    layer_.passes.push_back({.name = std::move(name),
                             .forward = forward,
                             .backward = backward,
                             .again = again,
                             .merged = false});
    ++layer_.launches.forward;
    ++layer_.launches.backward;
  }
  [[nodiscard]] Layer finished(double input, double output) && {
    layer_.input = input;
    layer_.output = output;
    return std::move(layer_);
  }

 private:
  /// Its output, which the next convolution takes, tells where it let through.
  void rectifier(const std::string& name, double elements) {
    const Again again{{RecomputePart::activation}};
    pass(name + " rectifier", kRectifierForward * elements, kRectifierBackward * elements, again);
    layer_.kept.push_back({.name = name + " output", .elements = elements, .again = again});
  }

  Layer layer_;
};

struct BlockShape {
  double in = 0.0;  ///< channels
  double width = 0.0;
  double in_size = 0.0;  ///< positions a side
  double size = 0.0;
};

Layer residual_block(const BlockShape& shape, bool bottleneck) {
  Block block("residual block");
  const double out = (bottleneck ? kExpansion : 1.0) * shape.width;
  if (bottleneck) {
    block.convolution("conv1", shape.in, shape.width, 1.0, shape.in_size, true);
    block.convolution("conv2", shape.width, shape.width, 3.0, shape.size, true);
    block.convolution("conv3", shape.width, out, 1.0, shape.size, false);
  } else {
    block.convolution("conv1", shape.in, shape.width, 3.0, shape.size, true);
    block.convolution("conv2", shape.width, out, 3.0, shape.size, false);
  }
  if (shape.in != out || shape.in_size != shape.size) {
    block.convolution("downsample", shape.in, out, 1.0, shape.size, false);
  }
  const double elements = shape.size * shape.size * out;
  block.sum(elements);
  return std::move(block).finished(shape.in_size * shape.in_size * shape.in, elements);
}

Layer stem(const ResNetModel& fields) {
  const double width = static_cast<double>(fields.width);
  const double size = static_cast<double>(fields.image_size) / 2.0;
  const double pooled = static_cast<double>(fields.image_size) / kStemStride;
  Block block("stem");
  block.convolution("stem", kColours, width, kStemKernel, size, true, false);
  const double moved = kPoolBytes * width * (size * size + pooled * pooled);
  block.pass("pool", moved, moved);
  return std::move(block).finished(0.0, pooled * pooled * width);
}

Layer classifier(double channels, double size, double classes) {
  Block block("classifier");
  const double positions = size * size;
  block.pass("mean", kPoolBytes * positions * channels, kPoolBytes * positions * channels);
  Layer head = std::move(block).finished(positions * channels, 0.0);
  head.products.push_back({.name = "classifier",
                           .part = Part::head,
                           .outputs = classes,
                           .inputs = channels,
                           .bias = true});
  head.passes.push_back(cross_entropy_pass(classes));
  head.kept.push_back({.name = "classifier input", .elements = channels});
  head.loss_classes = classes;
  return head;
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
  model.last = classifier(shape.in, shape.size, static_cast<double>(fields.classes));
  return model;
}

Model read_resnet(ObjectReader& reader) {
  constexpr Range kBlocks = between(1, 1000);
  ResNetModel fields;
  fields.name = reader.text("name", "residual network");
  fields.source = reader.text("source", "");
  if (reader.has("blocks")) fields.blocks.clear();
  for (const JsonCursor& stage : reader.elements("blocks")) {
    const nlohmann::json& count = stage.value();
    const bool counts =
        count.is_number_integer() && count >= kBlocks.least && count <= kBlocks.most;
    if (!counts) {
      reader.diagnostics().add(stage.problem("a stage has a whole number of blocks", count.dump(),
                                             "ResNet-50 has [3, 4, 6, 3]"));
    }
    fields.blocks.push_back(counts ? count.get<std::int64_t>() : 1);
  }
  if (fields.blocks.empty()) {
    reader.report("blocks", "a residual network has one stage of blocks at least", "",
                  "ResNet-50 has [3, 4, 6, 3]");
    fields.blocks = {1};
  }
  reader.resolve("blocks", fields.blocks);
  fields.bottleneck = reader.flag("bottleneck", fields.bottleneck);
  fields.width = reader.integer("width", between(1, 100'000), fields.width);
  fields.image_size = reader.integer("image_size", between(8, 100'000), fields.image_size);
  fields.classes = reader.integer("classes", between(1, 100'000'000), fields.classes);
  return layers_of(fields);
}

}  // namespace headway

#include "sim/models/vgg.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/models/convolution_block.h"
#include "sim/models/families.h"
#include "sim/models/family_fields.h"

namespace headway {
namespace {

constexpr double kImageColours = 3.0;
constexpr double kKernel = 3.0;
constexpr double kWidest = 8.0;  ///< of the first stage's channels

}  // namespace

Model layers_of(const VggModel& fields) {
  Model model{.name = fields.name,
              .source = fields.source,
              .first = {.name = "images"},
              .has_tokens = false,
              .tensor_limits = {{"convolutions", "a convolution (which is never split)", 1}}};
  const double narrowest = static_cast<double>(fields.width);
  double in = kImageColours;
  double out = narrowest;
  double size = static_cast<double>(fields.image_size);
  model.first.output = in * size * size;
  model.first.kept = kept_inputs(model.first.output);
  for (const std::int64_t count : fields.convolutions) {
    ConvolutionBlock block("stage");
    const double input = in * size * size;
    for (std::int64_t i = 0; i < count; ++i) {
      block.convolution({.name = fmt::format("conv{}", i + 1),
                         .in = in,
                         .out = out,
                         .kernel = kKernel,
                         .size = size,
                         .bias = true,
                         .normalised = fields.batch_norm,
                         .input_gradient = !model.layers.empty() || i > 0});
      in = out;
    }
    block.pool(out, size, size / 2.0, 2.0);
    size /= 2.0;
    append_layers(model, std::move(block).finished(input, out * size * size));
    out = std::min(2.0 * out, kWidest * narrowest);
  }
  append_fully_connected(model, in * size * size, static_cast<double>(fields.hidden),
                         static_cast<double>(fields.classes));
  return model;
}

namespace {

const FieldTable<VggModel>& vgg_fields() {
  static const FieldTable<VggModel> kFields(
      {{"convolutions", wholes(&VggModel::convolutions, between(1, 1000)),
        R"(Convolutions of each stage of a VGG.
see: Simonyan and Zisserman 2014 (arXiv:1409.1556), table 1)"},
       {"batch_norm", flag(&VggModel::batch_norm),
        "Each convolution of a VGG is normalised over the batch."},
       {"width", whole(&VggModel::width, between(1, 100'000)), "Channels of the first stage."},
       {"hidden", whole(&VggModel::hidden, between(1, 10'000'000)),
        "Outputs of each fully connected layer but the last."},
       {"image_size", whole(&VggModel::image_size, between(32, 100'000)),
        "Pixels of a side of an image."},
       {"classes", whole(&VggModel::classes, between(1, 100'000'000)),
        "Classes that a network tells apart."}});
  return kFields;
}

Model read_vgg(ObjectReader& reader) {
  VggModel fields = read_family_fields(reader, vgg_fields(), "plain convolutional network");
  const auto stages = static_cast<std::int64_t>(fields.convolutions.size());
  if (stages == 0) {
    reader.report("convolutions", "a VGG has one stage of convolutions at least", "",
                  "VGG-16 has [2, 2, 3, 3, 3]");
    fields.convolutions = {1};
  } else if (stages > 60 || fields.image_size >> stages == 0) {
    reader.report("convolutions", "each stage halves the image, which is too small for so many",
                  fmt::format("{} stages of an image of {}", stages, fields.image_size),
                  "leave stages out, or use a larger image_size");
  }
  return layers_of(fields);
}

}  // namespace

ModelFamily vgg() {
  return {.name = "vgg", .what = "a plain convolutional network", .read = read_vgg, .fields = [] {
            return vgg_fields().described();
          }};
}

}  // namespace headway

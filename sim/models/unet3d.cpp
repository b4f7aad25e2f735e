#include "sim/models/unet3d.h"

#include <fmt/format.h>

#include <utility>

#include "sim/models/convolution_block.h"
#include "sim/models/families.h"
#include "sim/models/family_fields.h"

namespace headway {
namespace {

constexpr int kVolume = 3;  ///< dimensions
constexpr double kUnetKernel = 3.0;

/// Two convolutions at a level.
void pair_of_convolutions(ConvolutionBlock& block, double in, double out, double size,
                          bool trained_before) {
  for (const char* name : {"conv1", "conv2"}) {
    const bool is_first = std::string_view(name) == "conv1";
    block.convolution({.name = name,
                       .in = is_first ? in : out,
                       .out = out,
                       .kernel = kUnetKernel,
                       .size = size,
                       .dimensions = kVolume,
                       .input_gradient = trained_before || !is_first});
  }
}

double voxels(double size) { return size * size * size; }

}  // namespace

Model layers_of(const Unet3dModel& fields) {
  Model model{.name = fields.name,
              .source = fields.source,
              .first = {.name = "volumes"},
              .has_tokens = false,
              .tensor_limits = {{"widths", "a convolution (which is never split)", 1}}};
  double size = static_cast<double>(fields.volume_size);
  model.first.output = voxels(size);
  model.first.kept = kept_inputs(model.first.output);
  double in = 1.0;
  double input = model.first.output;
  for (std::size_t level = 0; level < fields.widths.size(); ++level) {
    if (level > 0) size /= 2.0;
    const double out = static_cast<double>(fields.widths[level]);
    ConvolutionBlock block("down");
    pair_of_convolutions(block, in, out, size, level > 0);
    append_layers(model, std::move(block).finished(input, out * voxels(size)));
    in = out;
    input = out * voxels(size);
  }
  for (std::size_t level = fields.widths.size() - 1; level-- > 0;) {
    size *= 2.0;
    const double out = static_cast<double>(fields.widths[level]);
    ConvolutionBlock block("up");
    block.transposed(
        {.name = "up", .in = in, .out = out, .kernel = 2.0, .size = size, .dimensions = kVolume});
    pair_of_convolutions(block, 2.0 * out, out, size, true);
    append_layers(model, std::move(block).finished(input, out * voxels(size)));
    in = out;
    input = out * voxels(size);
  }
  // A class for every voxel: a 1 x 1 x 1 convolution, and the loss over all of them.
  ConvolutionBlock block("classes of voxels");
  model.last = std::move(block).finished(input, 0.0);
  const double classes = static_cast<double>(fields.classes);
  model.last.products.push_back({.name = "classes",
                                 .part = Part::head,
                                 .rows_each = voxels(size),
                                 .outputs = classes,
                                 .inputs = in,
                                 .bias = true});
  model.last.kept.push_back({.name = "classes input", .elements = input});
  model.last.loss_classes = classes * voxels(size);
  return model;
}

namespace {

const FieldTable<Unet3dModel>& unet3d_fields() {
  static const FieldTable<Unet3dModel> kFields(
      {{"widths", wholes(&Unet3dModel::widths, between(1, 100'000)),
        R"(Channels of each level of a U-Net, the whole volume first.
see: Cicek et al. 2016 (arXiv:1606.06650))"},
       {"volume_size", whole(&Unet3dModel::volume_size, between(1, 10'000)),
        "Voxels of a side of a volume."},
       {"classes", whole(&Unet3dModel::classes, between(1, 100'000'000)),
        "Classes that a network tells apart."}});
  return kFields;
}

Model read_unet3d(ObjectReader& reader) {
  Unet3dModel fields = read_family_fields(reader, unet3d_fields(), "U-Net of volumes");
  const auto levels = static_cast<std::int64_t>(fields.widths.size());
  constexpr std::int64_t kMostLevels = 20;
  if (levels == 0) {
    reader.report("widths", "a U-Net has one level at least", "", "MLPerf's has six");
    fields.widths = {1};
  } else if (levels > kMostLevels || fields.volume_size % (std::int64_t{1} << (levels - 1)) != 0) {
    reader.report("widths", "each level but the first halves the volume",
                  fmt::format("{} levels of a side of {}", levels, fields.volume_size),
                  "leave levels out, or use another volume_size");
    fields.widths.resize(1);
  }
  return layers_of(fields);
}

}  // namespace

ModelFamily unet3d() {
  return {.name = "unet3d", .what = "a U-Net of volumes", .read = read_unet3d, .fields = [] {
            return unet3d_fields().described();
          }};
}

}  // namespace headway

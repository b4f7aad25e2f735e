#include "sim/models/convnext.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/models/convolution_block.h"
#include "sim/models/families.h"
#include "sim/models/family_fields.h"
#include "sim/models/listed/layer_writer.h"
#include "sim/models/transformer/transformer_layers.h"

namespace headway {
namespace {

constexpr std::int64_t kPixelColours = 3;
constexpr double kInnerRatio = 4.0;   ///< channels inside of an MLP
constexpr double kFilterTaps = 49.0;  ///< of a filter of 7 x 7
constexpr double kHalved = 2.0;       ///< of a side, and taps of the filter that halves it

/// A row of a layer norm fits into a cache: it is read and written once.
constexpr PassBytes kPositionNorm = kRectifier;
/// How strong a channel is over the image has to stand before it is read again and written.
constexpr PassBytes kResponseNorm{6.0, 10.0};
/// A gain for each channel: read, written; backward what it took is read too.
constexpr PassBytes kGains{4.0, 6.0};
/// Into another order, there and back.
constexpr PassBytes kCopies{4.0, 4.0};

double real_of(std::int64_t count) { return static_cast<double>(count); }

void add_norm(LayerWriter& layer, double elements, double channels) {
  layer.keep_input("norm input", elements);
  layer.weights(Part::normalization, 2.0 * channels);
  layer.pass("norm", elements, kPositionNorm);
}

/// Of each position by itself.
void add_linear(LayerWriter& layer, std::string name, double positions, double outputs,
                double inputs) {
  layer.keep_input(name + " input", positions * inputs);
  layer.product({.name = std::move(name), .outputs = outputs, .inputs = inputs, .bias = true},
                positions);
}

SampleShape image_of(const ConvNextModel& fields, std::size_t stage) {
  return {fields.widths[stage], fields.side(stage), fields.side(stage)};
}

Layer stem(const ConvNextModel& fields) {
  const SampleShape out = image_of(fields, 0);
  const double channels = real_of(fields.widths[0]);
  const double taps = real_of(fields.patch_size * fields.patch_size);
  LayerWriter layer(1.0);
  layer.input_is_kept();  // in fp32 besides
  layer.product({.name = "patches",
                 .outputs = channels,
                 .inputs = real_of(kPixelColours) * taps,
                 .bias = true,
                 .input_gradient = false,
                 .filtering = convolution_rate(false)},
                element_count(out) / channels);
  add_norm(layer, element_count(out), channels);
  Layer written = layer.finished({}, out, false);
  written.name = "stem";
  written.input = 0.0;
  for (KeptTensor& input :
       kept_inputs(real_of(kPixelColours * fields.image_size * fields.image_size))) {
    written.kept.push_back(std::move(input));
  }
  return written;
}

/// A norm, and a filter of 2 x 2 that takes every position once.
Layer halving(const ConvNextModel& fields, std::size_t stage) {
  const SampleShape in = image_of(fields, stage - 1);
  const SampleShape out = image_of(fields, stage);
  const double inputs = real_of(fields.widths[stage - 1]);
  const double outputs = real_of(fields.widths[stage]);
  LayerWriter layer(1.0);
  add_norm(layer, element_count(in), inputs);
  layer.keep_input("halving input", element_count(in));
  layer.product({.name = "halving",
                 .outputs = outputs,
                 .inputs = kHalved * kHalved * inputs,
                 .bias = true,
                 .filtering = convolution_rate(false)},
                element_count(out) / outputs);
  Layer written = layer.finished(in, out, false);
  written.name = "halving";
  return written;
}

/// The filter is priced as a list of operators has it: as a product of one channel's width, and a
/// pass over what the others read.
void add_filter(LayerWriter& layer, double positions, double channels) {
  const double elements = positions * channels;
  layer.keep_input("filter input", elements);
  layer.product({.name = "filter",
                 .outputs = channels,
                 .inputs = kFilterTaps,
                 .bias = true,
                 .reuse = kFilterTaps,
                 .filtering = convolution_rate(false)},
                positions);
  const double others = kWorkingElement * elements * (1.0 - 1.0 / channels);
  layer.pass("inputs of the other channels", others, 2.0 * others);
  layer.kernels(-kOperatorKernels, -kOperatorKernels);  // by the same kernel
}

Layer block(const ConvNextModel& fields, std::size_t stage) {
  const SampleShape image = image_of(fields, stage);
  const double channels = real_of(fields.widths[stage]);
  const double elements = element_count(image);
  const double positions = elements / channels;
  const double wide = kInnerRatio * elements;
  LayerWriter layer(1.0);
  add_filter(layer, positions, channels);
  layer.pass("channels last", elements, kCopies);
  add_norm(layer, elements, channels);
  add_linear(layer, "fc1", positions, kInnerRatio * channels, channels);
  layer.keep_input("activation input", wide);
  layer.pass("activation", wide, kRectifier);
  if (fields.response_norms) {
    layer.keep_input("response norm input", wide);
    layer.weights(Part::normalization, 2.0 * kInnerRatio * channels);
    layer.pass("response norm", wide, kResponseNorm);
  }
  add_linear(layer, "fc2", positions, channels, kInnerRatio * channels);
  if (fields.layer_scale) {
    layer.keep_input("layer scale input", elements);
    layer.weights(Part::normalization, channels);
    layer.pass("layer scale", elements, kGains);
  }
  layer.keep_no_input();
  layer.pass("sum", elements, kResidualSum);
  Layer written = layer.finished(image, image, false);
  written.name = "block";
  return written;
}

/// The mean of each channel, normed.
Layer head_of(const ConvNextModel& fields) {
  const std::size_t last = fields.widths.size() - 1;
  const double channels = real_of(fields.widths[last]);
  ConvolutionBlock mean("classifier");
  mean.mean(channels, real_of(fields.side(last)));
  Layer head = classifier(std::move(mean), element_count(image_of(fields, last)), channels,
                          real_of(fields.classes));
  head.weights.push_back({.part = Part::normalization, .count = 2.0 * channels, .tensors = 2.0});
  head.kept.push_back({.name = "final norm input", .elements = channels});
  return head;
}

}  // namespace

std::int64_t ConvNextModel::side(std::size_t stage) const {
  return std::max<std::int64_t>((image_size / patch_size) >> stage, 1);
}

Model layers_of(const ConvNextModel& fields) {
  Model model{.name = fields.name,
              .source = fields.source,
              .first = stem(fields),
              .last = head_of(fields),
              .has_tokens = false,
              .tensor_limits = {{"depths", "a convolution (which is never split)", 1}}};
  for (std::size_t stage = 0; stage < fields.depths.size(); ++stage) {
    if (stage > 0) append_layers(model, halving(fields, stage));
    append_layers(model, block(fields, stage), static_cast<int>(fields.depths[stage]));
  }
  model.left_out.emplace_back(
      "filters of single channels are taken to run as products of their size do: published steps "
      "took 1.4 to 1.7 times as long next to those of other networks");
  return model;
}

const FieldTable<ConvNextModel>& convnext_fields() {
  using ConvNext = ConvNextModel;
  static const FieldTable<ConvNext> kFields(
      {{"depths", wholes(&ConvNext::depths, between(1, 1000)).required(),
        R"(Blocks of each stage of a ConvNeXt.
see: Liu et al. 2022 (arXiv:2201.03545), 2.2)"},
       {"widths", wholes(&ConvNext::widths, between(1, 100'000)).required(),
        "Channels of each stage.\nlimits: as many as depths"},
       {"layer_scale", flag(&ConvNext::layer_scale), "Of a ConvNeXt on by default."},
       {"response_norms", flag(&ConvNext::response_norms).where([](const ConvNext& model) {
          return model.response_norms;
        }),
        R"(Inside of its MLPs a ConvNeXt norms each channel by how strong it is over the image.
see: Woo et al. 2023 (arXiv:2301.00808), 3)"},
       {"patch_size", whole(&ConvNext::patch_size, between(1, 10'000)),
        "Pixels of a side of a patch."},
       {"image_size", whole(&ConvNext::image_size, between(8, 100'000)),
        "Pixels of a side of an image."},
       {"classes", whole(&ConvNext::classes, between(1, 100'000'000)),
        "Classes that a network tells apart."}});
  return kFields;
}

void check_convnext(ObjectReader& reader, std::string_view widths_key, ConvNextModel& fields) {
  const std::size_t stages = fields.depths.size();
  constexpr std::size_t kMostStages = 8;
  if (stages == fields.widths.size() && stages > 0 && stages <= kMostStages) return;
  if (!reader.diagnostics().has_errors()) {
    reader.report(widths_key,
                  fmt::format("stages are 1 to {}, and each has its channels", kMostStages),
                  fmt::format("{} of {} stages", fields.widths.size(), stages),
                  "ConvNeXt-T has [96, 192, 384, 768] of [3, 3, 9, 3]");
  }
  fields.depths = {1};
  fields.widths = {1};
}

namespace {

Model read_convnext(ObjectReader& reader) {
  ConvNextModel fields = read_family_fields(reader, convnext_fields(), "convolutional network");
  check_convnext(reader, "widths", fields);
  return layers_of(fields);
}

}  // namespace

ModelFamily convnext() {
  return {.name = "convnext",
          .what = "a convolutional network of filters of single channels, and MLPs",
          .read = read_convnext,
          .fields = [] { return convnext_fields().described(); }};
}

}  // namespace headway

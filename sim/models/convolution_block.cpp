#include "sim/models/convolution_block.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "sim/models/transformer/transformer_layers.h"

namespace headway {
namespace {

constexpr double kImageElement = 2.0;  ///< bytes
/// What copies move while PyTorch's kernels take a tap of a pooling, and backward give a gradient
/// back: 0.39 and 0.24 taps of Inception-v3's and AlexNet's 13 poolings a picosecond, traced on an
/// H100, whose copies move 2.85 bytes.
constexpr PassBytes kTap{7.0, 12.0};
/// Elements of 2 bytes that the place of a largest one takes: PyTorch's max_pool2d keeps 8 bytes.
constexpr double kPlace = 4.0;

double positions_of(const Convolution& of) { return std::pow(of.size, of.dimensions); }
double taps_of(const Convolution& of) {
  return of.across > 0.0 ? of.kernel * of.across : std::pow(of.kernel, of.dimensions);
}

/// The share of the rate of matrix products on plain cores that kernels of convolutions reach: of
/// TensorFlow's benchmarks of May 2017 with cuDNN 5.1 (docs_src/performance/benchmarks.md at
/// 5984ffe), five networks on one P100 and one K80 in fp32.
constexpr double kKernelRate = 0.75;
/// 2 x 2 results of 3 x 3 taps take 4 x 4 multiplications instead of 36 (Lavin and Gray 2015,
/// arXiv:1509.09308, section 4.1).
constexpr double kFewerMultiplications = 36.0 / 16.0;

double filtering_of(const Convolution& of) {
  const bool is_filtered =
      of.kernel == 3.0 && of.across == 0.0 && of.stride == 1.0 && of.dimensions == 2;
  return convolution_rate(is_filtered);
}

}  // namespace

double convolution_rate(bool is_filtered) {
  return kKernelRate * (is_filtered ? kFewerMultiplications : 1.0);
}

PassBytes pooled(double in, double out, double taps) {
  const double moved = kImageElement * (in + out) / out;
  return {.forward = moved,
          .backward = moved,
          .forward_rate = std::min(1.0, moved / (kTap.forward * taps)),
          .backward_rate = std::min(1.0, moved / (kTap.backward * taps))};
}

std::vector<KeptTensor> kept_inputs(double elements) {
  return {{.name = "loaded inputs", .elements = elements, .stored = Stored::single},
          {.name = "inputs", .elements = elements}};
}

void ConvolutionBlock::convolution(const Convolution& of) {
  const double positions = positions_of(of);
  layer_.products.push_back(
      {.name = of.name,
       .rows_each = positions,
       .outputs = of.out,
       .inputs = of.in * taps_of(of),
       .bias = of.bias,
       .input_gradient = of.input_gradient,
       .reuse = std::max(1.0, taps_of(of) / std::pow(of.stride, of.dimensions)),
       .filtering = filtering_of(of)});
  ++layer_.launches.forward;
  layer_.launches.backward += of.input_gradient ? 2.0 : 1.0;
  const double elements = positions * of.out;
  if (of.normalised) {
    layer_.weights.push_back({.part = Part::normalization, .count = 2.0 * of.out, .tensors = 2.0});
    pass(of.name + " norm", elements, kBatchNorm, kMergedNorm);
    layer_.kept.push_back({.name = of.name + " norm input", .elements = elements});
  }
  if (of.rectified) rectifier(of.name, elements, of.normalised);
}

void ConvolutionBlock::transposed(const Convolution& of) {
  layer_.products.push_back({.name = of.name,
                             .rows_each = positions_of(of) / taps_of(of),
                             .outputs = of.out * taps_of(of),
                             .inputs = of.in});
  layer_.kept.push_back({.name = of.name + " output", .elements = positions_of(of) * of.out});
  ++layer_.launches.forward;
  layer_.launches.backward += 2.0;
}

void ConvolutionBlock::sum(double elements) {
  pass("residual sum", elements, kResidualSum, kMergedSum);
  rectifier("block", elements, true);
}

void ConvolutionBlock::pool(double channels, double from, double to, double kernel) {
  mean_pool(channels, from, to, kernel);
  layer_.kept.push_back({.name = "pool places", .elements = kPlace * channels * to * to});
}

void ConvolutionBlock::mean_pool(double channels, double from, double to, double kernel) {
  const double in = channels * from * from;
  const double out = channels * to * to;
  const PassBytes bytes = pooled(in, out, kernel * kernel);
  pass("pool", bytes.forward * out, bytes.backward * out);
  set_rates(bytes);
  layer_.kept.push_back({.name = "pool output", .elements = channels * to * to});
}

void ConvolutionBlock::concatenation(double elements) {
  layer_.kept.push_back({.name = "concatenation", .elements = elements});
}

void ConvolutionBlock::mean(double channels, double size) {
  const double moved = kImageElement * size * size * channels;
  pass("mean", moved, moved);
}

void ConvolutionBlock::linear(const std::string& name, double in, double out, bool dropped) {
  layer_.kept.push_back({.name = name + " input", .elements = in});
  layer_.products.push_back({.name = name, .outputs = out, .inputs = in, .bias = true});
  ++layer_.launches.forward;
  layer_.launches.backward += 2.0;
  rectifier(name, out, false);
  if (!dropped) return;
  layer_.kept.push_back({.name = name + " dropout mask", .elements = out, .stored = Stored::mask});
}

Layer ConvolutionBlock::finished(double input, double output) && {
  layer_.input = input;
  layer_.output = output;
  layer_.launches.forward *= kOperatorKernels;
  layer_.launches.backward *= kOperatorKernels;
  return std::move(layer_);
}

void ConvolutionBlock::pass(std::string name, double forward, double backward, Again again,
                            KernelChoice when) {
  layer_.passes.push_back({.name = std::move(name),
                           .forward = forward,
                           .backward = backward,
                           .when = when,
                           .again = again,
                           .merged = false});
  ++layer_.launches.forward;
  ++layer_.launches.backward;
}

void ConvolutionBlock::set_rates(const PassBytes& of) {
  layer_.passes.back().forward_rate = of.forward_rate;
  layer_.passes.back().backward_rate = of.backward_rate;
}

void ConvolutionBlock::pass(const std::string& name, double elements, const PassBytes& own,
                            const PassBytes& merged, const Again& again) {
  pass(name, own.forward * elements, own.backward * elements, again,
       KernelChoice::unfused_normalization);
  set_rates(own);
  layer_.passes.push_back({.name = name + ", merged",
                           .forward = merged.forward * elements,
                           .backward = merged.backward * elements,
                           .when = KernelChoice::fused_normalization,
                           .again = again,
                           .merged = false});
}

void ConvolutionBlock::rectifier(const std::string& name, double elements, bool behind_norm) {
  const Again again{{RecomputePart::activation}};
  if (behind_norm) {
    pass(name + " rectifier", elements, kRectifier, kMergedRectifier, again);
  } else {
    pass(name + " rectifier", kRectifier.forward * elements, kRectifier.backward * elements, again);
  }
  layer_.kept.push_back({.name = name + " output", .elements = elements, .again = again});
}

Layer classifier(ConvolutionBlock block, double input, double channels, double classes) {
  Layer head = std::move(block).finished(input, 0.0);
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

void append_fully_connected(Model& model, double input, double hidden, double classes) {
  for (const char* name : {"fc1", "fc2"}) {
    ConvolutionBlock block("fully connected");
    block.linear(name, input, hidden, true);
    append_layers(model, std::move(block).finished(input, hidden));
    input = hidden;
  }
  model.last = classifier(ConvolutionBlock("classifier"), input, input, classes);
}

}  // namespace headway

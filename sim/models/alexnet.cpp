#include "sim/models/alexnet.h"

#include <array>
#include <utility>

#include "sim/models/convolution_block.h"
#include "sim/models/families.h"
#include "sim/models/family_fields.h"

namespace headway {
namespace {

struct AlexNetConvolution {
  double out;
  double kernel;
  double size;    ///< of what comes out
  double pooled;  ///< of the pooling behind it, where there is one
  double stride = 1.0;
};
constexpr std::array kAlexNetConvolutions = {
    AlexNetConvolution{64.0, 11.0, 55.0, 27.0, 4.0}, AlexNetConvolution{192.0, 5.0, 27.0, 13.0},
    AlexNetConvolution{384.0, 3.0, 13.0, 0.0}, AlexNetConvolution{256.0, 3.0, 13.0, 0.0},
    AlexNetConvolution{256.0, 3.0, 13.0, 6.0}};
constexpr double kAlexNetImage = 3.0 * 224.0 * 224.0;

}  // namespace

Model layers_of(const AlexNetModel& fields) {
  Model model{
      .name = fields.name,
      .source = fields.source,
      .first = {.name = "images", .output = kAlexNetImage, .kept = kept_inputs(kAlexNetImage)},
      .has_tokens = false,
      .tensor_limits = {{"hidden", "a convolution (which is never split)", 1}}};
  double in = 3.0;
  double input = kAlexNetImage;
  for (const AlexNetConvolution& of : kAlexNetConvolutions) {
    ConvolutionBlock block("convolution");
    block.convolution({.name = "conv",
                       .in = in,
                       .out = of.out,
                       .kernel = of.kernel,
                       .size = of.size,
                       .stride = of.stride,
                       .bias = true,
                       .normalised = false,
                       .input_gradient = !model.layers.empty()});
    if (of.pooled > 0.0) block.pool(of.out, of.size, of.pooled, 3.0);
    const double side = of.pooled > 0.0 ? of.pooled : of.size;
    in = of.out;
    append_layers(model, std::move(block).finished(input, in * side * side));
    input = in * side * side;
  }
  append_fully_connected(model, input, static_cast<double>(fields.hidden),
                         static_cast<double>(fields.classes));
  return model;
}

namespace {

const FieldTable<AlexNetModel>& alexnet_fields() {
  static const FieldTable<AlexNetModel> kFields(
      {{"hidden", whole(&AlexNetModel::hidden, between(1, 10'000'000)),
        "Outputs of each fully connected layer but the last."},
       {"classes", whole(&AlexNetModel::classes, between(1, 100'000'000)),
        "Classes that a network tells apart."}});
  return kFields;
}

Model read_alexnet(ObjectReader& reader) {
  return layers_of(read_family_fields(reader, alexnet_fields(), "AlexNet"));
}

}  // namespace

ModelFamily alexnet() {
  return {.name = "alexnet", .what = "AlexNet", .read = read_alexnet, .fields = [] {
            return alexnet_fields().described();
          }};
}

}  // namespace headway

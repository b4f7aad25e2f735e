#include "sim/models/inception.h"

#include <cmath>
#include <string>
#include <utility>

#include "sim/models/convolution_block.h"
#include "sim/models/families.h"
#include "sim/models/family_fields.h"

namespace headway {
namespace {

constexpr double kPoolSide = 3.0;  ///< positions a side that poolings see

/// Writes one module after the other, following channels and positions.
class InceptionBuilder {
 public:
  InceptionBuilder(Model& model, double size) : model_(model), size_(size) {}

  /// A convolution by itself; without padding the image loses its rim.
  void plain(double out, double kernel, double stride, bool padded, bool trained_before = true) {
    ConvolutionBlock block("convolution");
    const double input = in_ * size_ * size_;
    const double rim = padded ? 0.0 : kernel - 1.0;
    size_ = std::floor((size_ - rim - 1.0) / stride) + 1.0;
    block.convolution({.name = "conv",
                       .in = in_,
                       .out = out,
                       .kernel = kernel,
                       .size = size_,
                       .stride = stride,
                       .input_gradient = trained_before});
    in_ = out;
    append_layers(model_, std::move(block).finished(input, in_ * size_ * size_));
  }
  /// The largest of 3 x 3, every second.
  void halve() {
    ConvolutionBlock block("pool");
    const double input = in_ * size_ * size_;
    const double to = halved();
    block.pool(in_, size_, to, kPoolSide);
    size_ = to;
    append_layers(model_, std::move(block).finished(input, in_ * size_ * size_));
  }

  void begin() { block_ = ConvolutionBlock("module"); }
  /// From the module's input, `width` channels.
  void reduce(double width) { put(in_, width, 1.0, 0.0, size_); }
  void put(double in, double out, double kernel, double across, double size) {
    block_.convolution({.name = "conv" + std::to_string(++convolutions_),
                        .in = in,
                        .out = out,
                        .kernel = kernel,
                        .across = across,
                        .size = size});
  }
  void averaged() { block_.mean_pool(in_, size_, size_, kPoolSide); }
  void pooled(double to) { block_.pool(in_, size_, to, kPoolSide); }
  void end(double out, double size) {
    const double input = in_ * size_ * size_;
    block_.concatenation(out * size * size);
    in_ = out;
    size_ = size;
    convolutions_ = 0;
    append_layers(model_, std::move(block_).finished(input, in_ * size_ * size_));
  }

  [[nodiscard]] double channels() const { return in_; }
  [[nodiscard]] double size() const { return size_; }
  [[nodiscard]] double halved() const { return std::floor((size_ - 3.0) / 2.0) + 1.0; }

 private:
  Model& model_;
  ConvolutionBlock block_{""};
  double in_ = 3.0;
  double size_ = 0.0;
  int convolutions_ = 0;
};

/// 1 x 1; 5 x 5; two 3 x 3; pooled (figure 5).
void fives(InceptionBuilder& to, double pooled) {
  const double size = to.size();
  to.begin();
  to.reduce(64.0);
  to.reduce(48.0);
  to.put(48.0, 64.0, 5.0, 0.0, size);
  to.reduce(64.0);
  to.put(64.0, 96.0, 3.0, 0.0, size);
  to.put(96.0, 96.0, 3.0, 0.0, size);
  to.averaged();
  to.reduce(pooled);
  to.end(64.0 + 64.0 + 96.0 + pooled, size);
}

/// 7 x 7 as 1 x 7 and 7 x 1, once and twice (figure 6).
void sevens(InceptionBuilder& to, double width) {
  constexpr double kOut = 192.0;
  const double size = to.size();
  to.begin();
  to.reduce(kOut);
  to.reduce(width);
  to.put(width, width, 1.0, 7.0, size);
  to.put(width, kOut, 7.0, 1.0, size);
  to.reduce(width);
  to.put(width, width, 7.0, 1.0, size);
  to.put(width, width, 1.0, 7.0, size);
  to.put(width, width, 7.0, 1.0, size);
  to.put(width, kOut, 1.0, 7.0, size);
  to.averaged();
  to.reduce(kOut);
  to.end(4.0 * kOut, size);
}

/// 3 x 3 as 1 x 3 beside 3 x 1 (figure 7).
void threes(InceptionBuilder& to) {
  const double size = to.size();
  to.begin();
  to.reduce(320.0);
  to.reduce(384.0);
  to.put(384.0, 384.0, 1.0, 3.0, size);
  to.put(384.0, 384.0, 3.0, 1.0, size);
  to.reduce(448.0);
  to.put(448.0, 384.0, 3.0, 0.0, size);
  to.put(384.0, 384.0, 1.0, 3.0, size);
  to.put(384.0, 384.0, 3.0, 1.0, size);
  to.averaged();
  to.reduce(192.0);
  to.end(320.0 + 2.0 * 768.0 + 192.0, size);
}

}  // namespace

Model layers_of(const InceptionModel& fields) {
  Model model{.name = fields.name,
              .source = fields.source,
              .first = {.name = "images"},
              .has_tokens = false,
              .tensor_limits = {{"inception", "a convolution (which is never split)", 1}}};
  const double image = static_cast<double>(fields.image_size);
  model.first.output = 3.0 * image * image;
  model.first.kept = kept_inputs(model.first.output);
  InceptionBuilder to(model, image);
  to.plain(32.0, 3.0, 2.0, false, false);
  to.plain(32.0, 3.0, 1.0, false);
  to.plain(64.0, 3.0, 1.0, true);
  to.halve();
  to.plain(80.0, 1.0, 1.0, true);
  to.plain(192.0, 3.0, 1.0, false);
  to.halve();
  for (const double pooled : {32.0, 64.0, 64.0}) fives(to, pooled);
  {
    const double size = to.size();
    const double half = to.halved();
    to.begin();
    to.put(to.channels(), 384.0, 3.0, 0.0, half);
    to.reduce(64.0);
    to.put(64.0, 96.0, 3.0, 0.0, size);
    to.put(96.0, 96.0, 3.0, 0.0, half);
    to.pooled(half);
    to.end(384.0 + 96.0 + to.channels(), half);
  }
  for (const double width : {128.0, 160.0, 160.0, 192.0}) sevens(to, width);
  {
    const double size = to.size();
    const double half = to.halved();
    to.begin();
    to.reduce(192.0);
    to.put(192.0, 320.0, 3.0, 0.0, half);
    to.reduce(192.0);
    to.put(192.0, 192.0, 1.0, 7.0, size);
    to.put(192.0, 192.0, 7.0, 1.0, size);
    to.put(192.0, 192.0, 3.0, 0.0, half);
    to.pooled(half);
    to.end(320.0 + 192.0 + to.channels(), half);
  }
  threes(to);
  threes(to);
  ConvolutionBlock head("classifier");
  head.mean(to.channels(), to.size());
  model.last = classifier(std::move(head), to.channels() * to.size() * to.size(), to.channels(),
                          static_cast<double>(fields.classes));
  return model;
}

namespace {

const FieldTable<InceptionModel>& inception_fields() {
  static const FieldTable<InceptionModel> kFields(
      {{"image_size", whole(&InceptionModel::image_size, between(75, 100'000)),
        "Pixels of a side of an image."},
       {"classes", whole(&InceptionModel::classes, between(1, 100'000'000)),
        "Classes that a network tells apart."}});
  return kFields;
}

Model read_inception(ObjectReader& reader) {
  return layers_of(read_family_fields(reader, inception_fields(), "Inception-v3"));
}

}  // namespace

ModelFamily inception() {
  return {.name = "inception", .what = "Inception-v3", .read = read_inception, .fields = [] {
            return inception_fields().described();
          }};
}

}  // namespace headway

// Convolutions and poolings of images, in two dimensions and three.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "sim/models/convolution_block.h"
#include "sim/models/listed/layer_operators.h"

namespace headway {
namespace {

constexpr Range kChannels = between(1, 10'000'000);
constexpr Range kWindowSizes = between(1, 100'000);
constexpr Range kPaddings = between(0, 100'000);

using Sizes = std::vector<std::int64_t>;

/// One number for all dimensions, or one for each.
template <class Object>
FieldMember<Object> sizes(Sizes Object::*member, Range range) {
  return {.type = either(whole_type(range), array_type(whole_type(range), "whole numbers")),
          .read =
              [=](ObjectReader& reader, std::string_view key, bool required, Object& object) {
                const auto given = reader.cursor().member(key);
                if (given && given->is_array()) {
                  if (const auto all = reader.integers(key, range, true)) object.*member = *all;
                } else if (given || required) {
                  object.*member = {reader.integer(key, range)};
                }
              },
          .write =
              [=](const Object& object) {
                const Sizes& held = object.*member;
                if (held.empty()) return JsonValue();
                return held.size() == 1 ? json_of(held.front()) : json_of(held);
              }};
}

/// One of `given` for each of `count` dimensions.
std::optional<Sizes> each(ObjectReader& reader, std::string_view key, const Sizes& given,
                          std::size_t count) {
  if (given.size() == 1) return Sizes(count, given.front());
  if (given.size() == count) return given;
  reader.report(key, fmt::format("\"{}\" has a number for each dimension", key),
                fmt::format("{} for {}", given.size(), count), "write one for all, or as many");
  return std::nullopt;
}

/// A window that goes over positions, in each dimension.
struct Window {
  Sizes kernel;
  Sizes stride;
  Sizes padding;
};

/// What it leaves of `in`: (n + 2 p - k) / s + 1, rounded down; transposed, (n - 1) s - 2 p + k.
std::optional<SampleShape> passed_over(ObjectReader& reader, const SampleShape& in,
                                       const Window& window, std::int64_t channels,
                                       bool is_transposed) {
  SampleShape out = {channels};
  for (std::size_t i = 0; i < window.kernel.size(); ++i) {
    const std::int64_t n = in[i + 1];
    const std::int64_t k = window.kernel[i];
    const std::int64_t s = window.stride[i];
    const std::int64_t p = window.padding[i];
    const std::int64_t left = is_transposed ? (n - 1) * s - 2 * p + k : n + 2 * p - k;
    if (left < (is_transposed ? 1 : 0)) {
      reader.report("kernel", fmt::format("nothing comes out of {}", shape_text(in)),
                    fmt::format("kernel {}, padding {}", k, p), "make the kernel smaller");
      return std::nullopt;
    }
    out.push_back(is_transposed ? left : left / s + 1);
  }
  return out;
}

double positions_of(const SampleShape& image) {
  return element_count(image) / static_cast<double>(image.front());
}

struct ConvolutionFields {
  std::int64_t channels = 1;
  Sizes kernel = {1};
  Sizes stride = {1};
  Sizes padding = {};
  std::int64_t groups = 1;
  bool bias = true;
};

template <bool kIsTransposed>
const FieldTable<ConvolutionFields>& convolution_fields() {
  static const FieldTable<ConvolutionFields> kFields(
      {{"channels", whole(&ConvolutionFields::channels, kChannels).required(),
        "Channels that come out of a convolution."},
       {"kernel", sizes(&ConvolutionFields::kernel, kWindowSizes).required(),
        "Positions that a convolution or a pooling sees at once, in each dimension."},
       {"stride", sizes(&ConvolutionFields::stride, kWindowSizes),
        "Positions from one result of a convolution or a pooling to the next."},
       {"padding", sizes(&ConvolutionFields::padding, kPaddings),
        "Positions added on each side.\ndefault: half the kernel of a convolution, rounded down; "
        "else 0"},
       {"groups", whole(&ConvolutionFields::groups, kChannels),
        "Groups of channels that see nothing of each other. As many as channels: depthwise."},
       {"bias", flag(&ConvolutionFields::bias), "A number is added to each output."}});
  return kFields;
}

std::optional<Window> window_of(const ConvolutionFields& fields, ObjectReader& reader,
                                std::size_t dimensions, bool is_transposed) {
  const auto kernel = each(reader, "kernel", fields.kernel, dimensions);
  const auto stride = each(reader, "stride", fields.stride, dimensions);
  if (!kernel || !stride) return std::nullopt;
  Sizes half(dimensions, 0);
  if (!is_transposed) {
    for (std::size_t i = 0; i < dimensions; ++i) half[i] = (*kernel)[i] / 2;
  }
  const auto padding =
      fields.padding.empty() ? half : each(reader, "padding", fields.padding, dimensions);
  if (!padding) return std::nullopt;
  return Window{*kernel, *stride, *padding};
}

template <bool kIsTransposed>
SampleShape add_convolution(const ConvolutionFields& fields, ObjectReader& reader,
                            const SampleShape& in, LayerWriter& layer) {
  const std::int64_t in_channels = in.front();
  if (in_channels % fields.groups != 0 || fields.channels % fields.groups != 0) {
    reader.report("groups", "groups divide the channels that come in and those that come out",
                  fmt::format("{}, of {} and {}", fields.groups, in_channels, fields.channels));
    return in;
  }
  const auto window = window_of(fields, reader, in.size() - 1, kIsTransposed);
  if (!window) return in;
  const auto out = passed_over(reader, in, *window, fields.channels, kIsTransposed);
  if (!out) return in;
  const auto groups = static_cast<double>(fields.groups);
  const double inputs = static_cast<double>(in_channels) / groups;
  const auto outputs = static_cast<double>(fields.channels);
  const double taps = element_count(window->kernel);
  layer.keep_input("convolution input", element_count(in));
  // A transposed convolution is the gradient of one that goes the other way: each position that
  // comes in is multiplied with all taps.
  Product product = kIsTransposed
                        ? Product{.name = "transposed convolution",
                                  .outputs = outputs / groups * taps,
                                  .inputs = static_cast<double>(in_channels)}
                        : Product{.name = "convolution",
                                  .outputs = outputs,
                                  .inputs = inputs * taps,
                                  .reuse = std::max(1.0, taps / element_count(window->stride))};
  if (!kIsTransposed) {
    const bool is_filtered = window->kernel == Sizes{3, 3} && window->stride == Sizes{1, 1};
    product.filtering = convolution_rate(is_filtered && fields.groups == 1);
    product.bias = fields.bias;
  } else if (fields.bias) {
    layer.weights(Part::other, outputs);
  }
  layer.product(std::move(product), positions_of(kIsTransposed ? in : *out));
  if (fields.groups > 1) {
    // The product has the width of one group; what the others read moves besides.
    const double others = kWorkingElement * element_count(in) * (1.0 - 1.0 / groups);
    layer.pass("inputs of the other groups", others, 2.0 * others);
    layer.kernels(-kOperatorKernels, -kOperatorKernels);  // by the same kernel
  }
  return *out;
}

struct PoolingFields {
  Sizes kernel = {};
  Sizes stride = {};
  Sizes padding = {0};
};

const FieldTable<PoolingFields>& pooling_fields() {
  static const FieldTable<PoolingFields> kFields(
      {{"kernel", sizes(&PoolingFields::kernel, kWindowSizes),
        "Positions that a convolution or a pooling sees at once, in each dimension.\ndefault: all "
        "of them, of a pooling"},
       {"stride", sizes(&PoolingFields::stride, kWindowSizes),
        "Positions from one result of a convolution or a pooling to the next.\ndefault: 1 of a "
        "convolution, the kernel of a pooling"},
       {"padding", sizes(&PoolingFields::padding, kPaddings), "Positions added on each side."}});
  return kFields;
}

SampleShape add_pooling(const PoolingFields& fields, ObjectReader& reader, const SampleShape& in,
                        LayerWriter& layer) {
  SampleShape out = {in.front()};  // all positions, unless there is a kernel
  double taps = 0.0;               // of a mean of all, which is a sum
  if (!fields.kernel.empty()) {
    const std::size_t dimensions = in.size() - 1;
    const auto kernel = each(reader, "kernel", fields.kernel, dimensions);
    const auto stride =
        fields.stride.empty() ? kernel : each(reader, "stride", fields.stride, dimensions);
    const auto padding = each(reader, "padding", fields.padding, dimensions);
    if (!kernel || !stride || !padding) return in;
    const auto left = passed_over(reader, in, {*kernel, *stride, *padding}, in.front(), false);
    if (!left) return in;
    out = *left;
    taps = element_count(*kernel);
  }
  const double from = element_count(in);
  const double to = element_count(out);
  layer.keep_input("pooling input", from);
  layer.pass("pooling", to, pooled(from, to, taps));
  return out;
}

}  // namespace

std::vector<LayerOperator> convolution_operators() {
  constexpr std::string_view kImages =
      "[channels, height, width] or [channels, depth, height, width]";
  return {operator_of({.name = "convolution",
                       .what = "in two dimensions or three, of all channels or of groups",
                       .takes = kImages,
                       .fits = is_image},
                      convolution_fields<false>, add_convolution<false>),
          operator_of({.name = "transposed_convolution",
                       .what = "a convolution the other way round, which makes images larger",
                       .takes = kImages,
                       .fits = is_image},
                      convolution_fields<true>, add_convolution<true>),
          operator_of({.name = "pooling",
                       .what = "the largest or the mean of windows, or of whole channels",
                       .takes = kImages,
                       .fits = is_image},
                      pooling_fields, add_pooling)};
}

}  // namespace headway

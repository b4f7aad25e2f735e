// Matrices, norms, activation functions, sums.
#include "sim/models/convolution_block.h"
#include "sim/models/listed/layer_operators.h"

namespace headway {
namespace {

/// What normalises, over which elements.
enum class NormKind { batch, layer, rms };
/// What an activation function's gradient is made of decides what it keeps: its output, or its
/// input.
enum class Activation { relu, sigmoid, tanh, gelu, silu };

}  // namespace

template <>
inline constexpr Word<NormKind> kWords<NormKind>[] = {
    {"batch", NormKind::batch}, {"layer", NormKind::layer}, {"rms", NormKind::rms}};
template <>
inline constexpr Word<Activation> kWords<Activation>[] = {{"relu", Activation::relu},
                                                          {"sigmoid", Activation::sigmoid},
                                                          {"tanh", Activation::tanh},
                                                          {"gelu", Activation::gelu},
                                                          {"silu", Activation::silu}};

namespace {

/// A row of a layer norm fits into a cache: it is read and written once.
constexpr PassBytes kRowNorm = kRectifier;

struct LinearFields {
  std::int64_t outputs = 1;
  bool bias = true;
};

const FieldTable<LinearFields>& linear_fields() {
  static const FieldTable<LinearFields> kFields(
      {{"outputs", whole(&LinearFields::outputs, between(1, 1'000'000'000)).required(),
        "Features that come out of a linear operator."},
       {"bias", flag(&LinearFields::bias), "A number is added to each output."}});
  return kFields;
}

/// A product for each position of a sequence, or of an image all at once.
SampleShape add_linear(const LinearFields& fields, ObjectReader&, const SampleShape& in,
                       LayerWriter& layer) {
  const bool has_positions = in.size() == 2;
  const double rows = has_positions ? static_cast<double>(in.front()) : 1.0;
  const double all = element_count(in);
  layer.keep_input("linear input", all);
  layer.product({.name = "linear",
                 .outputs = static_cast<double>(fields.outputs),
                 .inputs = all / rows,
                 .bias = fields.bias},
                rows);
  if (has_positions) return {in.front(), fields.outputs};
  return {fields.outputs};
}

struct NormFields {
  NormKind norm = NormKind::batch;
};

const FieldTable<NormFields>& norm_fields() {
  static const FieldTable<NormFields> kFields(
      {{"norm", word(&NormFields::norm).required(),
        "What normalises: over the samples of a batch, or over the features of each position."}});
  return kFields;
}

SampleShape add_norm(const NormFields& fields, ObjectReader&, const SampleShape& in,
                     LayerWriter& layer) {
  const bool is_batch = fields.norm == NormKind::batch;
  const double all = element_count(in);
  const std::int64_t features = is_image(in) ? in.front() : in.back();
  layer.keep_input("norm input", all);
  layer.weights(Part::normalization,
                (fields.norm == NormKind::rms ? 1.0 : 2.0) * static_cast<double>(features));
  if (is_batch) {
    layer.pass("norm", all, kBatchNorm, kMergedNorm);
    layer.end_in_norm();
  } else {
    layer.pass("norm", kRowNorm.forward * all, kRowNorm.backward * all);
  }
  return in;
}

struct ActivationFields {
  Activation function = Activation::relu;
};

const FieldTable<ActivationFields>& activation_fields() {
  static const FieldTable<ActivationFields> kFields(
      {{"function", word(&ActivationFields::function),
        "An activation function. The backward pass of the first three takes what came out, which "
        "the next operator has anyway; of the others what went in."}});
  return kFields;
}

SampleShape add_activation(const ActivationFields& fields, ObjectReader&, const SampleShape& in,
                           LayerWriter& layer) {
  const double all = element_count(in);
  const bool takes_input =
      fields.function == Activation::gelu || fields.function == Activation::silu;
  if (takes_input) {
    layer.keep_input("activation input", all);
  } else {
    layer.keep_no_input();
    layer.keep_output("activation output", all);
  }
  if (fields.function == Activation::relu && layer.is_behind_norm()) {
    layer.pass("activation", all, kRectifier, kMergedRectifier);
  } else {
    layer.pass("activation", kRectifier.forward * all, kRectifier.backward * all);
  }
  return in;
}

struct SumFields {};

const FieldTable<SumFields>& sum_fields() {
  static const FieldTable<SumFields> kFields({});
  return kFields;
}

SampleShape add_sum(const SumFields&, ObjectReader&, const SampleShape& in, LayerWriter& layer) {
  const double all = element_count(in);
  layer.keep_no_input();
  if (layer.is_behind_norm()) {
    layer.pass("sum", all, kResidualSum, kMergedSum);
    layer.end_in_norm();
  } else {
    layer.pass("sum", kResidualSum.forward * all, kResidualSum.backward * all);
  }
  return in;
}

bool is_any(const SampleShape& in) { return !in.empty(); }

}  // namespace

std::vector<LayerOperator> elementary_operators() {
  constexpr std::string_view kAny = "anything";
  return {operator_of({.name = "linear",
                       .what = "a matrix, of each position of a sequence or of a whole image",
                       .takes = kAny,
                       .fits = is_any},
                      linear_fields, add_linear),
          operator_of({.name = "normalization",
                       .what = "a batch, layer or RMS norm",
                       .takes = kAny,
                       .fits = is_any},
                      norm_fields, add_norm),
          operator_of({.name = "activation",
                       .what = "a function of each element",
                       .takes = kAny,
                       .fits = is_any},
                      activation_fields, add_activation),
          operator_of({.name = "sum",
                       .what = "what went around the operators before is added (residual)",
                       .takes = kAny,
                       .fits = is_any},
                      sum_fields, add_sum)};
}

}  // namespace headway

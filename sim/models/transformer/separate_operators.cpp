// What PyTorch's operators of a transformer layer read and write where each is a kernel of its own,
// as transformers 5 writes its layers (models/llama/modeling_llama.py and what is generated from
// it) and autograd goes back through them: bytes an element, of a stream in 16 bits, and of one in
// fp32 beside products of 16 bits (autocast), whose inputs are cast.
#include "sim/models/transformer/transformer_parts.h"

namespace headway {
namespace {

using P = RecomputePart;

constexpr double kNarrow = 2.0;  ///< bytes of an element in 16 bits
constexpr double kWide = 4.0;    ///< in fp32
constexpr double kCast = kNarrow + kWide;

/// Of 16 bits, and of a stream in fp32.
struct Operator {
  MovedBytes narrow;
  MovedBytes wide;

  void operator+=(const Operator& other) {
    narrow.forward += other.narrow.forward;
    narrow.backward += other.narrow.backward;
    wide.forward += other.wide.forward;
    wide.backward += other.wide.backward;
  }
};

Operator times(double count, const Operator& each) {
  return {{count * each.narrow.forward, count * each.narrow.backward},
          {count * each.wide.forward, count * each.wide.backward}};
}

/// A layer norm is one kernel forward; backward one reads what came in and the gradient and writes,
/// another reads both again for the gradients of scale and bias.
constexpr Operator kLayerNorm = {{2.0 * kNarrow, 5.0 * kNarrow}, {2.0 * kWide, 5.0 * kWide}};

/// An RMS norm is written out, in fp32: square, mean, product with what that gives and with the
/// scale. Backward the product with the scale is two and a sum, that before it as many, the square
/// a power, a factor and a product, and both ways to what came in are spread and summed. In 16 bits
/// it is cast there and back, both ways, and the product with the scale is in 16 bits.
constexpr double kInSingle = 2.0 * kWide + kWide + 2.0 * kWide;
constexpr double kBackInSingle =
    2.0 * kWide + 4.0 * kWide + kWide + 2.0 * kWide + 2.0 * kWide + 3.0 * kWide + 3.0 * kWide;
constexpr Operator kRmsNorm = {
    {kCast + kInSingle + kCast + 2.0 * kNarrow,
     2.0 * kNarrow + 4.0 * kNarrow + kCast + kBackInSingle + kCast},
    {kInSingle + 2.0 * kWide, 2.0 * kWide + 4.0 * kWide + kBackInSingle}};

/// What a half gives, in 16 bits, is added to the stream. The gradient of the stream is the sum of
/// two, of which one is cast for the half.
constexpr Operator kSum = {{3.0 * kNarrow, 3.0 * kNarrow},
                           {kNarrow + 2.0 * kWide, 3.0 * kWide + kCast}};

/// Read, and written beside its mask; backward the same.
constexpr double kMask = 1.0;
constexpr Operator kDroppedOut = {{2.0 * kNarrow + kMask, 2.0 * kNarrow + kMask},
                                  {2.0 * kNarrow + kMask, 2.0 * kNarrow + kMask}};

/// Each product that reads the stream casts it, and its gradient back; all but one of these are
/// added to another.
Operator read_by(double products) {
  return {{0.0, (products - 1.0) * 3.0 * kNarrow},
          {products * kCast, products * kCast + (products - 1.0) * 3.0 * kWide}};
}

MemoryPass pass_of(std::string name, double elements, const Operator& moved) {
  return {.name = std::move(name),
          .forward = elements * moved.narrow.forward,
          .backward = elements * moved.narrow.backward,
          .operators = Operators::separate,
          .merged = false,
          .wide = MovedBytes{elements * moved.wide.forward, elements * moved.wide.backward}};
}

}  // namespace

void add_stream_operators(Layer& layer, const TransformerModel& model, bool mixes, bool feeds) {
  constexpr double kOfAttention = 3.0;  ///< queries, keys and values each have a product
  const double of_mlp = model.gated_mlp ? 2.0 : 1.0;
  const Operator norm = model.normalization == Normalization::rms_norm ? kRmsNorm : kLayerNorm;
  const double halves = (mixes ? 1.0 : 0.0) + (feeds ? 1.0 : 0.0);
  const auto add = [&](const char* name, const Operator& moved, Again again) {
    layer.passes.push_back(pass_of(name, real(model.hidden), moved));
    layer.passes.back().rows = Rows::own;
    layer.passes.back().again = again;
  };
  add("norms, each operator", times(halves, norm), {{P::layernorm}, {P::alternate}});
  Operator others = times(halves, kSum);
  if (has_dropout(model)) others += times(halves, kDroppedOut);
  if (mixes) others += read_by(kOfAttention);
  if (feeds) others += read_by(of_mlp);
  add("sums and casts, each operator", others, {{P::alternate}});
}

void add_rotary_operators(Layer& layer, double elements, Again again) {
  // A product with the cosines; the halves changed about, one of them with its sign; a product with
  // the sines; the sum. Both tables are as wide as the stream, and so is what comes of them, which
  // attention casts. Backward the halves come back in two padded tensors that are summed.
  constexpr double kTurned = kNarrow + 2.0 * kNarrow;
  constexpr double kTurnedBack = kNarrow + 4.0 * kNarrow + 3.0 * kNarrow;
  constexpr Operator kRotary = {
      {2.0 * kNarrow + kTurned + 2.0 * kNarrow + 3.0 * kNarrow,
       2.0 * 2.0 * kNarrow + kTurnedBack + 3.0 * kNarrow},
      {kCast + kTurned + kCast + 3.0 * kWide + kCast,
       kCast + 2.0 * (2.0 * kWide + kCast) + kTurnedBack + 3.0 * kNarrow}};
  MemoryPass pass = pass_of("rotary, each operator", elements, kRotary);
  pass.cut = Cut::tensor;
  pass.when = KernelChoice::fused_attention;
  pass.again = again;
  layer.passes.push_back(std::move(pass));
}

void add_head_norm_operators(Layer& layer, Normalization normalization, double elements,
                             Again again) {
  // Beside autocast they take the 16 bits that products give, and give fp32.
  constexpr Operator kLayer = {kLayerNorm.narrow,
                               {kCast + kLayerNorm.wide.forward, kLayerNorm.wide.backward + kCast}};
  constexpr Operator kRms = {
      kRmsNorm.narrow, {2.0 * kCast + kRmsNorm.wide.forward, kRmsNorm.wide.backward + 2.0 * kCast}};
  MemoryPass pass = pass_of("norms of queries and keys, each operator", elements,
                            normalization == Normalization::rms_norm ? kRms : kLayer);
  pass.cut = Cut::tensor;
  pass.again = again;
  layer.passes.push_back(std::move(pass));
}

void add_activation_operators(Layer& layer, const TransformerModel& model, double inner) {
  // The function reads and writes; backward it reads two and writes one. Its product with the other
  // half reads two and writes one, and backward makes two gradients so.
  constexpr Operator kFunction = {{2.0 * kNarrow, 3.0 * kNarrow}, {2.0 * kNarrow, 3.0 * kNarrow}};
  constexpr Operator kProduct = {{3.0 * kNarrow, 6.0 * kNarrow}, {3.0 * kNarrow, 6.0 * kNarrow}};
  Operator moved = kFunction;
  if (model.gated_mlp) moved += kProduct;
  const MemoryPass& merged = layer.passes.back();
  MemoryPass pass = pass_of(merged.name + ", each operator", inner, moved);
  pass.rows = merged.rows;
  pass.cut = merged.cut;
  pass.again = merged.again;
  layer.passes.push_back(std::move(pass));
}

void add_modulation_operators(Layer& layer, double elements) {
  // A product and a sum, as wide as the stream. Backward a sum over positions for the bias, a
  // product for what was multiplied, another and its sum for the gain.
  constexpr double kPasses = 4.0;
  constexpr double kPassesBack = 1.0 + 2.0 + 3.0 + 1.0;
  // The gate's product, in 16 bits; backward two, and a sum over positions.
  constexpr MovedBytes kGate = {2.0 * kNarrow, 2.0 * kNarrow + 3.0 * kNarrow + kNarrow};
  constexpr Operator kModulated = {
      {kPasses * kNarrow + kGate.forward, kPassesBack * kNarrow + kGate.backward},
      {kPasses * kWide + kGate.forward, kPassesBack * kWide + kGate.backward}};
  layer.passes.push_back(pass_of("modulation, each operator", elements, kModulated));
  layer.passes.back().rows = Rows::own;
}

void add_head_copies(Layer& layer, double elements, double others) {
  constexpr double kKeysAndValues = 2.0;
  constexpr Operator kCopy = {{2.0 * kNarrow, 2.0 * kNarrow}, {2.0 * kNarrow, 2.0 * kNarrow}};
  layer.passes.push_back(pass_of("orders of heads, each operator", elements,
                                 times(2.0 + kKeysAndValues * others, kCopy)));
  layer.passes.back().cut = Cut::tensor;
  constexpr double kOfLayer = 68.0;  ///< kernels that a layer with layer norms launches, as traced
  constexpr double kMore = 4.0;
  layer.separate_issue *= (kOfLayer + kMore) / kOfLayer;
}

void add_bias_operators(Layer& layer) {
  double whole = 0.0;
  double shared = 0.0;  // by tensor-parallel ranks
  for (const Product& product : layer.products) {
    if (!product.bias || product.part == Part::experts) continue;
    (product.split == Split::outputs ? shared : whole) += product.rows_each * product.outputs;
  }
  const auto add = [&](double outputs, Cut cut) {
    if (outputs == 0.0) return;
    constexpr Operator kSummed = {{0.0, kNarrow}, {0.0, kNarrow}};
    layer.passes.push_back(pass_of("gradients of biases, each operator", outputs, kSummed));
    layer.passes.back().cut = cut;
  };
  add(whole, Cut::none);
  add(shared, Cut::tensor);
}

}  // namespace headway

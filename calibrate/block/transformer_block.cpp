#include "calibrate/block/transformer_block.h"

#include <boost/random/uniform_real_distribution.hpp>
#include <random>

#include "calibrate/block/attention_heads.h"
#include "sim/base/diagnostic.h"

namespace headway {
namespace {

std::vector<float> random_values(std::size_t count, std::mt19937_64& random, float size) {
  boost::random::uniform_real_distribution<float> uniform(-size, size);
  std::vector<float> values(count);
  for (float& value : values) value = uniform(random);
  return values;
}

}  // namespace

TransformerBlock::TransformerBlock(BlockDevice& device, const BlockShape& shape, std::uint64_t seed,
                                   float weight_size)
    : device_(device), shape_(shape), row_(static_cast<std::size_t>(shape.hidden)) {
  HEADWAY_CHECK(shape.hidden % shape.heads == 0, "heads of equal width");
  std::mt19937_64 random(seed);
  const std::size_t width = shape.tokens() * row_;
  const std::size_t scores = shape.tokens() * static_cast<std::size_t>(shape.heads) *
                             static_cast<std::size_t>(shape.sequence);
  const auto weight = [&](double in, double out) {
    const auto count = static_cast<std::size_t>(in * out);
    return Weight{device.weight(random_values(count, random, weight_size)), in, out};
  };
  const double d = shape.hidden;
  qkv_ = weight(d, 3.0 * d);
  projection_ = weight(d, d);
  up_ = weight(d, 4.0 * d);
  down_ = weight(4.0 * d, d);
  input_ = device.activation(random_values(width, random, 1.0F));
  minus_target_ = device.activation(random_values(width, random, 1.0F));
  for (Tensor* tensor : {&normalised_, &context_, &projected_, &middle_, &normalised_middle_,
                         &result_, &output_, &output_gradient_, &through_linear_, &through_norm_,
                         &middle_gradient_, &context_gradient_, &input_gradient_}) {
    *tensor = device.empty_activation(width);
  }
  for (Tensor* tensor : {&heads_, &heads_gradient_}) *tensor = device.empty_activation(3 * width);
  for (Tensor* tensor : {&hidden_, &activated_, &hidden_gradient_, &activated_gradient_}) {
    *tensor = device.empty_activation(4 * width);
  }
  for (Tensor* tensor : {&scores_, &probabilities_, &probabilities_gradient_, &scores_gradient_}) {
    *tensor = device.empty_activation(scores);
  }
}

void TransformerBlock::linear(const Weight& weight, Tensor x, Tensor z) {
  const double tokens = static_cast<double>(shape_.tokens());
  device_.product(whole_product({tokens, weight.out, weight.in}, GemmLayout::nn), x, weight.w, z);
}

void TransformerBlock::linear_backward(const Weight& weight, Tensor x, Tensor dz, Tensor dx) {
  const double tokens = static_cast<double>(shape_.tokens());
  device_.product(whole_product({weight.in, weight.out, tokens}, GemmLayout::tn), x, dz,
                  device_.gradient(weight.w));
  device_.product(whole_product({tokens, weight.in, weight.out}, GemmLayout::nt), dz, weight.w, dx);
}

void TransformerBlock::attend() {
  const auto row = static_cast<std::size_t>(shape_.sequence);
  for (int i = 0; i < shape_.sequences; ++i) {
    const AttentionHeads heads(shape_, i);
    device_.product(heads.to_scores(heads.query, heads.key, heads.scale()), heads_, heads_,
                    scores_);
  }
  device_.pass(MemoryKernel::softmax, scores_, scores_, probabilities_, row);
  for (int i = 0; i < shape_.sequences; ++i) {
    const AttentionHeads heads(shape_, i);
    device_.product(heads.from_scores(GemmLayout::nn, heads.value, heads.context, 1.0F),
                    probabilities_, heads_, context_);
  }
}

void TransformerBlock::attend_backward() {
  const auto row = static_cast<std::size_t>(shape_.sequence);
  for (int i = 0; i < shape_.sequences; ++i) {
    const AttentionHeads heads(shape_, i);
    device_.product(heads.to_scores(heads.context, heads.value, 1.0F), context_gradient_, heads_,
                    probabilities_gradient_);
    device_.product(heads.from_scores(GemmLayout::tn, heads.context, heads.value, 1.0F),
                    probabilities_, context_gradient_, heads_gradient_);
  }
  device_.pass(MemoryKernel::softmax_backward, probabilities_, probabilities_gradient_,
               scores_gradient_, row);
  for (int i = 0; i < shape_.sequences; ++i) {
    const AttentionHeads heads(shape_, i);
    device_.product(heads.from_scores(GemmLayout::nn, heads.key, heads.query, heads.scale()),
                    scores_gradient_, heads_, heads_gradient_);
    device_.product(heads.from_scores(GemmLayout::tn, heads.query, heads.key, heads.scale()),
                    scores_gradient_, heads_, heads_gradient_);
  }
}

void TransformerBlock::forward() {
  device_.pass(MemoryKernel::layer_norm, input_, input_, normalised_, row_);
  linear(qkv_, normalised_, heads_);
  attend();
  linear(projection_, context_, projected_);
  device_.pass(MemoryKernel::residual_add, input_, projected_, middle_, row_);
  device_.pass(MemoryKernel::layer_norm, middle_, middle_, normalised_middle_, row_);
  linear(up_, normalised_middle_, hidden_);
  device_.pass(MemoryKernel::gelu, hidden_, hidden_, activated_, row_);
  linear(down_, activated_, result_);
  device_.pass(MemoryKernel::residual_add, middle_, result_, output_, row_);
}

void TransformerBlock::backward() {
  device_.pass(MemoryKernel::residual_add, output_, minus_target_, output_gradient_, row_);
  linear_backward(down_, activated_, output_gradient_, activated_gradient_);
  device_.pass(MemoryKernel::gelu_backward, hidden_, activated_gradient_, hidden_gradient_, row_);
  linear_backward(up_, normalised_middle_, hidden_gradient_, through_linear_);
  device_.pass(MemoryKernel::layer_norm_backward, middle_, through_linear_, through_norm_, row_);
  device_.pass(MemoryKernel::residual_add, output_gradient_, through_norm_, middle_gradient_, row_);
  linear_backward(projection_, context_, middle_gradient_, context_gradient_);
  attend_backward();
  linear_backward(qkv_, normalised_, heads_gradient_, through_linear_);
  device_.pass(MemoryKernel::layer_norm_backward, input_, through_linear_, through_norm_, row_);
  device_.pass(MemoryKernel::residual_add, middle_gradient_, through_norm_, input_gradient_, row_);
}

void TransformerBlock::update() {
  for (const Tensor weight : weights()) device_.update(weight);
}

}  // namespace headway

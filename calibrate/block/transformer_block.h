#pragma once

#include <cstdint>
#include <vector>

#include "calibrate/block/block_device.h"
#include "calibrate/block/block_shape.h"

namespace headway {

/// A layer of a GPT that is really trained: layer norms without learned factors in front of
/// attention and MLP (Xiong et al. 2020), full attention by batched products and a softmax, an MLP
/// of four times the width with GELU, residual additions, Adam. Left out: biases, mask, dropout.
/// The loss is half the sum of squared differences from a fixed random target: values stay moderate
/// however long it is trained, which exponentials of large ones would take longer for.
class TransformerBlock {
 public:
  using Tensor = BlockDevice::Tensor;

  /// Weights are uniform in +- `weight_size`. `device` outlives the block.
  TransformerBlock(BlockDevice& device, const BlockShape& shape, std::uint64_t seed,
                   float weight_size = 0.05F);

  void forward();
  void backward();  ///< after forward()
  void update();    ///< after backward()

  [[nodiscard]] Tensor input() const { return input_; }
  [[nodiscard]] Tensor output() const { return output_; }
  [[nodiscard]] Tensor minus_target() const { return minus_target_; }
  /// The weights of queries, keys and values together, of their projection, and of the MLP's two
  /// layers.
  [[nodiscard]] std::vector<Tensor> weights() const {
    return {qkv_.w, projection_.w, up_.w, down_.w};
  }

 private:
  struct Weight {
    Tensor w = 0;
    double in = 0;
    double out = 0;
  };
  void linear(const Weight& weight, Tensor x, Tensor z);
  /// The gradient of `x` to `dx`, that of the weight to its own place.
  void linear_backward(const Weight& weight, Tensor x, Tensor dz, Tensor dx);
  void attend();
  void attend_backward();

  BlockDevice& device_;
  BlockShape shape_;
  std::size_t row_;  ///< elements of a position
  Weight qkv_;
  Weight projection_;
  Weight up_;
  Weight down_;
  // Forward, in the order of use.
  Tensor input_ = 0, minus_target_ = 0, normalised_ = 0, heads_ = 0, scores_ = 0,
         probabilities_ = 0, context_ = 0, projected_ = 0, middle_ = 0, normalised_middle_ = 0,
         hidden_ = 0, activated_ = 0, result_ = 0, output_ = 0;
  // Backward: gradients of the above, and what comes out of a linear layer or a norm.
  Tensor output_gradient_ = 0, activated_gradient_ = 0, hidden_gradient_ = 0, through_linear_ = 0,
         through_norm_ = 0, middle_gradient_ = 0, context_gradient_ = 0,
         probabilities_gradient_ = 0, scores_gradient_ = 0, heads_gradient_ = 0,
         input_gradient_ = 0;
};

}  // namespace headway

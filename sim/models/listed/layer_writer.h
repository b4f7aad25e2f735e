#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/layers/layer.h"
#include "sim/models/convolution_block.h"

namespace headway {

/// Sizes of what one sample hands from an operator to the next: [channels, height, width] (or
/// [channels, depth, height, width]) of images, [positions, features] of sequences, [features].
using SampleShape = std::vector<std::int64_t>;

[[nodiscard]] double element_count(const SampleShape& shape);
/// "[64, 112, 112]"
[[nodiscard]] std::string shape_text(const SampleShape& shape);
/// Channels and two or three sizes.
[[nodiscard]] bool is_image(const SampleShape& shape);

/// Writes a layer operator by operator. What goes in is of a sample; where samples are sequences of
/// tokens, the layer has a token's share of it.
class LayerWriter {
 public:
  /// `tokens` of a sample; 1 where samples are no sequences.
  explicit LayerWriter(double tokens) : tokens_(tokens) {}

  /// For `rows` rows of a sample. One kernel forward, two backward.
  void product(Product of, double rows);
  /// Bytes of tensors of 2 bytes, which every software moves.
  void pass(std::string name, double forward, double backward);
  /// The same of so many elements.
  void pass(const std::string& name, double elements, const PassBytes& bytes);
  /// As a kernel of its own or merged with a batch norm.
  void pass(const std::string& name, double elements, const PassBytes& own,
            const PassBytes& merged);
  void weights(Part part, double count);
  void kernels(double forward, double backward);

  /// The next operator takes what the layer takes, which another one keeps already, and not what
  /// the operator before gives.
  void stand_beside();

  // An operator begins with what becomes of what it takes.

  /// Its backward pass needs that, so many elements. It is what the operator before gave, if that
  /// wants it kept.
  void keep_input(std::string name, double elements);
  /// The layer has it among its kept tensors already.
  void input_is_kept();
  void keep_no_input();
  /// The operator's backward pass needs what it gives: kept by the next one, or here.
  void keep_output(std::string name, double elements);

  /// What comes next can be one kernel with the batch norm that ends here.
  void end_in_norm() { ends_in_norm_ = true; }
  [[nodiscard]] bool is_behind_norm() const { return is_behind_norm_; }

  /// The layer so far; what is added here directly is of a token.
  [[nodiscard]] Layer& layer() { return layer_; }
  /// Ends a layer, and begins the next. What its last operator keeps of what it gives is left to
  /// the next one, but where the layer is one of several alike that do not keep what they take.
  [[nodiscard]] Layer finished(const SampleShape& in, const SampleShape& out, bool is_repeated);
  /// What nobody behind it has kept: the last layer's.
  [[nodiscard]] std::optional<KeptTensor> left();

 private:
  void begin();

  double tokens_;
  Layer layer_;
  std::optional<KeptTensor> pending_;  ///< what the operator before wants kept of what it gave
  bool is_beside_ = false;
  bool has_operator_ = false;
  bool begins_with_its_input_ = false;
  bool is_behind_norm_ = false;
  bool ends_in_norm_ = false;
};

}  // namespace headway

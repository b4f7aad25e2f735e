#include "sim/models/listed/layer_writer.h"

#include <fmt/format.h>

#include <utility>

#include "sim/base/join_words.h"

namespace headway {

double element_count(const SampleShape& shape) {
  double elements = 1.0;
  for (const std::int64_t size : shape) elements *= static_cast<double>(size);
  return elements;
}

std::string shape_text(const SampleShape& shape) {
  return fmt::format("[{}]", join_words(shape, ", "));
}

bool is_image(const SampleShape& shape) { return shape.size() == 3 || shape.size() == 4; }

void LayerWriter::product(Product of, double rows) {
  of.rows_each = rows / tokens_;
  layer_.products.push_back(std::move(of));
  kernels(kOperatorKernels, 2.0 * kOperatorKernels);
}

void LayerWriter::pass(std::string name, double forward, double backward) {
  layer_.passes.push_back({.name = std::move(name),
                           .forward = forward / tokens_,
                           .backward = backward / tokens_,
                           .merged = false});
  kernels(kOperatorKernels, kOperatorKernels);
}

void LayerWriter::pass(const std::string& name, double elements, const PassBytes& bytes) {
  pass(name, bytes.forward * elements, bytes.backward * elements);
  layer_.passes.back().forward_rate = bytes.forward_rate;
  layer_.passes.back().backward_rate = bytes.backward_rate;
}

void LayerWriter::pass(const std::string& name, double elements, const PassBytes& own,
                       const PassBytes& merged) {
  pass(name, elements, own);
  layer_.passes.back().when = KernelChoice::unfused_normalization;
  layer_.passes.push_back({.name = name + ", merged",
                           .forward = merged.forward * elements / tokens_,
                           .backward = merged.backward * elements / tokens_,
                           .when = KernelChoice::fused_normalization,
                           .merged = false});
}

void LayerWriter::weights(Part part, double count) { layer_.weights.push_back({part, count}); }

void LayerWriter::kernels(double forward, double backward) {
  layer_.launches.forward += forward;
  layer_.launches.backward += backward;
}

void LayerWriter::stand_beside() {
  keep_no_input();
  is_beside_ = true;
}

void LayerWriter::begin() { is_behind_norm_ = std::exchange(ends_in_norm_, false); }

void LayerWriter::keep_input(std::string name, double elements) {
  if (std::exchange(is_beside_, false)) {
    begin();
    return;
  }
  input_is_kept();
  layer_.kept.push_back({.name = std::move(name), .elements = elements / tokens_});
}

void LayerWriter::input_is_kept() {
  begin();
  pending_.reset();
  if (!has_operator_) begins_with_its_input_ = true;
  has_operator_ = true;
}

void LayerWriter::keep_no_input() {
  begin();
  if (const auto before = left()) layer_.kept.push_back(*before);
  has_operator_ = true;
}

void LayerWriter::keep_output(std::string name, double elements) {
  pending_ = KeptTensor{.name = std::move(name), .elements = elements / tokens_};
}

Layer LayerWriter::finished(const SampleShape& in, const SampleShape& out, bool is_repeated) {
  if (is_repeated && !begins_with_its_input_) {
    if (const auto last = left()) layer_.kept.push_back(*last);
  }
  layer_.input = element_count(in) / tokens_;
  layer_.output = element_count(out) / tokens_;
  has_operator_ = false;
  begins_with_its_input_ = false;
  return std::exchange(layer_, {});
}

std::optional<KeptTensor> LayerWriter::left() { return std::exchange(pending_, std::nullopt); }

}  // namespace headway

#include "sim/layers/flops.h"

#include <algorithm>

namespace headway {
namespace {

/// The operations of a product for one token.
double product_flops(const Product& product, const Layer& layer) {
  const double rows =
      product.rows == Rows::routed && layer.routing ? layer.routing->experts_per_token : 1.0;
  return 2.0 * rows * product.rows_each * product.outputs * product.inputs;
}

/// Twice those that a row attends to in the mean behind a causal mask.
double attended_positions(double window, double sequence_length) {
  if (window <= 0.0) return sequence_length;
  const double reach = std::min(1.0, window / sequence_length);
  return sequence_length * reach * (2.0 - reach);
}

}  // namespace

double forward_flops(const ActivationProduct& product, double length, double most) {
  const double outputs =
      product.outputs > 0.0 ? product.outputs : 0.5 * attended_positions(most, length);
  return 2.0 * product.heads * product.inputs * outputs;
}

ForwardFlops& ForwardFlops::operator+=(const ForwardFlops& other) {
  products += other.products;
  attention += other.attention;
  attention_square += other.attention_square;
  return *this;
}

ForwardFlops operator*(double times, const ForwardFlops& flops) {
  return {times * flops.products, times * flops.attention, times * flops.attention_square};
}

ForwardFlops forward_flops(const Layer& layer, std::int64_t sequence_length) {
  const auto length = static_cast<double>(sequence_length);
  ForwardFlops flops;
  for (const Product& product : layer.products) flops.products += product_flops(product, layer);
  if (layer.attention) {
    const AttentionCore& core = *layer.attention;
    const double attended =
        core.block > 0.0 ? core.block : attended_positions(core.window, core.keys * length);
    flops.attention_square =
        2.0 * core.heads * (core.head_size + core.value_head_size) * core.queries * attended;
    flops.attention = (core.causal ? 0.5 : 1.0) * flops.attention_square;
  }
  for (const ActivationProduct& product : layer.activation_products) {
    const double each = forward_flops(product, length);
    flops.attention += each;
    flops.attention_square += product.outputs > 0.0 ? each : 2.0 * each;
  }
  for (const StateScan& scan : layer.scans) {
    flops.attention += scan.forward;
    flops.attention_square += scan.forward;
  }
  return flops;
}

ForwardFlops forward_flops(const Model& model, std::int64_t sequence_length) {
  const auto of = [&](const Layer& layer) { return forward_flops(layer, sequence_length); };
  std::vector<ForwardFlops> kinds;
  for (const Layer& kind : model.kinds) kinds.push_back(of(kind));
  ForwardFlops sum = of(model.first);
  for (const int kind : model.layers) sum += kinds[static_cast<std::size_t>(kind)];
  const ForwardFlops last = of(model.last);
  sum += last;
  if (model.ahead.layers > 0) {
    ForwardFlops each = of(model.ahead.join);
    each += kinds[static_cast<std::size_t>(model.ahead.kind)];
    each += last;
    sum += model.ahead.layers * each;
  }
  return sum;
}

Flops recomputed_flops(const Layer& layer, std::int64_t sequence_length,
                       const RecomputeParts& parts) {
  double sum = 0.0;
  for (const Product& product : layer.products) {
    sum += product.again.share(parts) * product_flops(product, layer);
  }
  for (const ActivationProduct& product : layer.activation_products) {
    sum +=
        product.again.share(parts) * forward_flops(product, static_cast<double>(sequence_length));
  }
  for (const StateScan& scan : layer.scans) sum += scan.again.share(parts) * scan.forward;
  if (layer.attention) {
    sum += layer.attention->again.share(parts) * forward_flops(layer, sequence_length).attention;
  }
  return Flops(sum);
}

}  // namespace headway

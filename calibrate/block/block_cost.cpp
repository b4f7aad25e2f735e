#include "calibrate/block/block_cost.h"

#include <fmt/format.h>

#include <algorithm>

#include "kernels/memory_kernel.h"
#include "sim/base/quantity_text.h"
#include "sim/costs/kernel_cost.h"
#include "sim/costs/work_cost.h"
#include "sim/layers/work.h"

namespace headway {
namespace {

constexpr double kInner = 4.0;  ///< of the MLP, in widths

/// Products in less than 4 bytes need updated weights rounded.
bool rounds_weights(Precision precision) { return bytes_per_element(precision) < 4.0; }

/// What `work` takes, forward and backward.
Seconds both_passes(const Work& work, const Profile& profile, Precision precision) {
  const WorkCost cost = work_cost(work, {.profile = profile,
                                         .family = profile.kernel_families.begin()->second,
                                         .precision = precision,
                                         .fused_attention = false});
  return cost.forward.time() + cost.backward.time();
}

/// Adam, and the rounding: 4 bytes read, the others written.
Seconds update_time(const Profile& profile, double parameters, Precision precision) {
  Seconds time = update_cost(profile.device, parameters).time;
  if (rounds_weights(precision)) {
    const Bytes moved(parameters * (4.0 + bytes_per_element(precision)));
    time += memory_pass_cost(profile.device, profile.kernel_families.begin()->second, moved).time;
  }
  return time;
}

}  // namespace

Layer block_layer(const BlockShape& shape, Precision precision) {
  const double width = shape.hidden;
  const double scores = static_cast<double>(shape.heads) * shape.sequence;
  Layer layer{.name = "transformer block", .input = width, .output = width};
  const auto product = [&layer](const char* name, double inputs, double outputs) {
    layer.products.push_back({.name = name, .outputs = outputs, .inputs = inputs});
  };
  product("queries, keys, values", width, 3.0 * width);
  product("projection", width, width);
  product("up", width, kInner * width);
  product("down", kInner * width, width);
  const double head = width / shape.heads;
  layer.attention = AttentionCore{.heads = static_cast<double>(shape.heads),
                                  .key_heads = static_cast<double>(shape.heads),
                                  .head_size = head,
                                  .value_head_size = head,
                                  .causal = false};
  const auto kernels = [&](const char* name, double elements, int forward, MemoryKernel there,
                           int backward, MemoryKernel back) {
    const auto bytes = [&](MemoryKernel kernel) {
      return elements * traffic_bytes_per_element(kernel, bytes_per_element(precision));
    };
    for (int i = 0; i < std::max(forward, backward); ++i) {
      layer.passes.push_back({.name = name,
                              .forward = i < forward ? bytes(there) : 0.0,
                              .backward = i < backward ? bytes(back) : 0.0});
    }
    layer.launches.forward += forward;
    layer.launches.backward += backward;
  };
  kernels("norm", width, 2, MemoryKernel::layer_norm, 2, MemoryKernel::layer_norm_backward);
  // Backward the loss's difference is one more.
  kernels("addition", width, 2, MemoryKernel::residual_add, 3, MemoryKernel::residual_add);
  kernels("activation", kInner * width, 1, MemoryKernel::gelu, 1, MemoryKernel::gelu_backward);
  kernels("softmax", scores, 1, MemoryKernel::softmax, 1, MemoryKernel::softmax_backward);
  // Each sequence's heads are products of their own, two and four of them.
  const auto matrices = static_cast<double>(layer.products.size());
  layer.launches.forward += matrices + 2.0 * shape.sequences;
  layer.launches.backward += 2.0 * matrices + 4.0 * shape.sequences;
  return layer;
}

BlockCost block_cost(const Profile& profile, const BlockShape& shape, Precision precision) {
  // The softmax is a pass of the layer's own.
  Profile known = profile;
  known.device.unfused_forward_bytes.value = 0.0;
  known.device.unfused_backward_bytes.value = 0.0;
  const Layer layer = block_layer(shape, precision);
  const Work all = work(layer, {.micro_batch = static_cast<double>(shape.sequences),
                                .sequence_length = static_cast<double>(shape.sequence),
                                .fused_attention = false});
  Work products;
  products.linears = all.linears;
  Work attention;
  attention.attention = all.attention;
  Work passes;
  passes.passes = all.passes;
  BlockCost cost{.products = both_passes(products, known, precision),
                 .attention = both_passes(attention, known, precision),
                 .passes = both_passes(passes, known, precision)};
  double kernels = layer.launches.forward + layer.launches.backward;
  for (const Product& product : layer.products) {
    cost.update += update_time(known, product.inputs * product.outputs, precision);
    kernels += rounds_weights(precision) ? 2.0 : 1.0;
  }
  cost.gaps = Seconds(kernels * profile.kernel_families.begin()->second.launch_gap.value);
  return cost;
}

std::string block_text(const BlockRun& run, const BlockCost& cost) {
  const BlockShape& shape = run.shape;
  return fmt::format(
      "{} x {} positions, hidden {}, {} heads, {}, forward, backward and Adam: {} measured over {} "
      "steps (+- {:.1f} %), {} by this profile ({:+.1f} %): products {}, attention's {}, passes "
      "{}, update {}, gaps {}",
      shape.sequences, shape.sequence, shape.hidden, shape.heads, word_of(run.precision),
      short_text(run.time), run.steps, 100.0 * run.spread, short_text(cost.total()),
      100.0 * (cost.total() / run.time - 1.0), short_text(cost.products),
      short_text(cost.attention), short_text(cost.passes), short_text(cost.update),
      short_text(cost.gaps));
}

}  // namespace headway

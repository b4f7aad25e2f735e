#include "sim/models/transformer/transformer_parts.h"

namespace headway {
namespace {

using P = RecomputePart;

constexpr double kSingle = 4.0;            ///< bytes of an element in fp32
constexpr double kKernelChunk = 2048.0;    ///< positions between states that are kept
constexpr double kOfState = 2.0;           ///< what decayed on the way, and the state
constexpr double kInputsAndOutputs = 2.0;  ///< vectors as long as a state, of each token

/// Whether one kernel runs from the filter to the product outward, and makes again what it leaves
/// out (state-spaces/mamba, mamba_ssm/ops/selective_scan_interface.py, MambaInnerFn with
/// checkpoint_lvl 1). It has no norms with gains.
bool is_one_kernel(const SelectiveScan& scan) { return scan.norms != SelectionNorms::scaled; }

/// Nine operations for each element of a state (Albert Gu in state-spaces/mamba issue 110: 9 B L D
/// N). Backward 34, counted in csrc/selective_scan/selective_scan_bwd_kernel.cuh: decays and inputs
/// 4, the gradient of the output 1, a scan from either end 6 each, and for the gradients of
/// channels 3, steps 8, decays 3, inputs 2 and outputs 1.
void add_scan(Layer& layer, const SelectiveScan& scan) {
  const double inner = real(scan.channels);
  const double states = inner * real(scan.state_size);
  // Channels, steps and gate are read, results before and behind the gate written. Backward those
  // three, the result and its gradient are read, three gradients and the gated result written.
  constexpr double kPasses = 5.0;
  constexpr double kPassesBack = 9.0;
  const double kept = kSingle * kOfState * states / kKernelChunk;
  // Each channel adds to the gradients of what goes into its states and comes out of them, which
  // all channels share, in fp32 (gpuAtomicAdd): in the cache, at a rate that is taken for the
  // memory's.
  const double added = kSingle * kInputsAndOutputs * states;
  constexpr double kOperations = 9.0;
  constexpr double kOperationsBack = 34.0;
  layer.scans.push_back({.name = "selective_scan",
                         .forward = kOperations * states,
                         .backward = kOperationsBack * states,
                         .moved = {kWorkingElement * kPasses * inner + kept,
                                   kWorkingElement * kPassesBack * inner + kept + added},
                         .again = {{P::alternate}}});
}

/// `selected`: elements of steps, inputs and outputs of states before they are wide.
void keep_tensors(Layer& layer, const SelectiveScan& scan, double selected) {
  const double inner = real(scan.channels);
  const double state = real(scan.state_size);
  const auto keep = [&layer](const char* name, double elements, Cut cut, Again again) {
    layer.kept.push_back({.name = name, .elements = elements, .cut = cut, .again = again});
  };
  keep("channels and gate", 2.0 * inner, Cut::tensor, {{P::alternate, kHalfAgain}});
  keep("selection", selected, Cut::none, {{P::alternate, kHalfAgain}});
  if (scan.norms == SelectionNorms::scaled) {
    keep("normalised selection", selected, Cut::none, {{P::layernorm}, {P::alternate}});
  }
  // Put in the order that the kernel reads them in.
  keep("inputs and outputs of states", kInputsAndOutputs * state, Cut::none, {{P::alternate}});
  keep("states", kOfState * inner * state / kKernelChunk, Cut::tensor, {{P::alternate}});
  layer.kept.back().stored = Stored::single;
  keep("scan output", inner, Cut::tensor, {{P::alternate}});
  if (is_one_kernel(scan)) return;
  keep("filtered", inner, Cut::tensor, {{P::alternate}});
  keep("steps", inner, Cut::tensor, {{P::alternate, kHalfAgain}});
  keep_outward_input(layer, inner);
}

}  // namespace

void add_selective_scan(Layer& layer, const TransformerModel& model) {
  const SelectiveScan& scan = *model.selective_scan;
  const double h = real(model.hidden);
  const double inner = real(scan.channels);
  const double state = real(scan.state_size);
  const double selected = real(scan.step_rank) + kInputsAndOutputs * state;
  const auto add = [&](const char* name, double outputs, double inputs, Split split) -> Product& {
    layer.products.push_back({.name = name,
                              .part = Part::other,
                              .outputs = outputs,
                              .inputs = inputs,
                              .split = split,
                              .again = {{P::alternate, kHalfAgain}}});
    return layer.products.back();
  };
  Product& inward = add("scan_inward", 2.0 * inner, h, Split::outputs);
  inward.bias = scan.bias;
  inward.gathered = true;
  // The products between stay in the precision of the scan's inputs.
  const auto add_between = [&](const char* name, double outputs, double inputs, Split split) {
    Product& between = add(name, outputs, inputs, split);
    between.wide = true;
    between.quantised = false;
  };
  add_between("scan_selection", selected, inner, Split::inputs);
  add_between("scan_steps", inner, real(scan.step_rank), Split::outputs);
  add("scan_outward", h, inner, Split::inputs).bias = scan.bias;
  // A filter for each channel, with a bias or none; a decay for each element of a state; a skip and
  // a bias of the step for each channel.
  const double filter = real(scan.convolution) + (scan.convolution_bias ? 1.0 : 0.0);
  layer.weights.push_back({Part::other, inner * (filter + state + 2.0), Cut::tensor});
  if (scan.norms == SelectionNorms::scaled) {
    layer.weights.push_back({.part = Part::normalization, .count = selected, .tensors = 3.0});
  }
  add_convolution(layer, inner);
  if (is_one_kernel(scan)) {
    layer.passes.push_back(
        {.name = "convolution_again", .backward = kReadAndWritten * inner, .cut = Cut::tensor});
  }
  if (scan.norms != SelectionNorms::none) {
    add_pass(layer, "selection_norms", Rows::tokens, kReadAndWritten * selected, Cut::none,
             {{P::layernorm}, {P::alternate}});
  }
  add_scan(layer, scan);
  keep_inward_input(layer, "scan input", h);
  keep_tensors(layer, scan, selected);
  layer.exchanges.push_back({.width = h});
  // Ranks that share out channels each have a part of every sum that selects, forward and of its
  // gradient (Dao and Gu 2024, section 8.1).
  layer.exchanges.push_back({.width = selected});
}

}  // namespace headway

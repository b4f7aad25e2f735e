#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/units.h"
#include "sim/costs/measured_collective.h"
#include "sim/costs/measured_curve.h"
#include "sim/costs/product_table.h"
#include "sim/layers/kernel_shape.h"

namespace headway {

/// A number that somebody measured or published: its value in SI base units, how far it may be off
/// (one standard deviation, relative) and where it comes from.
struct Estimate {
  double value = 0.0;
  double spread = 0.0;
  std::string source;
};

/// Published training steps that constants were fitted to, and how many publications they are from;
/// none: nobody has compared predictions with such a one.
struct PublishedSteps {
  int count = 0;
  int sources = 0;
};

/// A kernel of fused attention on a device: forward, for a rate of `efficiency` of the 16-bit peak
/// on long sequences with heads of 128.
struct AttentionKernel {
  Estimate efficiency;
  Estimate backward;       ///< efficiency of the backward pass relative to the forward
  Estimate sequence_half;  ///< s0: sequence length at which half the rate is reached
  Estimate head_exponent;  ///< c in min(1, d/128)^c
};

/// What the best kernel of a device is called beside its attention_kernels.
constexpr std::string_view kFastestAttention = "fastest";

/// What sets one body of software apart from another on the same device: whether norms, activations
/// and residuals are fused, how good its attention kernel is, what it leaves to the host.
struct KernelFamily {
  Estimate memory_traffic;  ///< factor on the bytes of memory-bound passes
  Estimate attention_rate;  ///< factor on the rate of fused attention
  /// One of the device's attention_kernels; the device's best where it has none of that name, or
  /// this is empty.
  std::string attention_kernel;
  Estimate launch_gap;         ///< seconds between two kernels of a layer
  Estimate host_per_layer;     ///< seconds the host needs to issue a layer's forward pass
  Estimate step_overhead;      ///< seconds a step of which the device sees nothing useful
  Estimate loss_traffic{1.0};  ///< factor on the bytes of the loss over the vocabulary
  /// How many times as long as its bytes take the exchange of gradients and parameters is under way
  /// between replicas that shard optimizer states: copies, padding, buckets, more than ranks need.
  Estimate gradient_traffic{1.0};
  Estimate micro_batch_overhead;  ///< seconds a stage loses with every micro-batch
  /// Seconds of the host for each rank's part of a sharded matrix, where it gathers and reduces one
  /// matrix after the other as a list of parts while the device waits.
  Estimate sharded_part;
  /// Memory traffic per score of unfused attention where mask and softmax are not one kernel; else
  /// the device's.
  std::optional<Estimate> unfused_forward_bytes = {};
  std::optional<Estimate> unfused_backward_bytes = {};
  /// How many times longer a product takes at least for each time that the pieces of 16 bytes which
  /// tensor cores load have to be halved to fit its matrix's sides; 1 where software gives all
  /// sides whole pieces.
  Estimate misaligned_product_factor{1.0};
  /// Factors on the time of all kernels, by release ("nemo-25.02"): what changed between releases
  /// without changing any of the above. May be empty.
  std::map<std::string, Estimate> releases;
  PublishedSteps published_steps;  ///< of this software, on any accelerator
};

/// A measured matrix product. The table wins over the formula where it has the shape.
struct MeasuredGemm {
  GemmShape shape;
  Precision precision = Precision::bf16;
  Seconds time;
  double spread = 0.0;
};

/// A measured pass of fused attention: as many keys as queries, values as wide as keys, no window,
/// no sinks. The table wins over the formula where it has the shape.
struct MeasuredAttention {
  AttentionShape shape;
  Pass pass = Pass::forward;
  Seconds time;
  double spread = 0.0;
};

/// How compute kernels of one accelerator behave. Formulas: kernel_cost.h.
struct DeviceCosts {
  std::map<Precision, Estimate> peak_flops;  ///< dense, FLOP/s
  Estimate memory_bytes;                     ///< usable by a program
  Estimate memory_bandwidth;                 ///< bytes/s, peak
  int multiprocessors = 1;

  std::map<Precision, Estimate>
      gemm_efficiency;  ///< of peak, on large shapes; same keys as the peak
  /// Published measurements, by which products of other shapes differ from large ones; of
  /// precisions without, the three constants that follow tell. None of a precision that the
  /// profile has a gemm_table of its own for. May be empty.
  std::map<Precision, ProductTable> products;
  std::string kernels;  ///< the file that those are from; empty: there are none
  /// The share of the time that a product's traffic takes the memory, by which it is longer in
  /// training than in those measurements, whose operands the cache still held from the repetition
  /// before.
  Estimate gemm_cold_operands;
  /// Memory traffic per weight with which every micro-batch adds its gradient to the sum, beyond
  /// the product's own result.
  Estimate gradient_accumulation_bytes;
  /// The share of the rate at which products and attention were measured here that lasts for
  /// minutes; of a profile that was read they have it in them (sustain). None: nobody measured it.
  std::optional<Estimate> sustained_rate;
  Estimate gemm_inner_half;  ///< k0: inner size at which the start of a product costs as much again
  Estimate gemm_quantisation;  ///< w: share of the wave and tile quantisation that is seen
  Estimate gemm_overhead;      ///< t0: seconds a product costs beyond its work
  std::vector<MeasuredGemm> gemm_table;  ///< no shape twice in one precision; may be empty
  /// The rate of products of a recipe over that of its precision with one scale a tensor; 1 for
  /// recipes that are not there. May be empty.
  std::map<Scaling, Estimate> recipe_rate;
  Estimate cast_bytes;  ///< memory traffic per element that is quantised, delayed scaling
  std::map<Scaling, Estimate> recipe_cast_bytes;  ///< the same of other recipes; may be empty

  Estimate attention_efficiency;      ///< of the 16-bit peak, long sequences, head size 128
  Estimate attention_backward;        ///< efficiency of the backward pass relative to the forward
  Estimate attention_sequence_half;   ///< s0: sequence length at which half the rate is reached
  Estimate attention_head_exponent;   ///< c in min(1, d/128)^c
  Estimate attention_context_factor;  ///< on the time, when the sequence is spread over ranks
  /// Share of the operations that a window hides which is really saved; 1: nothing is computed in
  /// vain.
  Estimate attention_window_saving{1.0, 0.0, ""};
  Estimate attention_sink_factor{1.0, 0.0, ""};  ///< on the time, with a learned sink in each row
  /// Kernels of attention that are slower than those constants say, by name; may be empty.
  std::map<std::string, AttentionKernel> attention_kernels;
  /// No shape twice in one pass; may be empty. Of the best kernel.
  std::vector<MeasuredAttention> attention_table;
  Estimate
      batched_gemm_efficiency;  ///< of the linear-layer efficiency: products of unfused attention
  /// c in min(1, d/128)^c, which those reach with heads of d.
  Estimate batched_gemm_head_exponent{0.0, 0.0, ""};
  Estimate misaligned_head_factor;  ///< slow-down of those when the head size is no multiple of 8
  Estimate unfused_forward_bytes;   ///< memory traffic per score
  Estimate unfused_backward_bytes;

  Estimate memory_efficiency;  ///< of memory_bandwidth, of streaming kernels
  /// The share of memory_bandwidth that kernels reach whose bytes are counted one by one; none: as
  /// streaming kernels.
  std::optional<Estimate> copy_efficiency;
  /// The share of memory_bandwidth that kernels reach which look up rows of tables; none: as
  /// streaming kernels.
  std::optional<Estimate> gather_efficiency;
  MeasuredCurve memory_curve;  ///< measured streaming passes over their traffic; may be empty
  std::optional<Estimate> host_bandwidth;  ///< bytes/s to and from the host's memory, each way
  /// Bytes/s that the host's optimizer moves in its memory, an accelerator's part of it.
  std::optional<Estimate> host_memory_bandwidth;
  Estimate optimizer_bytes;  ///< memory traffic of Adam per local parameter
  /// Measured updates of one tensor, over the fp32 bytes of its weights; may be empty.
  MeasuredCurve optimizer_curve;
};

/// Whether the device multiplies matrices of this precision.
[[nodiscard]] bool supports(const DeviceCosts& device, Precision precision);

/// The precision that attention kernels work in: 16 bits, or what a device without has. Nothing for
/// a device of narrower ones only, which no profile describes.
[[nodiscard]] std::optional<Precision> attention_precision(const DeviceCosts& device);

/// Memory traffic per element quantised with that scaling; nullptr if the profile does not know it.
[[nodiscard]] const Estimate* cast_bytes(const DeviceCosts& device, Scaling scaling);

/// How transfers behave in one scope: inside a scale-up domain, or across the fabric.
struct ScopeCosts {
  Estimate bandwidth_efficiency;  ///< of the link's or NIC's rate, that large transfers reach
  Estimate latency;               ///< seconds of one step on top of the wire's own
  Estimate overhead;  ///< seconds of a collective or message on top of its steps: launch
  std::vector<MeasuredCollective> collectives;  ///< no kind twice with the same ranks; may be empty
  /// The bandwidth of the links that they were measured on: over others the closed form answers.
  /// None: any links.
  std::optional<BytesPerSecond> measured_bandwidth;
  /// What a link of limited rate that stood idle lets through at once; none: nothing.
  std::optional<Bytes> burst;
};

/// What collectives over both scopes cost beyond their bytes and steps.
struct OverlapCosts {
  Estimate tensor_parallel_overlapped;  ///< share of overlapped tensor-parallel traffic still seen
  Estimate context_parallel_floor;      ///< share of ring-attention traffic that is always seen
  Estimate gradient_reduce_floor;  ///< share of gradient and parameter traffic overlap never hides
  /// By what share of the shorter one compute and transfers of fully sharded training, or of
  /// tensor-parallel backward passes, slow each other down while both run: they compete for memory
  /// and multiprocessors.
  Estimate sharded_interference;
};

/// What layers with experts cost beyond their operations. Formulas: kernel_cost.h and
/// sim/programs/stage_costs/expert_cost.h.
struct ExpertCosts {
  Estimate grouped_efficiency;  ///< eg: of gemm_efficiency, products of many experts with many rows
  Estimate grouped_half_rows;   ///< m0: rows of an expert at which half of that is reached
  Estimate permutation_bytes;   ///< memory traffic per element put in the experts' order, or back
  Estimate exchange_scale_up;   ///< all-to-all: of the rate of the scale-up fabric
  Estimate exchange_scale_out;  ///< all-to-all: of the rate of a rank's NICs
  Estimate exchange_overhead;   ///< seconds of one exchange beyond its bytes
  Estimate exchange_seen;       ///< share of an exchange that is seen
  Estimate exchange_seen_overlapped;  ///< the same where it overlaps other micro-batches
  Estimate layer_gap;  ///< seconds of a layer's forward pass that the device idles; backward 1.5
  Estimate host_per_layer;  ///< seconds the host needs to issue its forward pass; backward 1.2
};

/// What remains of gaps and of the host's time where CUDA graphs issue the work.
struct GraphCosts {
  Estimate launch_gap;       ///< of the gaps of any layer
  Estimate host_layer{0.1};  ///< of the host's time of a layer without experts, its parts captured
  Estimate expert_layer;     ///< of a layer with experts, its parts captured
  Estimate expert_full;      ///< of a layer with experts, the whole iteration captured
};

/// Random differences between devices and between runs of one operation; lognormal, sigma of the
/// log.
struct Variation {
  Estimate device_speed;    ///< between accelerators of one kind, fixed over a run
  Estimate operation_time;  ///< between executions of one block on one accelerator
};

/// Everything that is known about what things cost on one kind of machine.
struct Profile {
  std::string name;
  std::string accelerator;  ///< matches NodeType::accelerator
  std::string kind;         ///< "measured" or "published"
  std::string provenance;  ///< device, driver, library versions, date, command; or the publications
  DeviceCosts device;
  std::map<std::string, KernelFamily> kernel_families;
  ScopeCosts scale_up;
  ScopeCosts scale_out;
  OverlapCosts overlap;
  std::optional<ExpertCosts> experts;     ///< nothing: no model with experts can be predicted
  std::optional<GraphCosts> cuda_graphs;  ///< nothing: none can be used
  Variation variation;
  PublishedSteps published_steps;  ///< on this accelerator, of any software
};

}  // namespace headway

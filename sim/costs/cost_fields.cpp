#include "sim/costs/cost_fields.h"

#include "sim/costs/read_measurements.h"

namespace headway {
namespace {

constexpr Range kShare = between(0, 1);

const FieldTable<PublishedSteps>& steps_fields() {
  static const FieldTable<PublishedSteps> kFields(
      {{"count", whole(&PublishedSteps::count, between(1, 1e9)).required(), "How many."},
       {"sources", whole(&PublishedSteps::sources, between(1, 1e9)).required(),
        "Of how many publications."}});
  return kFields;
}

FieldMember<KernelFamily> releases() {
  return {.type = {"object of numbers", object_type().schema},
          .read = [](ObjectReader& family, std::string_view key, bool, KernelFamily& read) {
            const auto part = family.part(key);
            if (!part) return;
            ObjectReader reader(*part, family.diagnostics());
            for (const auto& [name, member] : family.members(key)) {
              read.releases[name] = read_estimate(reader, name, between(0.2, 5.0));
            }
            finish_part(family, key, reader);
          }};
}

FieldMember<ScopeCosts> collectives() {
  return {.type = array_type(object_type(), "objects"),
          .read = [](ObjectReader& reader, std::string_view, bool, ScopeCosts& scope) {
            scope.collectives = read_collectives(reader);
          }};
}

FieldMember<ScopeCosts> burst() {
  return {.type = {"bytes", number_type(positive()).schema},
          .read = [](ObjectReader& reader, std::string_view key, bool, ScopeCosts& scope) {
            if (reader.has(key)) scope.burst = Bytes(reader.number(key, positive()));
          }};
}

const FieldTable<ScopeCosts>& scale_up_fields() {
  static const FieldTable<ScopeCosts> kFields(
      {{"bandwidth_efficiency", estimate(&ScopeCosts::bandwidth_efficiency, kShareOfPeak),
        "Share of the link's rate that large transfers reach."},
       {"latency_s", estimate(&ScopeCosts::latency, kNotNegative, "seconds"),
        "Of one step of a collective, on top of the wire's own."},
       {"overhead_s", estimate(&ScopeCosts::overhead, kNotNegative, "seconds"),
        "Of a whole collective or message, on top of its steps: launch."},
       {"collectives", collectives(),
        R"(Collectives as they were measured: kind, ranks and times over sizes. They win over the
closed forms.
default: none measured)"},
       {"measured_bandwidth", quantity(&ScopeCosts::measured_bandwidth, positive()),
        R"(Of the links that the collectives were measured on. On other links the closed forms
answer.
default: any links)"},
       {"burst_bytes", burst(),
        R"(What a link of limited rate that stood idle lets through at once. Steps that were really
run are predicted with it (`headway validate --measured`).
limits: above 0)"}});
  return kFields;
}

const FieldTable<ScopeCosts>& scale_out_fields() {
  static const FieldTable<ScopeCosts> kFields(
      {{"bandwidth_efficiency", estimate(&ScopeCosts::bandwidth_efficiency, kShareOfPeak),
        "Share of the NIC's rate that large transfers reach."},
       {"latency_s", estimate(&ScopeCosts::latency, kNotNegative, "seconds"),
        "Of one step of a collective, on top of NICs, cables and switches."},
       {"overhead_s", estimate(&ScopeCosts::overhead, kNotNegative, "seconds"),
        "Of a whole collective or message, on top of its steps: launch."},
       {"collectives", collectives(),
        R"(Collectives as they were measured: kind, ranks and times over sizes.
limits: as profile.scale_up.collectives
default: none measured)"},
       {"measured_bandwidth", quantity(&ScopeCosts::measured_bandwidth, positive()),
        R"(Of the NICs that the collectives were measured on. On others the closed forms answer.
default: any links)"},
       {"burst_bytes", burst(),
        R"(What a link of limited rate that stood idle lets through at once.
limits: as profile.scale_up.burst_bytes)"}});
  return kFields;
}

const FieldTable<OverlapCosts>& overlap_fields() {
  static const FieldTable<OverlapCosts> kFields(
      {{"tensor_parallel_overlapped", estimate(&OverlapCosts::tensor_parallel_overlapped, kShare),
        R"(Share of overlapped tensor-parallel traffic that is still seen.
see: strategy.tensor_parallel_overlap)"},
       {"context_parallel_floor", estimate(&OverlapCosts::context_parallel_floor, kShare),
        "Least share of context-parallel transfers that is seen, however long attention takes."},
       {"gradient_reduce_floor", estimate(&OverlapCosts::gradient_reduce_floor, kShare),
        R"(Least share of gradient traffic that is seen, however well it overlaps. Not with FSDP.
see: profile.overlap.sharded_interference)"},
       {"sharded_interference", estimate(&OverlapCosts::sharded_interference, kShare),
        R"(With FSDP and in tensor-parallel backward passes that overlap, by what share of the
shorter one compute and the transfers under way slow each other down.
see: strategy.zero_stage, strategy.overlap_tensor_parallel_backward; Zhao et al. 2023
(arXiv:2304.11277), 5)"}});
  return kFields;
}

const FieldTable<ExpertCosts>& expert_fields() {
  static const FieldTable<ExpertCosts> kFields(
      {{"grouped_efficiency", estimate(&ExpertCosts::grouped_efficiency, kShareOfPeak),
        "Share of gemm_efficiency that products of many experts reach with many rows each."},
       {"grouped_half_rows", estimate(&ExpertCosts::grouped_half_rows, kNotNegative),
        "Rows of an expert at which half of that is reached."},
       {"permutation_bytes_per_element", estimate(&ExpertCosts::permutation_bytes, kNotNegative),
        "Memory traffic of an element that is put in the experts' order, or back."},
       {"exchange_scale_up_efficiency", estimate(&ExpertCosts::exchange_scale_up, kShareOfPeak),
        "Share of the scale-up fabric's rate that an all-to-all of tokens reaches."},
       {"exchange_scale_out_efficiency", estimate(&ExpertCosts::exchange_scale_out, kShareOfPeak),
        "Share of the NICs' rate that an all-to-all of tokens reaches."},
       {"exchange_overhead_s", estimate(&ExpertCosts::exchange_overhead, kNotNegative, "seconds"),
        "Of one exchange, beyond its bytes."},
       {"exchange_seen", estimate(&ExpertCosts::exchange_seen, kShare),
        "Share of an exchange that is seen."},
       {"exchange_seen_overlapped", estimate(&ExpertCosts::exchange_seen_overlapped, kShare),
        R"(The same where it overlaps other micro-batches.
see: strategy.overlap_expert_exchange)"},
       {"layer_gap_s", estimate(&ExpertCosts::layer_gap, kNotNegative, "seconds"),
        "For which the device idles in a layer's forward pass; backward 1.5 times as long."},
       {"host_per_layer_s", estimate(&ExpertCosts::host_per_layer, kNotNegative, "seconds"),
        "What the host needs to issue a layer's forward pass; backward 1.2 times as long."}});
  return kFields;
}

const FieldTable<GraphCosts>& graph_fields() {
  static const FieldTable<GraphCosts> kFields(
      {{"launch_gap", estimate(&GraphCosts::launch_gap, kShare),
        "Share that is left of launch_gap_s."},
       {"host_layer", known_estimate(&GraphCosts::host_layer, kShare),
        R"(Share that is left of host_per_layer_s of layers without experts, parts of layers captured; of a
captured iteration nothing is.
default: 0.1)"},
       {"expert_layer", estimate(&GraphCosts::expert_layer, kShare),
        "Share that is left of the gap and host time of experts, parts of layers captured."},
       {"expert_full", estimate(&GraphCosts::expert_full, kShare),
        "The same with the whole iteration captured."}});
  return kFields;
}

const FieldTable<Variation>& variation_fields() {
  static const FieldTable<Variation> kFields(
      {{"device_speed", estimate(&Variation::device_speed, kShare),
        R"(Between accelerators of one kind, fixed over a run.
see: perturbations.device_spread)"},
       {"operation_time", estimate(&Variation::operation_time, kShare),
        R"(Between executions of one block on one accelerator.
see: perturbations.operation_spread)"}});
  return kFields;
}

/// Read, warned of and left.
FieldMember<KernelFamily> without_effect() {
  FieldType type = number_type(positive());
  type.text = "bytes";
  return {.type = std::move(type),
          .read = [](ObjectReader& reader, std::string_view key, bool, KernelFamily&) {
            if (!reader.has(key)) return;
            (void)read_estimate(reader, key, positive());
            Diagnostic told = reader.cursor().member(key)->key_problem(
                fmt::format("\"{}\" of a kernel family says nothing", key),
                "leave it out: strategy.optimizer says what updates parameters");
            told.severity = Severity::warning;
            reader.diagnostics().add(std::move(told));
          }};
}

}  // namespace

const FieldTable<KernelFamily>& family_fields() {
  static const FieldTable<KernelFamily> kFields(
      {{"memory_traffic", estimate(&KernelFamily::memory_traffic, positive()),
        "Factor on the bytes that norms, activations and residuals move."},
       {"attention_rate", estimate(&KernelFamily::attention_rate, positive()),
        R"(Factor on the rate of fused attention.
limits: attention no faster than the peak)"},
       {"attention_kernel", optional_text(&KernelFamily::attention_kernel),
        R"(Which of the device's attention_kernels it runs.
see: profile.device.attention_kernels
default: the fastest, as on devices that have none of that name)"},
       {"launch_gap_s", estimate(&KernelFamily::launch_gap, kNotNegative, "seconds"),
        "Between two kernels of a layer."},
       {"host_per_layer_s", estimate(&KernelFamily::host_per_layer, kNotNegative, "seconds"),
        "What the host needs to issue a layer's forward pass. A layer takes no less."},
       {"step_overhead_s", estimate(&KernelFamily::step_overhead, kNotNegative, "seconds"),
        "Once a step, while the device does nothing useful."},
       {"loss_traffic", known_estimate(&KernelFamily::loss_traffic, positive()),
        "Factor on the bytes that the loss over the vocabulary moves."},
       {"gradient_traffic", known_estimate(&KernelFamily::gradient_traffic, at_least(1)),
        R"(How many times as long as its bytes take the exchange of gradients and parameters between replicas
is under way where optimizer states are sharded. Reports tell the bytes that are sent.)"},
       {"micro_batch_overhead_s",
        known_estimate(&KernelFamily::micro_batch_overhead, kNotNegative, "seconds"),
        "What a pipeline stage loses with every micro-batch."},
       {"sharded_part_s", known_estimate(&KernelFamily::sharded_part, kNotNegative, "seconds"),
        R"(What the host needs for each rank's part of a sharded matrix, of software that gathers and reduces
every matrix as a list of parts, the device waiting.
see: strategy.zero_stage)"},
       {"optimizer_bytes_per_parameter", without_effect(),
        R"(Says nothing: profiles have it whose calibrator took the optimizer for a matter of kernels.
see: strategy.optimizer; profile.device.optimizer_bytes_per_parameter)"},
       {"unfused_forward_bytes_per_score",
        known_estimate(&KernelFamily::unfused_forward_bytes, kNotNegative, "bytes"),
        R"(Memory traffic of unfused attention for each score of 16 bits, of software in which mask and softmax
are not one kernel.
see: strategy.attention
default: profile.device.unfused_forward_bytes_per_score)"},
       {"unfused_backward_bytes_per_score",
        known_estimate(&KernelFamily::unfused_backward_bytes, kNotNegative, "bytes"),
        R"(The same of the backward pass.
see: strategy.attention
default: profile.device.unfused_backward_bytes_per_score)"},
       {"misaligned_product_factor",
        known_estimate(&KernelFamily::misaligned_product_factor, at_least(1)),
        R"(Of software that multiplies matrices as large as the model has them, an odd number of words
among them: how many times longer a product takes, for each time that the pieces of 16 bytes which
tensor cores load have to be halved to fit the sides of its weights. 1: all sides are padded to whole
pieces.
see: NVIDIA, Matrix Multiplication Background User's Guide, section 2.1)"},
       {"releases", releases(),
        R"(Factors on the time of all kernels, by release of the software.
limits: each 0.2 to 5
see: strategy.software_release)"},
       {"published_steps", part(&KernelFamily::published_steps, steps_fields),
        R"(Published training steps of this software that the constants were fitted to.
see: confidence.software)"}});
  return kFields;
}

const FieldTable<Profile>& cost_fields() {
  static const FieldTable<Profile> kFields(
      {{"scale_up", part(&Profile::scale_up, scale_up_fields).required(),
        "Transfers inside a scale-up domain (NVLink, PCIe)."},
       {"scale_out", part(&Profile::scale_out, scale_out_fields).required(),
        "Transfers across the fabric."},
       {"overlap", part(&Profile::overlap, overlap_fields).required(),
        "What remains visible of communication that overlaps compute."},
       {"experts", part(&Profile::experts, expert_fields),
        R"(What layers with experts cost beyond their operations.
see: model.mixture_of_experts
default: none: no model with experts can be predicted)"},
       {"cuda_graphs", part(&Profile::cuda_graphs, graph_fields),
        R"(What CUDA graphs leave of the gaps between kernels and of the host's time.
see: strategy.cuda_graph
default: none: strategy.cuda_graph cannot be used)"},
       {"variation", part(&Profile::variation, variation_fields).required(),
        R"(Random differences: sigma of the logarithm of times.
see: perturbations)"},
       {"published_steps", part(&Profile::published_steps, steps_fields),
        R"(Published training steps on this accelerator that the constants were fitted to.
see: confidence.accelerator)"}});
  return kFields;
}

}  // namespace headway

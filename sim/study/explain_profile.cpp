#include "sim/study/explain_tables.h"

namespace headway {
namespace {

constexpr TopicRow kRows[] = {
    {"profile.schema", "\"headway/profile/1\"", "required",
     "Says that a file is a profile, and of which version."},
    {"profile.name", "text", "required", "What reports call the profile.", "not empty"},
    {"profile.accelerator", "text", "required",
     "The accelerator it was measured on, as node types name theirs.", "not empty",
     "cluster.topology.node.accelerator"},
    {"profile.kind", R"("measured" or "published")", "required",
     "Where its numbers come from. Measured by headway-calibrate, or taken from publications."},
    {"profile.provenance", "object of texts", "required",
     "How it came to be: device, driver, library versions, command, publications.",
     "at least one entry"},
    {"profile.estimate.value", "number", "required",
     "Every number of a profile is an object {\"value\", \"spread\", \"source\"}: this is the "
     "number, "
     "in SI base units."},
    {"profile.estimate.spread", "number, 0 to 1", "required",
     "How far the number may be off: one standard deviation, relative.", "",
     "iteration_time_interval_s"},
    {"profile.estimate.source", "text", "required",
     "The measurement, data sheet or publication that a number is from.", "not empty"},

    {"profile.kernel_families", "object of objects", "required",
     "Bodies of software on the same device, by name.", "at least one", "strategy.kernel_family"},
    {"profile.kernel_families.memory_traffic", "number above 0", "required",
     "Factor on the bytes that norms, activations and residuals move."},
    {"profile.kernel_families.attention_rate", "number above 0", "required",
     "Factor on the rate of fused attention.", "attention no faster than the peak"},
    {"profile.kernel_families.launch_gap_s", "seconds", "required",
     "Between two kernels of a layer."},
    {"profile.kernel_families.host_per_layer_s", "seconds", "required",
     "What the host needs to issue a layer's forward pass. A layer takes no less."},
    {"profile.kernel_families.step_overhead_s", "seconds", "required",
     "Once a step, while the device does nothing useful."},
    {"profile.kernel_families.loss_traffic", "number above 0", "1",
     "Factor on the bytes that the loss over the vocabulary moves."},
    {"profile.kernel_families.micro_batch_overhead_s", "seconds", "0",
     "What a pipeline stage loses with every micro-batch."},
    {"profile.kernel_families.releases", "object of numbers", "none",
     "Factors on the time of all kernels, by release of the software.", "each 0.2 to 5",
     "strategy.software_release"},

    {"profile.scale_up", "an object", "required",
     "Transfers inside a scale-up domain (NVLink, PCIe)."},
    {"profile.scale_up.bandwidth_efficiency", "number, above 0 to 1", "required",
     "Share of the link's rate that large transfers reach."},
    {"profile.scale_up.latency_s", "seconds", "required",
     "Of one step of a collective, on top of the wire's own."},
    {"profile.scale_up.overhead_s", "seconds", "required",
     "Of a whole collective or message, on top of its steps: launch."},
    {"profile.scale_up.collectives", "array of objects", "none measured",
     "Collectives as they were measured: kind, ranks and times over sizes. They win over the "
     "closed forms."},
    {"profile.scale_out", "an object", "required", "Transfers across the fabric."},
    {"profile.scale_out.bandwidth_efficiency", "number, above 0 to 1", "required",
     "Share of the NIC's rate that large transfers reach."},
    {"profile.scale_out.latency_s", "seconds", "required",
     "Of one step of a collective, on top of NICs, cables and switches."},
    {"profile.scale_out.overhead_s", "seconds", "required",
     "Of a whole collective or message, on top of its steps: launch."},
    {"profile.scale_out.collectives", "array of objects", "none measured",
     "Collectives as they were measured: kind, ranks and times over sizes."},

    {"profile.overlap", "an object", "required",
     "What remains visible of communication that overlaps compute."},
    {"profile.overlap.tensor_parallel_overlapped", "number, 0 to 1", "required",
     "Share of overlapped tensor-parallel traffic that is still seen.", "",
     "strategy.tensor_parallel_overlap"},
    {"profile.overlap.context_parallel_floor", "number, 0 to 1", "required",
     "Least share of context-parallel transfers that is seen, however long attention takes."},
    {"profile.overlap.gradient_reduce_floor", "number, 0 to 1", "required",
     "Least share of gradient traffic that is seen, however well it overlaps. Not with FSDP.", "",
     "profile.overlap.sharded_interference"},
    {"profile.overlap.sharded_interference", "number, 0 to 1", "required",
     "With FSDP, by what share of the shorter one compute and the transfers under way slow each "
     "other down.",
     "", "strategy.zero_stage; Zhao et al. 2023 (arXiv:2304.11277), 5"},

    {"profile.variation", "an object", "required",
     "Random differences: sigma of the logarithm of times.", "", "perturbations"},
    {"profile.variation.device_speed", "number, 0 to 1", "required",
     "Between accelerators of one kind, fixed over a run.", "", "perturbations.device_spread"},
    {"profile.variation.operation_time", "number, 0 to 1", "required",
     "Between executions of one block on one accelerator.", "", "perturbations.operation_spread"},
};

}  // namespace

std::span<const TopicRow> profile_topics() { return kRows; }

}  // namespace headway

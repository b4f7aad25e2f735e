#include "sim/reference/explain_tables.h"

namespace headway {
namespace {

constexpr TopicRow kProfileRows[] = {
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
    {"profile.software", "the name of a file", "none",
     "Of calibrate/profiles/software: what the profile does not say itself, object by object, is "
     "as "
     "it says there. Published profiles share theirs; a measured one needs none."},
    {"profile.kernels", "the name of a file", "none",
     "Of calibrate/profiles/kernels: matrix products of the accelerator as others measured them, "
     "which tell how products of all shapes differ from large ones. Precisions of which the profile "
     "has a gemm_table of its own go by that."},
    {"profile.hardware", "object", "none",
     "What the accelerator is called elsewhere: \"published_as\" in rows of published steps, "
     "\"pci_devices\" in NCCL's topologies; and \"scale_up_bandwidth\", the rate of its links.",
     "", "headway import nccl-xml, headway validate"},
    {"profile.hardware.published_as", "array of texts", "none",
     "Its names in files of published training steps: \"H100\".", "", "headway validate"},
    {"profile.hardware.pci_devices", "array of texts", "none",
     "Its PCI device numbers, as NCCL writes them in topologies: \"0x2330\".", "",
     "headway import nccl-xml"},
    {"profile.hardware.scale_up_bandwidth", "bandwidth, above 0", "none",
     "What its links inside a scale-up domain carry one way, by the data sheet.", "",
     "headway validate"},
    {"profile.nccl", "object", "none",
     "How NCCL behaves inside a node of it: times of a collective and of a step, rates of a ring "
     "and "
     "of the switches. Without it nothing is known of NCCL there.",
     "", "strategy.collective_library, headway collective --library"},
    {"profile.nccl.source", "text", "required", "The fit or the publication that they are from.",
     "not empty"},
    {"profile.nccl.overhead_s", "seconds", "required", "What a collective takes with no bytes."},
    {"profile.nccl.step_s", "seconds", "required", "What each step of a ring adds."},
    {"profile.nccl.simple_overhead_s", "seconds", "required",
     "What the protocol Simple takes more, which larger messages use."},
    {"profile.nccl.ring_bytes_per_s", "bytes/s", "required", "What a ring over the node carries."},
    {"profile.nccl.large_ring_bytes_per_s", "bytes/s", "ring_bytes_per_s",
     "What it carries of a message beyond 256 MiB, as published of messages of 1 GiB and more."},
    {"profile.nccl.large_switch_bytes_per_s", "bytes/s", "switch_bytes_per_s",
     "The same of the switches."},
    {"profile.nccl.ring_plateau", "number, at least 1", "1.4",
     "How many times as long latencies of a ring over several nodes are with the protocol Simple: "
     "the "
     "ring is filled and drained."},
    {"profile.nccl.switch_overhead_s", "seconds", "none",
     "What a collective takes that the switches sum up (NVLS)."},
    {"profile.nccl.switch_bytes_per_s", "bytes/s", "none", "What one of these carries."},
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
    {"profile.scale_up.collectives.kind", "text", "required",
     "all_reduce, all_gather, reduce_scatter, broadcast, all_to_all or send_receive.",
     "no kind twice with the same ranks"},
    {"profile.scale_up.collectives.ranks", "integer", "required",
     "Ranks that took part. Groups of another size follow the closed form.", "at least 2"},
    {"profile.scale_up.collectives.spread", "number, 0 to 1", "required",
     "How far one of the times may be off: one standard deviation, relative."},
    {"profile.scale_up.collectives.source", "text", "required",
     "The measurement or publication that the times are from.", "not empty"},
    {"profile.scale_up.collectives.points", "array of objects", "required",
     "Sizes and times. Between them times run on straight lines; outside of them the closed form "
     "answers.",
     "sizes rise"},
    {"profile.scale_up.collectives.points.message_bytes", "bytes", "required",
     "Size of the message as nccl-tests counts it: the whole buffer.", "above 0"},
    {"profile.scale_up.collectives.points.time_s", "seconds", "required",
     "Of the collective on idle links.", "above 0"},
    {"profile.scale_out.collectives.kind", "text", "required",
     "What was measured across nodes: all_reduce and so on.", "",
     "profile.scale_up.collectives.kind"},
    {"profile.scale_out.collectives.ranks", "integer", "required",
     "Ranks that took part, over all nodes.", "", "profile.scale_up.collectives.ranks"},
    {"profile.scale_out.collectives.spread", "number, 0 to 1", "required",
     "How far one of the times may be off: one standard deviation, relative.", "",
     "profile.scale_up.collectives.spread"},
    {"profile.scale_out.collectives.source", "text", "required",
     "The measurement or publication that the times are from.", "",
     "profile.scale_up.collectives.source"},
    {"profile.scale_out.collectives.points", "array of objects", "required", "Sizes and times.", "",
     "profile.scale_up.collectives.points"},
    {"profile.scale_out.collectives.points.message_bytes", "bytes", "required",
     "Size of the message as nccl-tests counts it: the whole buffer.", "",
     "profile.scale_up.collectives.points.message_bytes"},
    {"profile.scale_out.collectives.points.time_s", "seconds", "required",
     "Of the collective on idle links.", "", "profile.scale_up.collectives.points.time_s"},
    {"profile.device", "an object", "required", "How compute kernels of the accelerator behave."},
    {"profile.device.rate_in_training.bf16", "number, above 0 to 2", "not measured",
     "The same of products of 16 bits.", "", "profile.kernels"},
    {"profile.device.rate_in_training.fp8", "number, above 0 to 2", "not measured",
     "The same of products of 8 bits.", "", "profile.kernels"},
    {"profile.device.rate_in_training.fp4", "number, above 0 to 2", "not measured",
     "The same of products of 4 bits.", "", "profile.kernels"},
    {"profile.device.cast_bytes_by_recipe.fp8_current", "bytes", "not known",
     "Quantising an element to fp8 with the scale of its own tensor."},
    {"profile.device.cast_bytes_by_recipe.fp8_rowwise", "bytes", "not known",
     "Quantising an element to fp8 with a scale for each row."},
    {"profile.device.cast_bytes_by_recipe.mxfp8", "bytes", "not known",
     "Quantising an element to fp8 with a scale for each block of 32."},
    {"profile.device.cast_bytes_by_recipe.nvfp4", "bytes", "not known",
     "Quantising an element to fp4 with a scale for each block of 16."},
};

}  // namespace

std::span<const TopicRow> profile_topics() { return kProfileRows; }

}  // namespace headway

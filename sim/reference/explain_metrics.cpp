#include "sim/reference/explain_tables.h"

namespace headway {
namespace {

constexpr TopicRow kMetricRows[] = {
    {"iteration_time_s", "seconds", "",
     "Time of one training step. The median over replicas; of a job in its stride, not the first "
     "steps."},
    {"iteration_time_interval_s", "two numbers of seconds", "",
     "Where 90 % of measured times of such a job should lie (5th and 95th percentile). As wide as "
     "the draws, the spread of the profile's numbers and the model's error against published steps "
     "make it together."},
    {"replica_time_s", "mean, p5, p50, p95 in seconds", "",
     "Time of one training step over the replicas: what the draws alone do, without how far the "
     "profile and the model are off.",
     "", "run.replicas; perturbations; iteration_time_interval_s"},
    {"samples_per_s", "samples a second", "", "global_batch / iteration time."},
    {"tokens_per_s", "tokens a second, or null", "",
     "Of the whole job; null where samples are no sequences."},
    {"tokens_per_s_per_gpu", "tokens a second, or null", "", "Of one accelerator."},
    {"model_tflops_per_gpu", "1e12 FLOP/s", "",
     "Model FLOPs of a step over time and accelerators. Three times the forward pass, attention "
     "counted over the causal half, recomputation not counted.",
     "", "mfu; papers that count the whole square of attention: mfu_noncausal"},
    {"mfu", "share", "",
     "Model FLOPs utilisation: model_tflops_per_gpu over the peak of the precision used.", "",
     "Chowdhery et al. 2022 (arXiv:2204.02311), appendix B; profile.device.peak_flops_per_s"},
    {"mfu_noncausal", "share", "",
     "MFU with attention counted over the whole square, as many papers do.", "",
     "Korthikanti et al. 2022 (arXiv:2205.05198), appendix A"},
    {"hfu", "share", "",
     "Hardware FLOPs utilisation: like mfu, with recomputed operations counted too.", "",
     "strategy.recompute"},
    {"scaling_efficiency", "share", "",
     "Tokens a second of each accelerator here, over those on a smaller job that does the same "
     "work for each replica.",
     "", "scaling_reference; --reference"},
    {"scaling_reference", "object", "",
     "That smaller job: gpus, iteration_time_s, description. The smallest that fits in memory, or "
     "what --reference says."},

    {"confidence", "object", "",
     "What the interval is made of, besides how far the replicas differ; null for a job that was "
     "not simulated. An anchor takes the place of both."},
    {"confidence.software", "object", "",
     "Published training steps of this software that predictions were compared with: of (the "
     "kernel family), measured (by a calibration of yours), steps, sources (publications).",
     "", "profile.kernel_families.published_steps"},
    {"confidence.accelerator", "object", "",
     "The same of this accelerator, with any software; of several kinds, of the least known.", "",
     "profile.published_steps"},
    {"confidence.with_measured_step_s", "object", "",
     "The interval that one measured step of another job of this model, software and accelerator "
     "would leave: low, high; the interval as it is where the software is anchored.",
     "", "headway anchor"},
    {"confidence.job_kind", "text", "",
     "The kind of published steps that model_error was found on."},
    {"confidence.model_error", "share", "",
     "Standard deviation of the model's error (of the logarithm of times) against published steps "
     "of sources that its constants had not seen.",
     "", "headway validate --leave-out source"},
    {"confidence.accelerator_error", "share", "",
     "What comes on top of it where nobody measured the accelerator: no published step of it "
     "entered the fit of the constants, and its matrix products are known by data sheet and a few "
     "benchmarks; 0 of all others.",
     "", "headway validate --rows validation/other_silicon.json"},
    {"confidence.kernel_spread", "share", "",
     "Standard deviation of what kernels cost, as the profile knows it.", "", "headway-calibrate"},
    {"confidence.beyond_calibration", "true or false", "",
     "Some kernels lie outside of what the profile was measured on; the spread is wider for it."},

    {"cost_usd", "US dollars", "",
     "Price of one iteration: GPUs, spot nodes among them, time and price of a GPU-hour; with a "
     "purchase its part of the years of depreciation, with a price of electricity that.",
     "", "cost.usd_per_gpu_hour, cost.purchase, cost.usd_per_kwh"},
    {"cost_usd_per_million_tokens", "US dollars", "", "The same for a million tokens."},
    {"energy_J", "joules", "",
     "Energy of one iteration at the meter. Every GPU's time goes to causes as the critical rank's "
     "does (breakdown_s).",
     "", "cost.power, cost.power_usage_effectiveness"},
    {"energy_by_activity_J", "object", "",
     "The same by what GPUs do meanwhile: computing, exchanging, waiting.", "", "cost.power"},
    {"energy_J_per_token", "joules", "", "The same for one token."},
    {"carbon_kg", "kilograms of CO2", "", "Of one iteration's energy.", "",
     "cost.carbon_kg_per_kwh"},
    {"peak_power_W", "watts", "",
     "What the building has to supply: nodes, spare ones too, at their most, and switches, times "
     "the power usage effectiveness.",
     "", "cost.power"},
    {"objective", "text", "",
     "What the scenario is about: run_cost_usd where the whole run has a price, run_time_s where "
     "it has tokens, post_training_step.time_s where it has post_training, goodput where something "
     "fails, else throughput. Sweeps and comparisons judge "
     "by it.",
     "", "choice"},
    {"choice", "object", "",
     "Which point of a sweep is the best for what its scenario is about; null if none was "
     "simulated."},
    {"choice.objective", "text", "", "By what they are judged.", "", "objective"},
    {"choice.best", "object", "", "The value of each axis of the best point."},
    {"choice.within_1_percent", "array of objects", "",
     "The same of all points that are as good but for 1 %."},
    {"choice.fewest", "object or null", "",
     "Where the only axis counts what is paid for (gpus, nodes, spare nodes): the one of those "
     "with the fewest."},
    {"run_time_s", "seconds", "",
     "When the whole run is through, median: its histories with failures, if the scenario has any, "
     "times what the prediction of an iteration may be off.",
     "", "cost.tokens, reliability.train_tokens"},
    {"run_time_interval_s", "two numbers of seconds", "", "Its 5th and 95th percentile.", "",
     "iteration_time_interval_s; time_to_train_s"},
    {"run_cost_usd", "US dollars", "",
     "Price of the whole run: GPUs, spare nodes too, for run_time_s or reliability.duration; what "
     "it uses up of a purchase, electricity, storage and egress where they have prices."},
    {"run_cost_interval_usd", "two numbers of US dollars", "",
     "Its 5th and 95th percentile: the price of a run as long as run_time_interval_s says (or of "
     "the given duration), and prices off by cost.price_spread."},
    {"run_cost_parts_usd", "object", "", "What it is made of, where it is more than rented GPUs."},
    {"run_cost_parts_usd.gpus", "US dollars", "", "GPUs that are rented."},
    {"run_cost_parts_usd.purchase", "US dollars", "",
     "What the run uses up of what was bought: the share of its years of depreciation, all without "
     "them."},
    {"run_cost_parts_usd.electricity", "US dollars", "", "run_energy_J at cost.usd_per_kwh."},
    {"run_cost_parts_usd.storage", "US dollars", "",
     "What is stored, for as long as the run takes."},
    {"run_cost_parts_usd.egress", "US dollars", "", "What leaves the site."},
    {"run_outlay_usd", "US dollars", "",
     "What has been paid when the run is through: as run_cost_usd, but what was bought in full.",
     "", "cost.purchase"},
    {"run_outlay_interval_usd", "two numbers of US dollars", "", "Its 5th and 95th percentile."},
    {"run_energy_J", "joules", "", "Energy of the whole run, spare nodes' waiting too."},
    {"run_energy_by_activity_J", "object", "",
     "The same by what GPUs do meanwhile; what failures lose but work done again is waiting."},
    {"run_carbon_kg", "kilograms of CO2", "", "Of the whole run's energy."},

    {"anchored", "object", "", "What measured steps changed; absent without an anchor.", "",
     "anchor; headway anchor"},
    {"anchored.steps", "array of objects", "", "The measured steps, a job each."},
    {"anchored.steps.of", "text", "", "Name of the scenario that was measured."},
    {"anchored.steps.measured_s", "seconds", "", "What one iteration of it took."},
    {"anchored.steps.predicted_s", "seconds", "", "What was predicted for it without knowing."},
    {"anchored.steps.software_factor", "number", "",
     "On times of compute, recomputation, optimizer and host: with it the prediction of that job "
     "is the measurement."},
    {"anchored.software_factor", "number", "",
     "What those times are multiplied by here. Another job takes 0.88 of the factor's logarithm, "
     "as the rest is the measured job's own, and less where the two differ in kernels, the "
     "exchange of experts, pipeline, micro-batch, model or release; of several it takes more."},
    {"anchored.iteration_time_without_s", "seconds", "",
     "The iteration here as predicted without the anchor."},
    {"anchored.interval_without_s", "two numbers of seconds", "",
     "Its interval, which an anchor narrows."},

    {"memory_bytes", "object", "", "What accelerators hold at their fullest, against capacity."},
    {"memory_bytes.stages", "array of objects", "", "By pipeline stage, in order."},
    {"memory_bytes.stages.parameters", "bytes", "", "Parameters in the training precision."},
    {"memory_bytes.stages.gradients", "bytes", "", "Gradients, in strategy.gradient_precision."},
    {"memory_bytes.stages.optimizer", "bytes", "",
     "fp32 parameters and the two moments of Adam, or a rank's part of them.", "",
     "Rajbhandari et al. 2020 (arXiv:1910.02054)"},
    {"memory_bytes.stages.activations", "bytes", "",
     "Of all micro-batches in flight, kept for the backward pass.", "",
     "Korthikanti et al. 2022 (arXiv:2205.05198)"},
    {"memory_bytes.stages.buffers", "bytes", "",
     "Loss, gathered parameters, gradients in transit, communicators, context, allocator reserve."},
    {"memory_bytes.stages.total", "bytes", "", "The sum."},
    {"memory_bytes.stages.capacity", "bytes", "",
     "What an accelerator of the stage holds, where they are of several kinds the least."},
    {"memory_bytes.stages.host", "bytes", "",
     "In the host's memory, for each accelerator: offloaded activations, optimizer states and "
     "their gradients. Not in the sum.",
     "", "strategy.offload_layers; strategy.optimizer_offload"},
    {"memory_bytes.largest", "bytes", "", "The sum of the fullest stage."},
    {"memory_bytes.capacity", "bytes", "", "What an accelerator holds.", "",
     "profile.device.memory_bytes"},
    {"memory_bytes.fullest_stage", "whole number", "", "Counted from 0."},
    {"memory_bytes.host", "object", "",
     "What is offloaded into the memory of the node with the least room for it. Absent where "
     "nothing is.",
     "", "strategy.offload_layers; strategy.optimizer_offload"},
    {"memory_bytes.host.needed", "bytes", "", "By all accelerators of that node."},
    {"memory_bytes.host.capacity", "bytes", "",
     "What that node has; 0 where nobody says it, and nothing is held against it.", "",
     "cluster.topology.node.host_memory"},
    {"memory_bytes.fits", "true or false", "",
     "The fullest stage fits, and the fullest host. If not, nothing is simulated and the exit code "
     "is 1."},

    {"breakdown_s", "object", "",
     "Where the time goes of the stage that computes most, in the replica that ends last (of "
     "asynchronous workers: of the average one); the parts add up to the iteration."},
    {"breakdown_s.compute", "seconds", "", "Kernels of forward and backward passes."},
    {"breakdown_s.recompute", "seconds", "", "Forward passes run again in the backward pass.", "",
     "strategy.recompute"},
    {"breakdown_s.tensor_parallel", "seconds", "", "Collectives inside layers that nothing hides.",
     "", "strategy.tensor_parallel_overlap"},
    {"breakdown_s.context_parallel", "seconds", "",
     "Keys and values under way between ranks that share a sequence, as far as attention does not "
     "hide them."},
    {"breakdown_s.expert_parallel", "seconds", "",
     "Tokens under way to and from experts, exposed."},
    {"breakdown_s.embedding_exchange", "seconds", "",
     "Pooled rows of embedding tables and their gradients under way between ranks, exposed.", "",
     "strategy.embedding_tables"},
    {"breakdown_s.pipeline_bubble", "seconds", "",
     "A stage has nothing to do because of the order of passes: what the stage that limits the "
     "pipeline waits for others where every rank is nominal.",
     "",
     "strategy.virtual_stages; about (stages - 1) / (micro-batches x virtual stages) of compute"},
    {"breakdown_s.pipeline_transfer", "seconds", "",
     "A stage waits for a message that is under way.", "", "strategy.overlap_pipeline_transfers"},
    {"breakdown_s.data_parallel_exposed", "seconds", "",
     "Gradient and parameter collectives that compute does not hide, after the last rank joined.",
     "", "strategy.overlap_gradient_reduce"},
    {"breakdown_s.optimizer", "seconds", "", "The optimizer step."},
    {"breakdown_s.straggler_wait", "seconds", "",
     "Lost to slower ranks: own slowness, and waiting for others beyond the bubble. Others may be "
     "late because links that they share with more flows hold them up, too: where perturbations "
     "make no rank slow, that is all of it.",
     "", "perturbations; links"},
    {"parameter_servers", "an object", "", "What servers and their workers did; null without any.",
     "", "strategy.synchronisation"},
    {"parameter_servers.servers", "a count", "", "Servers."},
    {"parameter_servers.workers", "a count", "", "Workers that push to them."},
    {"parameter_servers.idle_share", "share, 0 to 1", "",
     "Of the workers' time, in which they do not compute."},
    {"parameter_servers.hottest_server", "a name", "", "The server that is at work longest."},
    {"parameter_servers.hottest_server_busy", "share, 0 to 1", "", "Of the iteration."},
    {"parameter_servers.dropped_share", "share, 0 to 1", "", "Of pushes, those that came too late.",
     "", "strategy.synchronisation.backup_workers"},
    {"parameter_servers.mean_staleness", "updates", "",
     "Of the same parameters by others, between a worker's read and its own update. Of n alike "
     "asynchronous workers n - 1."},
    {"parameter_servers.staleness", "array of shares", "",
     "Of updates: the first of those that are not stale, the next of those stale by one, and so "
     "on."},
    {"accelerator_kinds", "an object", "",
     "What the accelerators of each kind do; null where all are of one kind.", "",
     "cluster.topology.other_nodes"},
    {"accelerator_kinds.kinds", "array of objects", "",
     "Of each kind: accelerator, profile, gpus, least_micro_batches and most_micro_batches of a "
     "replica that they work on, busy_share of their time that they compute (the host's share "
     "too), waiting_share that they wait for others that compute (pipeline bubble, stragglers), "
     "memory_bytes of the fullest and capacity_bytes."},
    {"breakdown_s.server_wait", "seconds", "",
     "Waiting for parameter servers to answer, until the last answer is on its way.", "",
     "strategy.synchronisation"},
    {"breakdown_s.data_loading", "seconds", "",
     "Waiting for samples, where the scenario has data_loading."},
    {"breakdown_s.other", "seconds", "", "Host work and launches during which the device idles.",
     "", "profile.kernel_families.step_overhead_s"},

    {"critical_rank", "text", "",
     "The rank that finishes last; of asynchronous workers there is none."},
    {"critical_path", "array of objects", "",
     "The chain of operations and transfers that decides how long the iteration takes: where, "
     "what, start_s, end_s, operations."},
    {"activity", "object", "",
     "What one group of each pipeline stage did when, for a drawing; at most 16 rows. Only where a "
     "report is written or printed.",
     "", "headway simulate --trace, for every operation"},
    {"activity.kinds", "array of texts", "", "What there is to do: forward, backward, waiting."},
    {"activity.rows", "array of objects", "", "By rank group."},
    {"activity.rows.where", "text", "", "Stage and replica."},
    {"activity.rows.spans_s", "array of arrays", "",
     "Each: index of its kind, start, end. A row of more than 500 is cut into 500 slices, each of "
     "the kind that takes most of it."},
    {"links", "array of objects", "",
     "The most used links: from, to, capacity_bytes_per_s, carried_bytes, utilisation."},
    {"fabric", "object", "",
     "What crossed the whole fabric, summed between its tiers; absent where nothing was "
     "simulated."},
    {"fabric.tiers", "array of objects", "",
     "Bottom-up, NIC ports first: name, and count of ports or switches."},
    {"fabric.cables", "array of objects", "",
     "Between two tiers, given by their index (lower, upper): how many cables, and what went up "
     "and down (carried_bytes, capacity_bytes_per_s of all, utilisation, highest_utilisation of "
     "one). Inside a tier both directions are up."},
    {"what_if", "object", "",
     "What slow ranks and links cost, of the median replica run again without one cause after "
     "another; with --what-if, or where the scenario lists slow parts.",
     "", "simulate --what-if; Lin et al. 2025 (arXiv:2505.05713)"},
    {"what_if.iteration_time_s", "seconds", "", "T: as it is."},
    {"what_if.ideal_time_s", "seconds", "",
     "T_ideal: every accelerator as fast as the job's median one, nothing drawn, no fault in the "
     "fabric. A slowness that all share is nobody's fault."},
    {"what_if.slowdown", "number", "",
     "S = T / T_ideal; the paper calls a job straggling from 1.1."},
    {"what_if.wasted_share", "share", "", "1 - 1 / S: of the accelerators' time."},
    {"what_if.wasted_gpu_hours_per_iteration", "hours", "", "(T - T_ideal) x accelerators."},
    {"what_if.wasted_gpu_hours_per_day", "hours", "", "wasted_share x accelerators x 24 hours."},
    {"what_if.slowest_stage", "whole number", "",
     "The pipeline stage with most to do at nominal speed, counted from 0."},
    {"what_if.stage_imbalance", "number", "", "Its work over that of the mean stage."},
    {"what_if.removals", "array of objects", "",
     "One cause taken away each: kind (cause, operation, stage, replica, node, rank), what, "
     "iteration_time_s without it, gain_s, gpu_hours_per_iteration, gpu_hours_per_day. Of places "
     "of a kind the slowest is tried, with --what-if the five slowest."},
    {"mitigations", "array of objects", "",
     "What could be done about stragglers, most throughput first, as in bottlenecks: spare_nodes "
     "(in place of all nodes that the scenario lists as slow, which gives what taking the list "
     "away does; without a list, of all that are more than 5 % slower than the typical one), "
     "more_spare_nodes (of both), fewer_replicas, and where replicas hold everything "
     "backup_replicas (nobody waits for the last 5 %) and local_updates (gradients exchanged every "
     "8 steps). Speedup is that of samples a second of the whole job; what a sample teaches is "
     "taken to be the same. Together with what_if.",
     "", "simulate --what-if; Chen et al. 2016 (arXiv:1604.00981), Stich 2018 (arXiv:1805.09767)"},
    {"network_extremes", "array of objects", "",
     "What links that are shared fairly at any instant do not see, each at its worst, as in "
     "bottlenecks: paused_links on fabrics that lose no packets (InfiniBand, RoCE), where switches "
     "pause whole links and nobody sends more slowly because of it; hash_collisions where flows "
     "are "
     "hashed onto paths (ecmp), the worst of eight draws; uneven_flowlets where a fabric spreads "
     "flowlets. The truth lies between these and iteration_time_s. With --what-if, of jobs "
     "on up to 2,048 accelerators.",
     "", "simulate --what-if, run.flows, topology.routing.spread"},
    {"shared_fabric", "object", "",
     "How fast each of several jobs is beside the others; only if the scenario has jobs.", "",
     "jobs"},
    {"shared_fabric.stays", "array of objects", "",
     "Time cut where a job joins, leaves or is given other nodes: job, from_s, to_s (null: never), "
     "gpus, samples of an iteration, alone_s and iteration_time_s (means over several iterations, "
     "alone on the same nodes and beside the others), slowdown. All jobs of a stretch begin "
     "together; what a change of nodes costs by itself is not counted."},
    {"shared_fabric.slowdown", "ratio", "",
     "How much longer than alone this job's iterations take: over the run where the scenario says "
     "how long that is, else until the last of the others has left. iteration_time_s and all that "
     "follows from it (throughput, time, cost) are of the job beside the others; scaling, what-if "
     "and critical_path are of it alone.",
     "", "jobs"},
    {"shared_fabric.totals", "array of objects", "",
     "Of each job: samples in the stays that end, and the slowdown, of the stay that does not end "
     "or else over all that was done."},
    {"bottlenecks", "array of objects", "",
     "What would help, most first: name, what, iteration_time_s, speedup (samples a second over "
     "those now). With --what-if only.",
     "", "simulate --what-if"},
    {"warnings", "array of texts", "", "What limits trust in this result, and what would help."},
    {"not_modelled", "array of texts", "", "Simplifications, those that touch this job first."},

    {"question", "object", "", "What was asked, for people: model, cluster, strategy, profile."},
    {"scenario", "object", "", "The scenario with every default written out; reads back the same."},
    {"provenance", "object", "",
     "Versions, fingerprints of the files read, and the command line that gives this result."},
    {"gpus", "whole number", "", "Accelerators of the job."},
    {"micro_batches", "whole number", "", "That a replica works off in a step."},
    {"events", "whole number", "", "That the simulator handled in the median replica."},
    {"sharing", "object", "",
     "What sharing links cost the simulator there: flows, moments in which links were shared out "
     "anew (settlings), flows computed anew in these, rates that changed."},
    {"sharing.flows", "number", "", "Transfers and collectives that crossed the fabric."},
    {"sharing.settlings", "number", "", "Moments in which links were shared out anew."},
    {"sharing.recomputed", "number", "", "Flows whose rate was computed in these, in every round."},
    {"sharing.changed", "number", "", "Rates that came out different."},

    {"algbw", "1e9 bytes/s", "", "Algorithm bandwidth of a collective: size / time.", "",
     "nccl-tests, doc/PERFORMANCE.md; headway collective"},
    {"busbw", "1e9 bytes/s", "",
     "Bus bandwidth: algbw times what makes it comparable with the links' rate, 2 (n - 1) / n for "
     "an all-reduce.",
     "", "nccl-tests, doc/PERFORMANCE.md"},
};

}  // namespace

std::span<const TopicRow> metric_topics() { return kMetricRows; }

}  // namespace headway

#include "sim/reference/explain_tables.h"

namespace headway {
namespace {

constexpr TopicRow kRows[] = {
    {"schema", "\"headway/scenario/1\"", "required",
     "Says that a file is a scenario, and of which version. A later version of Headway reads files "
     "of this one, or says what changed.",
     "", "headway check"},
    {"name", "text", "the path of the file", "What reports call the scenario."},
    {"description", "text", "empty",
     "For people: what is asked, where the numbers are from. Changes no result."},
    {"model", "an object, or the name of a file", "required",
     "What is trained. A name is looked for beside the scenario, then in the model library.", "",
     "headway list models; model.huggingface"},
    {"cluster", "an object, or the name of a topology file", "required",
     "What the job runs on. Either a topology (in place or by name), or an object with a topology "
     "and what the job takes of it.",
     "", "cluster.topology, cluster.nodes"},
    {"cluster.topology", "an object, or the name of a file", "required",
     "Nodes and the fabric between them. A name is looked for beside the scenario, then among the "
     "shipped topologies.",
     "", "headway list topologies; cluster.topology.fabric.kind"},
    {"cluster.nodes", "whole number, 1 to 1,000,000", "the topology's",
     "How many nodes of the fabric the job uses. A generated fabric is built that large; of an "
     "explicit graph the first nodes are taken.",
     "within what the fabric has room for", "cluster.topology.nodes"},
    {"cluster.job_nodes", "whole number from 1", "all of them",
     "How many of the nodes are the job's own, the first ones. The others are idle, or other jobs "
     "have them.",
     "up to cluster.nodes", "jobs"},
    {"cluster.rank_order", "array of texts", R"(["tensor", "context", "data", "pipeline"])",
     "The order in which ranks are placed on neighbouring accelerators, innermost first. The "
     "default "
     "is that of Megatron-LM: tensor-parallel ranks are neighbours, pipeline stages are far apart.",
     "names tensor, context, data and pipeline, each once"},
    {"profile", "an object, or the name of a file", "required",
     "What compute and communication cost on this kind of accelerator. A name is looked for beside "
     "the scenario, then among the shipped profiles.",
     "of the accelerator that the cluster's nodes have", "headway list profiles; --profile"},
    {"strategy", "an object, or the name of a file", "required",
     "How the job is split over the accelerators, and what the framework does.", "",
     "strategy.preset, strategy.tensor_parallel"},

    {"perturbations", "an object", "as the profile says",
     "How ranks differ from the nominal accelerator.", "",
     "profile.variation; breakdown_s.straggler_wait"},
    {"perturbations.device_spread", "number, 0 to 1", "the profile's variation.device_speed",
     "How much accelerators differ in speed, fixed over the run. Sigma of the logarithm of each "
     "one's time factor; 0 makes all equal.",
     "", "Sinha et al. 2022 (arXiv:2208.11035) measure the variation between GPUs of a cluster"},
    {"perturbations.operation_spread", "number, 0 to 1", "the profile's variation.operation_time",
     "How much repetitions of one block differ on one accelerator. Sigma of the logarithm, drawn "
     "anew for each execution."},
    {"perturbations.slow_accelerators", "array of objects", "[]",
     "Accelerators that are slower (or faster) by a known factor: what one straggler costs."},
    {"perturbations.slow_accelerators.accelerator", "whole number from 0", "required",
     "Which one, counted through the cluster, node by node.", "within the cluster; none twice"},
    {"perturbations.slow_accelerators.time_factor", "number, 0.001 to 1000", "required",
     "What its compute times are multiplied by. 1.5 is 1.5 times slower."},
    {"perturbations.slow_nodes", "array of objects", "[]",
     "The same for all accelerators of a node.", "", "simulate --what-if"},
    {"perturbations.slow_nodes.node", "whole number from 0", "required", "Which one.",
     "within the cluster; none twice, and none of its accelerators in slow_accelerators"},
    {"perturbations.slow_nodes.time_factor", "number, 0.001 to 1000", "required",
     "What compute times of its accelerators are multiplied by."},
    {"perturbations.operation_jitter", "an object", "operation_spread",
     "How repetitions of one block differ, by another distribution than the lognormal one. Ranks "
     "of a tensor-parallel group wait for the unluckiest among them.",
     "instead of operation_spread"},
    {"perturbations.operation_jitter.distribution",
     R"("lognormal", "gamma", "exponential" or "quantiles")", "required",
     "Of the factor on a block's time: lognormal with median 1, gamma with mean 1, 1 plus an "
     "exponential variable, or as observed."},
    {"perturbations.operation_jitter.spread", "number, 0 to 1", "required, but for quantiles",
     "Sigma of the logarithm (lognormal), coefficient of variation (gamma), mean of what is added "
     "(exponential)."},
    {"perturbations.operation_jitter.time_factors", "array of numbers", "required for quantiles",
     "The distribution's quantiles at equal steps from the least to the most."},
    {"perturbations.micro_batch_jitter", "an object", "none",
     "How the work of micro-batches differs, as with sequences of different lengths packed into "
     "them: one draw for each micro-batch of each replica, for all its passes on all stages.",
     "", "Lin et al. 2025 (arXiv:2505.05713), section 5.3: sequence length imbalance"},
    {"perturbations.micro_batch_jitter.distribution",
     R"("lognormal", "gamma", "exponential" or "quantiles")", "required",
     "Of the factor on compute times, as in operation_jitter."},
    {"perturbations.micro_batch_jitter.spread", "number, 0 to 1", "required, but for quantiles",
     "As in operation_jitter."},
    {"perturbations.micro_batch_jitter.time_factors", "array of numbers", "required for quantiles",
     "The distribution's quantiles at equal steps from the least to the most: mean square of the "
     "lengths in a micro-batch over that of all, where attention is what counts."},
    {"perturbations.slow_episodes", "array of objects", "[]",
     "Accelerators that are slower for a part of the iteration: thermal throttling, or, without an "
     "end, a node that fails slow. Times count from the start of the iteration."},
    {"perturbations.slow_episodes.node", "whole number from 0", "none", "All of its accelerators.",
     "a node or an accelerator"},
    {"perturbations.slow_episodes.accelerator", "whole number from 0", "none",
     "Counted through the cluster.", "a node or an accelerator"},
    {"perturbations.slow_episodes.from", "text with a unit: time", "\"0 s\"", "When it begins."},
    {"perturbations.slow_episodes.to", "text with a unit: time", "never", "When it ends."},
    {"perturbations.slow_episodes.time_factor", "number, 1 to 1000", "required",
     "What compute times are multiplied by meanwhile."},
    {"perturbations.pauses", "array of objects", "[]",
     "Accelerators that stand still again and again: garbage collection, noise of the operating "
     "system. The ranks that wait for each other stand still while one of them does."},
    {"perturbations.pauses.node", "whole number from 0", "all", "All of its accelerators."},
    {"perturbations.pauses.accelerator", "whole number from 0", "all",
     "Counted through the cluster."},
    {"perturbations.pauses.every", "text with a unit: time", "required",
     "From the start of one pause to the start of the next."},
    {"perturbations.pauses.lasts", "text with a unit: time", "required", "How long one is.",
     "less than every"},
    {"perturbations.pauses.together", "true or false", "false",
     "Whether all pause at the same moments, as with planned garbage collection; else each has a "
     "phase of its own, drawn evenly.",
     "", "Lin et al. 2025 (arXiv:2505.05713)"},
    {"perturbations.slow_links", "array of objects", "[]",
     "Cables that carry less for a part of the iteration, both ways: a degraded cable, a link that "
     "flaps. For the whole iteration they are faults of the topology."},
    {"perturbations.slow_links.cable", "array of two texts", "none",
     "What it joins, as `headway route` names it; all cables between the two.", "a cable or a nic"},
    {"perturbations.slow_links.nic", "text", "none", "The cable of this NIC.", "a cable or a nic"},
    {"perturbations.slow_links.from", "text with a unit: time", "\"0 s\"", "When it begins."},
    {"perturbations.slow_links.to", "text with a unit: time", "never", "When it ends.",
     "required where bandwidth_factor is 0"},
    {"perturbations.slow_links.bandwidth_factor", "number, 0 to 1", "required",
     "What is left of its rate meanwhile; 0 is down."},

    {"perturbations.background_traffic", "array of objects", "[]",
     "What two nodes send each other for somebody else, evenly over the NICs of the node. It gets "
     "its max-min share of every link, up to its rate."},
    {"perturbations.background_traffic.from_node", "whole number from 0", "required",
     "Who sends. Both ways takes two entries."},
    {"perturbations.background_traffic.to_node", "whole number from 0", "required", "Who receives.",
     "another node"},
    {"perturbations.background_traffic.rate", "text with a unit: bandwidth", "required",
     "What the node sends where nothing else is in the way."},
    {"perturbations.background_traffic.from", "text with a unit: time", "\"0 s\"",
     "When it begins, from the start of the iteration."},
    {"perturbations.background_traffic.to", "text with a unit: time", "never", "When it ends."},

    {"jobs", "array of objects", "[]",
     "Other jobs on the same fabric: how much all of them slow each other down. The scenario's own "
     "job is there all the time, on the first cluster.job_nodes nodes.",
     "no node belongs to two jobs at a time", "shared_fabric; cluster.job_nodes"},
    {"jobs.name", "text", "required", "What results call the job.", "none twice"},
    {"jobs.model", "an object, or the name of a file", "the scenario's", "What it trains."},
    {"jobs.strategy", "an object, or the name of a file", "required",
     "How it is split; without data_parallel, which is what its nodes leave."},
    {"jobs.first_node", "whole number from 0", "required", "Its first node; the others follow."},
    {"jobs.sizes", "array of objects", "required",
     "When the job is there, and on how many nodes: it joins with the first one, is given or "
     "gives back nodes with the next ones, and leaves with one of 0 nodes.",
     "in order of time"},
    {"jobs.sizes.at", "text with a unit: time", "required", "From then on."},
    {"jobs.sizes.nodes", "whole number from 0", "required", "So many nodes; 0 for none.",
     "that divide the batch as the strategy asks"},

    {"anchor", "an object", "none",
     "One measured step of your own run. It says how fast the software is on these machines, and "
     "replaces what the profile knows of that on average; network and pipeline stay as modelled.",
     "", "headway anchor; anchored.software_factor"},
    {"anchor.measured_iteration_time", "text with a unit: time", "required",
     "What one optimizer step took, in the steady state.",
     "not faster than the peaks of the hardware allow"},
    {"anchor.scenario", "an object, or the name of a file", "this very scenario",
     "The job that was measured, on the same kind of accelerator. It has no anchor of its own."},

    {"cost", "an object", "none",
     "What the cluster costs. Results then have what an iteration and, with tokens, the whole run "
     "cost.",
     "", "cost_usd, energy_J"},
    {"cost.usd_per_gpu_hour", "number, 0 to 1e9", "none",
     "Price of one accelerator for an hour, everything around it included."},
    {"cost.power", "an object", "none",
     "What one accelerator draws, by what its time goes to. Shares of a node's power, if hosts and "
     "switches are to be counted."},
    {"cost.power.computing", "text with a unit: W, kW or MW", "required",
     "While it computes, recomputes or updates parameters."},
    {"cost.power.exchanging", "text with a unit: W, kW or MW", "required",
     "While nothing but communication is under way on it."},
    {"cost.power.waiting", "text with a unit: W, kW or MW", "required",
     "In bubbles, and while it waits for others, for data or for the host."},
    {"cost.power_usage_effectiveness", "number, 1 to 10", "1",
     "Energy of the whole building over that of the computers.", "needs power", "ISO/IEC 30134-2"},
    {"cost.carbon_kg_per_kwh", "number, 0 to 100", "none",
     "Kilograms of CO2 that a kilowatt-hour of this grid stands for.", "needs power"},
    {"cost.tokens", "number", "none", "Tokens that the whole run trains on.", "",
     "run_cost_usd, run_time_s"},
    {"cost.usd_per_gb_month", "number, 0 to 1e9", "none",
     "Price of keeping a GB (1e9 bytes) for 30 days.", "needs stored and tokens",
     "run_cost_parts_usd"},
    {"cost.stored", "text with a unit: size", "none",
     "What is kept while the run lasts: training data, checkpoints.", "needs usd_per_gb_month"},
    {"cost.usd_per_gb_egress", "number, 0 to 1e9", "none", "Price of a GB that leaves the site.",
     "needs egress and tokens", "run_cost_parts_usd"},
    {"cost.egress", "text with a unit: size", "none",
     "What leaves the site in the whole run: the trained model, checkpoints.",
     "needs usd_per_gb_egress"},

    {"run", "an object", "{}", "How the scenario is simulated; says nothing about the job itself."},
    {"run.replicas", "whole number, 1 to 10,000", "5",
     "Simulations with other random draws. The median is reported, and the interval widens by how "
     "much they differ. Without anything random all are one.",
     "", "--replicas; iteration_time_interval_s"},
    {"run.seed", "whole number, 0 to 2^53", "1",
     "Where the random draws start. The same seed gives the same result to the last byte.", "",
     "--seed"},
    {"run.gradient_algorithm", R"("auto", "ring", "tree", "hierarchical", "nvls" or "in_network")",
     "\"auto\"",
     "How all-reduces of gradients run. \"auto\" is what was measured, else the fastest on an idle "
     "network of what strategy.collective_library has. in_network is NVIDIA SHARP at its best: the "
     "switches of the fabric add; nvls: those of the scale-up domain do.",
     "", "headway collective --algorithm"},
    {"run.flows", R"("incremental" or "simgrid")", "\"incremental\"",
     "Who shares out the links among flows. Both are exact max-min and agree; the incremental one "
     "is fast on large jobs."},
    {"run.fold_equal_links", "true or false", "true",
     "Links that always carry the same are simulated once. Changes no result; off only to show "
     "that."},
};

}  // namespace

std::span<const TopicRow> scenario_topics() { return kRows; }

}  // namespace headway

#include <nlohmann/json.hpp>

#include "sim/reference/explain_tables.h"

namespace headway {

std::vector<FieldRow> scenario_rows() {
  return {
      {"schema", constant_type("headway/scenario/1"), "required",
       "Says that a file is a scenario, and of which version. A later version of Headway reads "
       "files of this one, or says what changed.",
       "", "headway check"},
      {"name", text_type(), "the path of the file", "What reports call the scenario."},
      {"description", text_type(), "empty",
       "For people: what is asked, where the numbers are from. Changes no result."},
      {"goal", text_type(), "none",
       "What `headway plan` is to reach, as its --goal has it; --goal is taken instead. Changes no "
       "prediction.",
       "", "headway plan --help"},
      {"candidates", array_type(object_type(), "objects"), "none",
       "Clusters of which `headway plan` takes one. Each may have parts of a scenario: model, "
       "cluster, profile, strategy, cost, perturbations, reliability, statistics, data_loading; "
       "their fields are taken instead of the scenario's own.",
       "each has a name of its own", "candidate"},
      {"candidates.name", text_type(), "required", "What reports call it."},
      {"candidates.topology", file_type(), "the scenario's", "The same as cluster.topology."},
      {"candidates.delivery",
       {"\"domain\", \"unit\" or a whole number", JsonValue(nlohmann::json::object())},
       R"("domain")",
       "What is delivered at a time, and so in what steps it is bought: whole scale-up domains, "
       "units of the fabric (nodes on the same leaf switches), or so many nodes, as of a rack."},
      {"candidates.cluster", file_type(), "the scenario's", "Its topology is taken.", "",
       "cluster"},
      {"candidates.profile", file_type(), "the scenario's", "Of its accelerator.", "", "profile"},
      {"candidates.strategy", file_type(), "the scenario's",
       "Fields that differ, such as the precision.", "", "strategy"},
      {"candidates.cost", object_type(), "the scenario's", "Fields that differ.", "", "cost"},
      {"candidates.perturbations", object_type(), "the scenario's", "Fields that differ.", "",
       "perturbations"},
      {"candidates.reliability", object_type(), "the scenario's", "Fields that differ.", "",
       "reliability"},
      {"candidates.model", file_type(), "the scenario's", "Another one.", "", "model"},
      {"candidates.statistics", object_type(), "the scenario's", "Fields that differ.", "",
       "statistics"},
      {"candidates.data_loading", object_type(), "the scenario's", "Fields that differ.", "",
       "data_loading"},
      {"candidate", text_type(), "the first", "Which of the candidates this scenario is.",
       "the name of one", "candidates"},
      {"alternatives", object_type(), "none",
       "Lists by name, of entries as candidates have: parts of a scenario that stand under one "
       "name, such as ways to synchronise, networks or models. One entry of each list is taken, "
       "behind the candidate, list after list by their names; a sweep takes all with --axis "
       "/choose/LIST=NAME,NAME.",
       "", "choose"},
      {"choose", object_type(), "the first of each list",
       "Which of the alternatives this scenario is, by list.", "names of lists and of entries",
       "alternatives"},
      {"model", file_type(), "required",
       "What is trained. A name is looked for beside the scenario, then in the model library.", "",
       "headway list models; model.huggingface"},
      {"cluster",
       {"an object, or the name of a topology file", file_type().schema},
       "required",
       "What the job runs on. Either a topology (in place or by name), or an object with a "
       "topology and what the job takes of it.",
       "",
       "cluster.topology, cluster.nodes"},
      {"cluster.topology", file_type(), "required",
       "Nodes and the fabric between them. A name is looked for beside the scenario, then among "
       "the shipped topologies.",
       "", "headway list topologies; cluster.topology.fabric.kind"},
      {"cluster.nodes", whole_type(between(1, 1'000'000)), "the topology's",
       "How many nodes of the fabric the job uses. A generated fabric is built that large; of an "
       "explicit graph the first nodes are taken.",
       "within what the fabric has room for", "cluster.topology.nodes"},
      {"cluster.job_nodes", whole_type(at_least(1)), "all of them",
       "How many of the nodes are the job's own, the first ones. The others are idle, or other "
       "jobs have them.",
       "up to cluster.nodes", "jobs"},
      {"cluster.rank_order", array_type(text_type(), "texts"),
       R"(["tensor", "context", "data", "pipeline"])",
       "The order in which ranks are placed on neighbouring accelerators, innermost first. The "
       "default is that of Megatron-LM: tensor-parallel ranks are neighbours, pipeline stages are "
       "far apart.",
       "names tensor, context, data and pipeline, each once"},
      {"profile", either(file_type(), array_type(file_type(), "those")), "required",
       "What compute and communication cost on this kind of accelerator. A name is looked for "
       "beside the scenario, then among the shipped profiles. Where nodes have several kinds, a "
       "list, of which each node takes the one of its accelerator.",
       "of the accelerators that the cluster's nodes have",
       "headway list profiles; --profile; cluster.topology.other_nodes"},
      {"strategy", file_type(), "required",
       "How the job is split over the accelerators, and what the framework does.", "",
       "strategy.preset, strategy.tensor_parallel"},
      {"perturbations", object_type(), "as the profile says",
       "How ranks differ from the nominal accelerator.", "",
       "profile.variation; breakdown_s.straggler_wait"},
      {"perturbations.device_spread", number_type(between(0, 1)),
       "the profile's variation.device_speed",
       "How much accelerators differ in speed, fixed over the run. Sigma of the logarithm of each "
       "one's time factor; 0 makes all equal.",
       "", "Sinha et al. 2022 (arXiv:2208.11035) measure the variation between GPUs of a cluster"},
      {"perturbations.operation_spread", number_type(between(0, 1)),
       "the profile's variation.operation_time",
       "How much repetitions of one block differ on one accelerator. Sigma of the logarithm, drawn "
       "anew for each execution."},
      {"perturbations.slow_accelerators", array_type(object_type(), "objects"), "[]",
       "Accelerators that are slower (or faster) by a known factor: what one straggler costs."},
      {"perturbations.slow_accelerators.accelerator", whole_type(at_least(0)), "required",
       "Which one, counted through the cluster, node by node.", "within the cluster; none twice"},
      {"perturbations.slow_accelerators.time_factor", number_type(between(0.001, 1000)), "required",
       "What its compute times are multiplied by. 1.5 is 1.5 times slower."},
      {"perturbations.slow_nodes", array_type(object_type(), "objects"), "[]",
       "The same for all accelerators of a node.", "", "simulate --what-if"},
      {"perturbations.slow_nodes.node", whole_type(at_least(0)), "required", "Which one.",
       "within the cluster; none twice, and none of its accelerators in slow_accelerators"},
      {"perturbations.slow_nodes.time_factor", number_type(between(0.001, 1000)), "required",
       "What compute times of its accelerators are multiplied by."},
      {"perturbations.operation_jitter", object_type(), "operation_spread",
       "How repetitions of one block differ, by another distribution than the lognormal one. Ranks "
       "of a tensor-parallel group wait for the unluckiest among them.",
       "instead of operation_spread"},
      {"perturbations.operation_jitter.distribution",
       words_type({"lognormal", "gamma", "exponential", "quantiles"}), "required",
       "Of the factor on a block's time: lognormal with median 1, gamma with mean 1, 1 plus an "
       "exponential variable, or as observed."},
      {"perturbations.operation_jitter.spread", number_type(between(0, 1)),
       "required, but for quantiles",
       "Sigma of the logarithm (lognormal), coefficient of variation (gamma), mean of what is "
       "added (exponential)."},
      {"perturbations.operation_jitter.time_factors", array_type(number_type({}), "numbers"),
       "required for quantiles",
       "The distribution's quantiles at equal steps from the least to the most."},
      {"perturbations.micro_batch_jitter", object_type(), "none",
       "How the work of micro-batches differs, as with sequences of different lengths packed into "
       "them: one draw for each micro-batch of each replica, for all its passes on all stages.",
       "", "Lin et al. 2025 (arXiv:2505.05713), section 5.3: sequence length imbalance"},
      {"perturbations.micro_batch_jitter.distribution",
       words_type({"lognormal", "gamma", "exponential", "quantiles"}), "required",
       "Of the factor on compute times, as in operation_jitter."},
      {"perturbations.micro_batch_jitter.spread", number_type(between(0, 1)),
       "required, but for quantiles", "As in operation_jitter."},
      {"perturbations.micro_batch_jitter.time_factors", array_type(number_type({}), "numbers"),
       "required for quantiles",
       "The distribution's quantiles at equal steps from the least to the most: mean square of the "
       "lengths in a micro-batch over that of all, where attention is what counts."},
      {"perturbations.slow_episodes", array_type(object_type(), "objects"), "[]",
       "Accelerators that are slower for a part of the iteration: thermal throttling, or, without "
       "an end, a node that fails slow. Times count from the start of the iteration."},
      {"perturbations.slow_episodes.node", whole_type(at_least(0)), "none",
       "All of its accelerators.", "a node or an accelerator"},
      {"perturbations.slow_episodes.accelerator", whole_type(at_least(0)), "none",
       "Counted through the cluster.", "a node or an accelerator"},
      {"perturbations.slow_episodes.from", quantity_type<Seconds>({}), R"("0 s")",
       "When it begins."},
      {"perturbations.slow_episodes.to", quantity_type<Seconds>({}), "never", "When it ends."},
      {"perturbations.slow_episodes.time_factor", number_type(between(1, 1000)), "required",
       "What compute times are multiplied by meanwhile."},
      {"perturbations.pauses", array_type(object_type(), "objects"), "[]",
       "Accelerators that stand still again and again: garbage collection, noise of the operating "
       "system. The ranks that wait for each other stand still while one of them does."},
      {"perturbations.pauses.node", whole_type(at_least(0)), "all", "All of its accelerators."},
      {"perturbations.pauses.accelerator", whole_type(at_least(0)), "all",
       "Counted through the cluster."},
      {"perturbations.pauses.every", quantity_type<Seconds>({}), "required",
       "From the start of one pause to the start of the next."},
      {"perturbations.pauses.lasts", quantity_type<Seconds>({}), "required", "How long one is.",
       "less than every"},
      {"perturbations.pauses.together", flag_type(), "false",
       "Whether all pause at the same moments, as with planned garbage collection; else each has a "
       "phase of its own, drawn evenly.",
       "", "Lin et al. 2025 (arXiv:2505.05713)"},
      {"perturbations.slow_links", array_type(object_type(), "objects"), "[]",
       "Cables that carry less for a part of the iteration, both ways: a degraded cable, a link "
       "that flaps. For the whole iteration they are faults of the topology."},
      {"perturbations.slow_links.cable", array_type(text_type(), "two texts"), "none",
       "What it joins, as `headway route` names it; all cables between the two.",
       "a cable or a nic"},
      {"perturbations.slow_links.nic", text_type(), "none", "The cable of this NIC.",
       "a cable or a nic"},
      {"perturbations.slow_links.from", quantity_type<Seconds>({}), R"("0 s")", "When it begins."},
      {"perturbations.slow_links.to", quantity_type<Seconds>({}), "never", "When it ends.",
       "required where bandwidth_factor is 0"},
      {"perturbations.slow_links.bandwidth_factor", number_type(between(0, 1)), "required",
       "What is left of its rate meanwhile; 0 is down."},
      {"perturbations.background_traffic", array_type(object_type(), "objects"), "[]",
       "What two nodes send each other for somebody else, evenly over the NICs of the node. It "
       "gets its max-min share of every link, up to its rate."},
      {"perturbations.background_traffic.from_node", whole_type(at_least(0)), "required",
       "Who sends. Both ways takes two entries."},
      {"perturbations.background_traffic.to_node", whole_type(at_least(0)), "required",
       "Who receives.", "another node"},
      {"perturbations.background_traffic.rate", quantity_type<BytesPerSecond>({}), "required",
       "What the node sends where nothing else is in the way."},
      {"perturbations.background_traffic.from", quantity_type<Seconds>({}), R"("0 s")",
       "When it begins, from the start of the iteration."},
      {"perturbations.background_traffic.to", quantity_type<Seconds>({}), "never", "When it ends."},
      {"jobs", array_type(object_type(), "objects"), "[]",
       "Other jobs on the same fabric: how much all of them slow each other down. The scenario's "
       "own job is there all the time, on the first cluster.job_nodes nodes.",
       "no node belongs to two jobs at a time", "shared_fabric; cluster.job_nodes"},
      {"jobs.name", text_type(), "required", "What results call the job.", "none twice"},
      {"jobs.model", file_type(), "the scenario's", "What it trains."},
      {"jobs.strategy", file_type(), "required",
       "How it is split; without data_parallel, which is what its nodes leave."},
      {"jobs.first_node", whole_type(at_least(0)), "required",
       "Its first node; the others follow."},
      {"jobs.sizes", array_type(object_type(), "objects"), "required",
       "When the job is there, and on how many nodes: it joins with the first one, is given or "
       "gives back nodes with the next ones, and leaves with one of 0 nodes.",
       "in order of time"},
      {"jobs.sizes.at", quantity_type<Seconds>({}), "required", "From then on."},
      {"jobs.sizes.nodes", whole_type(at_least(0)), "required", "So many nodes; 0 for none.",
       "that divide the batch as the strategy asks"},
      {"anchor", either(object_type(), array_type(object_type(), "objects")), "none",
       "A measured step of your own run, or steps of several jobs. They say how fast the software "
       "is on these machines, and replace what the profile knows of that on average; network and "
       "pipeline stay as modelled.",
       "one of this very scenario, or any number of others",
       "headway anchor; anchored.software_factor"},
      {"anchor.measured_iteration_time", quantity_type<Seconds>({}), "required",
       "What one optimizer step took, in the steady state.",
       "not faster than the peaks of the hardware allow"},
      {"anchor.scenario", file_type(), "this very scenario",
       "The job that was measured, on the same kind of accelerator. It has no anchor of its own."},
      {"statistics", object_type(), "none",
       "How many steps it takes to what is trained for, as one run of the same model and data had "
       "it: results then have the time and the cost until there, and how far doubling the GPUs "
       "pays.",
       "in place of cost.tokens and reliability.train_tokens", "steps_to_target.steps"},
      {"data_loading", object_type(), "none",
       "Samples on their way from storage through the hosts, with as many fetched ahead as helps: "
       "a step takes as long as the slowest of training, reading and preparing.",
       "", "input.stalled_s; breakdown_s.data_loading"},
      {"reliability", object_type(), "none",
       "Weeks of training with what breaks in them: histories are drawn on a clock of their own, "
       "fed with the simulated iteration time.",
       "", "goodput; ettr; time_to_train_s"},
      {"cost", object_type(), "none",
       "What the cluster costs. Results then have what an iteration and, with tokens, the whole "
       "run cost.",
       "", "cost_usd, energy_J"},
      {"run", object_type(), "{}",
       "How the scenario is simulated; says nothing about the job itself."}};
}

}  // namespace headway

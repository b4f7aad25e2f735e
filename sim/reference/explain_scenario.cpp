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
       "cluster, profile, strategy, cost, perturbations, reliability, statistics, data_loading, "
       "post_training; "
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
      {"candidates.post_training", object_type(), "the scenario's", "Fields that differ.", "",
       "post_training"},
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
      {"jobs.data_loading", object_type(), "none",
       "What the job reads of the scenario's storage, beside everybody else: the fields of "
       "data_loading that tell of samples.",
       "needs data_loading", "shared_fabric"},
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
       "Samples on their way from storage through the hosts, read ahead: a step takes as long as "
       "the slowest of training, reading and preparing, and what reads meet on the fabric.",
       "", "input.stalled_s; breakdown_s.data_loading"},
      {"post_training", object_type(), "none",
       "Reinforcement learning on what the model itself generates (PPO, GRPO): a step generates "
       "rollouts, takes their log probabilities and trains on them. The strategy is the "
       "training's; "
       "sequence_length and global_batch are what an iteration takes of the rollouts' tokens.",
       "without reliability, statistics and cost", "post_training_step.time_s"},
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

#include "sim/reference/explain_tables.h"
#include "sim/scenario/recovery/recovery.h"

namespace headway {
namespace {

constexpr TopicRow kMetrics[] = {
    {"steps_to_target", "object", "", "Steps to the target, with a statistics part only.", "",
     "run_time_s; run_cost_usd"},
    {"steps_to_target.steps", "count", "", "Iterations.", "",
     "McCandlish et al. 2018 (arXiv:1812.06162), equation 2.7"},
    {"steps_to_target.samples", "count", "", "In all of them."},
    {"steps_to_target.efficiency", "share", "", "Samples that small batches would take, over these."},
    {"steps_to_target.noise_scale_samples", "samples", "", "As the scenario gives it."},
    {"steps_to_target.staleness", "updates", "", "Of workers that update by themselves, on average.", "",
     "Stich and Karimireddy 2020 (arXiv:1909.05350)"},
    {"steps_to_target.penalty", "factor", "", "On the steps, as the scenario gives it."},
    {"steps_to_target.doubling_saves", "share", "",
     "Of the steps, that twice the accelerators with twice the batch save: a half where the batch "
     "is far below the noise scale."},
    {"steps_to_target.pays_up_to_gpus", "accelerators", "",
     "Where, at this batch an accelerator, a doubling saves a quarter of the steps; less beyond."},
    {"input", "object", "", "How samples come, with a data_loading part only."},
    {"input.read_share", "share", "", "Of an epoch's samples, from storage, after the first."},
    {"input.read_s", "seconds", "", "To read those of a step."},
    {"input.prepare_s", "seconds", "", "To prepare a step's samples on the hosts' cores."},
    {"input.stalled_s", "seconds", "", "Of a step, waiting for its samples."},
    {"input.first_epoch_step_s", "seconds", "", "A step while nothing is cached."},
    {"input.epoch_s", "seconds", "", "A later epoch."},
    {"input.storage_bytes_per_s", "bytes a second", "", "That storage gives then."},
    {"goodput", "share", "",
     "Work done over what a job does in the same time that nothing interrupts and that takes no "
     "checkpoints. Mean of histories; with a reliability section only.",
     "", "reliability; long_run.goodput"},
    {"ettr", "share", "",
     "Effective training time ratio: iterations that were kept over wall time. More than the "
     "goodput where a job goes on with fewer nodes.",
     "", "Kokolis et al. 2025 (arXiv:2410.21680)"},
    {"time_to_train_s", "object", "",
     "Wall time until all tokens are trained, failures and the error of the prediction included: "
     "mean, p5, p50, p95; null if never.",
     "", "run_time_s"},
    {"time_to_train_s.mean", "seconds", "", "Mean."},
    {"time_to_train_s.p5", "seconds", "", "5th percentile."},
    {"time_to_train_s.p50", "seconds", "", "Median."},
    {"time_to_train_s.p95", "seconds", "", "95th percentile."},
    {"long_run", "object", "", "What the histories of the reliability section say."},
    {"long_run.runs", "whole number", "", "Histories."},
    {"long_run.goodput", "object", "", "Its mean, p5, p50 and p95."},
    {"long_run.ettr", "object", "", "Its mean, p5, p50 and p95."},
    {"long_run.tokens_per_s", "tokens a second", "", "Over the wall time, mean."},
    {"long_run.interruptions", "object", "", "In a history: mean, p5, p50 and p95."},
    {"long_run.interruptions_by_cause", "object", "", "Mean of a history, by name of the cause."},
    {"long_run.time_to_train_s", "array of seconds", "",
     "Of every history, ascending, as if an iteration took just what is predicted: failures alone. "
     "Empty where a duration is given."},
    {"long_run.job_mttf_s", "seconds", "",
     "Mean time to failure of the job: wall time over interruptions."},
    {"long_run.lost_gpu_hours", "object", "",
     "Accelerator-hours that trained nothing, mean of a history: lost_work (done again), "
     "checkpoints, detection, restart, waiting_for_nodes, reduced_speed."},
    {"long_run.lost_gpu_hours_by_cause", "object", "",
     "Lost work and recoveries, by name of the cause."},
    {"long_run.recovery", "text", "", "How the job gets over failures.", "",
     "reliability.recovery.method"},
    {"long_run.step_overhead", "share", "",
     "What every step takes more for the sake of the recovery.", "",
     "reliability.recovery.step_overhead"},
    {"long_run.spot", "object", "", "Nodes of the job that come and go.",
     "with reliability.availability only"},
    {"long_run.spot.nodes", "whole number", "", "That it takes at most."},
    {"long_run.spot.of_nodes", "whole number", "", "Of the job, spot and others."},
    {"long_run.spot.share_there", "share", "",
     "Of them, that were there, over the time of all histories."},
    {"long_run.checkpoint", "object", "",
     "interval_s and how it was found (interval_by), the closed forms young_interval_s and "
     "daly_interval_s, bytes, and blocking_s, for which training stands still."},
};

}  // namespace

std::vector<FieldRow> reliability_rows() {
  return {
      {"reliability", object_type(), "none",
       "Weeks of training with what breaks in them: histories are drawn on a clock of their own, "
       "fed with the simulated iteration time.",
       "", "goodput; ettr; time_to_train_s"},
      {"reliability.train_tokens", number_type(positive()), "none",
       "The run ends when these are trained, and the result says how long that takes.",
       "either this or duration"},
      {"reliability.duration", quantity_type<Seconds>({}), "none",
       "The run ends after this time, and the result says what was reached.",
       "either this or train_tokens"},
      {"reliability.runs", whole_type(between(1, 100'000)), "200", "Histories that are drawn."},
      {"reliability.detection", quantity_type<Seconds>({}), "required",
       "From a failure until the job is stopped."},
      {"reliability.restart", quantity_type<Seconds>({}), "required",
       "To schedule the job and start its processes; loading a checkpoint comes on top."},
      {"reliability.warm_up", quantity_type<Seconds>({}), R"("0 s")",
       "What the first iterations after a restart take beyond their normal time."},
      {"reliability.reprovision", quantity_type<Seconds>({}), "never",
       "Until a new node is there where no spare is left. Without it the job waits for a repair."},
      {"reliability.spare_nodes", whole_type(at_least(0)), "0",
       "Nodes that stand by. A failed node becomes one when it is repaired."},
      {"reliability.elastic", flag_type(), "false",
       "Another word for a recovery.method of \"shrink\".", "",
       "reliability.recovery.method"},
      {"reliability.recovery", object_type(), "a restart", "How the job gets over what breaks.", "",
       "long_run.recovery"},
      {"reliability.recovery.method", word_type(names_of(recoveries())), R"("restart")",
       "A restart from the last checkpoint with as many nodes as before; one with fewer replicas "
       "where no spare is left, and again when nodes are back; in place, from the last step: "
       "replicas that break drop out and join again, nodes of a pipeline do the work of the next "
       "one too, or what lost nodes held moves to spare ones.",
       "in place fewer nodes work with whole copies of the state only: none is sharded over all "
       "replicas",
       "PyTorch's torchrun; TorchFT; Bamboo (Thorpe et al. 2023, NSDI)"},
      {"reliability.recovery.reconfigure", quantity_type<Seconds>({}), "required in place",
       "What everybody stands still for to go on in another formation, once a failure is detected, "
       "and again when nodes join.",
       "methods in place only"},
      {"reliability.recovery.state_bandwidth", quantity_type<BytesPerSecond>({}),
       "required in place",
       "At which a node gets its part of a copy of the state: the checkpoint's size over the nodes "
       "of a copy.",
       "methods in place only", "reliability.checkpoint.size"},
      {"reliability.recovery.step_overhead", number_type(between(0, 100)),
       "0; for a redundant pipeline by closed form",
       "What every step takes more, as a share: exchanges that go another way so that a part may "
       "drop out, or the forward pass of the next node as far as bubbles do not hide it."},
      {"reliability.availability",
       either(text_type(), array_type(array_type(either(text_type(), whole_type(at_least(0))),
                                                 "a time and a number"),
                                      "steps, each a time and a number of nodes")),
       "none",
       "How many spot nodes there were to be had, as recorded: a line for each step with a time in "
       "seconds and a number of nodes (\"21529,4\"), from time 0 on; of several at one time the "
       "last counts, and the last line ends the record. It then begins anew; histories begin all "
       "over it.",
       "", "long_run.spot"},
      {"reliability.spot_nodes", whole_type(at_least(1)), "all",
       "Nodes of the job that are there only while the record has that many; the others are there "
       "until they break.",
       "with availability only"},
      {"reliability.spot_notice", quantity_type<Seconds>({}), R"("0 s")",
       "Warning before a spot node is taken back. If a checkpoint can be taken and stored in it, or "
       "in place the step ended, no work is lost.",
       "with availability only"},
      {"reliability.nodes_per_rack", whole_type(at_least(1)), "1",
       "How many nodes go with a rack that fails."},
      {"reliability.failures", array_type(object_type(), "objects"), "[]",
       "What interrupts the job, each a cause.", "", "long_run.interruptions_by_cause"},
      {"reliability.failures.cause", text_type(), "required", "Its name in the result."},
      {"reliability.failures.of", words_type({"gpu", "node", "nic", "switch", "rack", "software"}),
       "required",
       "What breaks. There are as many as the job's nodes bring along, all switches of the fabric, "
       "and one software."},
      {"reliability.failures.distribution", words_type({"exponential", "weibull", "empirical"}),
       R"("exponential")",
       "How the time until one of them breaks is distributed. All are new at the start, and a "
       "replacement is new."},
      {"reliability.failures.mean_time", quantity_type<Seconds>({}), "required, but for empirical",
       "Mean time until one unit breaks. Of 419 interruptions in 54 days on 16,384 accelerators it "
       "is 54 d x 16,384 / 419."},
      {"reliability.failures.shape", number_type(between(0.1, 100)), "required for weibull",
       "Less than 1 for early failures, more than 1 for wear."},
      {"reliability.failures.times",
       array_type(quantity_type<Seconds>({}), "texts with a unit: time"), "required for empirical",
       "Observed times, each as likely."},
      {"reliability.failures.nodes_lost", whole_type(at_least(0)),
       "1 for gpu, node and nic, the rack's nodes, else 0",
       "Nodes that have to be replaced before the job goes on."},
      {"reliability.failures.repair_time", quantity_type<Seconds>({}),
       "required where nodes are lost", "Until a lost node is back."},
      {"reliability.failures.notice", quantity_type<Seconds>({}), R"("0 s")",
       "Warning before the end, as spot instances get. If a checkpoint can be taken and stored in "
       "it, no work is lost."},
      {"reliability.checkpoint", object_type(), "required", "How the state of training is kept.",
       "", "long_run.checkpoint"},
      {"reliability.checkpoint.interval",
       {"text with a unit: time, or \"young\", \"daly\", \"search\"", text_type().schema},
       R"("daly")",
       "Training time between two checkpoints. The words find the one that loses least: by closed "
       "form, or by trying on the drawn histories.",
       "",
       "Young 1974; Daly 2006, equation 37"},
      {"reliability.checkpoint.size", quantity_type<Bytes>({}), "from the model",
       "Of the whole job: 14 bytes a trained parameter (16 bits, and the fp32 copy and moments of "
       "Adam), 2 a frozen one."},
      {"reliability.checkpoint.storage_bandwidth", quantity_type<BytesPerSecond>({}), "required",
       "At which the whole job writes to storage."},
      {"reliability.checkpoint.read_bandwidth", quantity_type<BytesPerSecond>({}),
       "storage_bandwidth", "At which it reads one back."},
      {"reliability.checkpoint.asynchronous", flag_type(), "false",
       "Training stands still only until the state is in the host's memory; it can be restored "
       "from once it is stored."},
      {"reliability.checkpoint.snapshot_bandwidth", quantity_type<BytesPerSecond>({}),
       "the profile's host_bandwidth", "At which an accelerator writes to its host's memory.",
       "asynchronous checkpoints only"},
      {"reliability.checkpoint.local", object_type(), "none",
       "A faster tier that is written to more often: the nodes' memory or disks. Lost with a node, "
       "kept through other failures."},
      {"reliability.checkpoint.local.interval", quantity_type<Seconds>({}), "required",
       "Training time between two, taken as a whole part of the other interval."},
      {"reliability.checkpoint.local.bandwidth", quantity_type<BytesPerSecond>({}), "required",
       "At which a node writes its part and reads it back."},
      {"reliability.checkpoint.local.survives_lost_nodes", flag_type(), "false",
       "Whether other nodes keep copies."}};
}

std::span<const TopicRow> long_run_topics() { return kMetrics; }

}  // namespace headway

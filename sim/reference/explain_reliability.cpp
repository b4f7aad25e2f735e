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
    {"steps_to_target.efficiency", "share", "",
     "Samples that small batches would take, over these."},
    {"steps_to_target.noise_scale_samples", "samples", "", "As the scenario gives it."},
    {"steps_to_target.staleness", "updates", "",
     "Of workers that update by themselves, on average.", "",
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
    {"input.checkpoint_step_s", "seconds", "",
     "A step while a checkpoint is written to the storage that it reads from; 0 where none is.", "",
     "data_loading.holds_checkpoints"},
    {"input.checkpoint_s", "seconds", "",
     "That storing a whole checkpoint takes beside steps that read."},
    {"input.epoch_s", "seconds", "", "A later epoch."},
    {"input.storage_bytes_per_s", "bytes a second", "", "That storage gives then."},
    {"post_training_step", "object", "", "A step of it, with a post_training part only."},
    {"post_training_step.gpus", "accelerators", "", "The job's, and those that only generate."},
    {"post_training_step.generating_gpus", "accelerators", "", "Of them, in turns or always."},
    {"post_training_step.steps_off_policy", "steps", "", "As the scenario gives it."},
    {"post_training_step.iterations", "count", "",
     "Of training in a step: tokens of its rollouts over those of an iteration."},
    {"post_training_step.generation_s", "seconds", "",
     "To generate the rollouts of a step, the longest last.", "", "post_training.longest_response"},
    {"post_training_step.token_s", "seconds", "",
     "A token of each sequence that an engine works on, at the beginning.", "",
     "Pope et al. 2022 (arXiv:2211.05102), section 2"},
    {"post_training_step.log_probabilities_s", "seconds", "",
     "Forward passes over the rollouts, beside training."},
    {"post_training_step.training_s", "seconds", "", "All iterations of a step.", "",
     "iteration_time_s"},
    {"post_training_step.weight_transfer_s", "seconds", "",
     "To bring the new weights to whoever generates, in 16 bits: gathered by all accelerators, or "
     "sent to those that generate apart."},
    {"post_training_step.time_s", "seconds", "",
     "All of it in turns; where rollouts may be older than the weights, the longer of generating "
     "and learning, and the transfer."},
    {"post_training_step.tokens_per_s", "tokens a second", "",
     "Of rollouts, prompts included, over a step."},
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
    {"long_run.repair", "object", "", "Nodes that broke and are not back yet, in closed form.",
     "where any node is ever lost"},
    {"long_run.repair.spare_nodes", "whole number", "", "That the job has.", "",
     "reliability.spare_nodes"},
    {"long_run.repair.nodes", "number", "",
     "In repair on average: failures that take nodes, times how long their repair takes."},
    {"long_run.repair.share_beyond_spares", "share", "",
     "Of the time, in which more are in repair than there are spares: a job that needs all of its "
     "nodes stands still then. Poisson's distribution."},
    {"long_run.checkpoint", "object", "",
     "interval_s and how it was found (interval_by), the closed forms young_interval_s and "
     "daly_interval_s, bytes, and blocking_s, for which training stands still."},
};

}  // namespace

std::span<const TopicRow> long_run_topics() { return kMetrics; }

}  // namespace headway

#pragma once

#include <concepts>
#include <type_traits>

#include "sim/result/prediction.h"

namespace headway {

// The fields of a prediction under their names in result documents: the one table that the writer
// and the reader of the document and the bytes between processes are made from.
//
// `visit_fields(visit, of)` calls visit(name, field, rule) for each field of the struct `of`, in an
// order in which it can be filled: what says that a part is there comes before the part. A field
// that is not in this table is lost on its way from process to process.

/// What is special about a field of a document.
enum class FieldRule {
  none,
  positive,   ///< a number above 0, always there
  endless,    ///< null stands for infinity
  simulated,  ///< null, in all its parts, for a job that was not simulated
  of_tokens,  ///< likewise, and where samples have no tokens
  lenient,    ///< a text that may be missing
  tera,       ///< in units of 1e12; null for a job that was not simulated
  unwritten,  ///< not in documents, which have it elsewhere
};

template <class T, class Struct>
concept Of = std::same_as<std::remove_const_t<T>, Struct>;

/// The rest of it stands beside it in the document, among the fields of the prediction.
void visit_fields(auto& visit, Of<Question> auto& of) {
  visit("model", of.model);
  visit("cluster", of.cluster);
  visit("node_type", of.node_type);
  visit("nodes", of.nodes);
  visit("strategy", of.strategy);
  visit("profile", of.profile);
}

void visit_fields(auto& visit, Of<Percentiles> auto& of) {
  visit("mean", of.mean);
  visit("p5", of.low);
  visit("p50", of.median);
  visit("p95", of.high);
}

void visit_fields(auto& visit, Of<Evidence> auto& of) {
  visit("of", of.of);
  visit("measured", of.is_measured);
  visit("steps", of.steps);
  visit("sources", of.sources);
}

void visit_fields(auto& visit, Of<Confidence> auto& of) {
  visit("software", of.software);
  visit("accelerator", of.accelerator);
  visit("with_measured_step_s", of.with_measured_step);
  visit("job_kind", of.job_kind);
  visit("model_error", of.model_error);
  visit("accelerator_error", of.accelerator_error);
  visit("kernel_spread", of.kernel_spread);
  visit("beyond_calibration", of.beyond_calibration);
}

/// Its events stand beside it.
void visit_fields(auto& visit, Of<EngineCounts> auto& of) {
  visit("flows", of.flows);
  visit("settlings", of.settlings);
  visit("recomputed", of.recomputed);
  visit("changed", of.changed);
}

/// Likewise its efficiency.
void visit_fields(auto& visit, Of<ScalingReference> auto& of) {
  visit("gpus", of.accelerators);
  visit("iteration_time_s", of.iteration_time);
  visit("description", of.description);
}

void visit_fields(auto& visit, Of<AnchorStep> auto& of) {
  visit("of", of.of);
  visit("measured_s", of.measured);
  visit("predicted_s", of.predicted);
  visit("software_factor", of.software_factor);
}

void visit_fields(auto& visit, Of<AnchorEffect> auto& of) {
  visit("steps", of.steps);
  visit("software_factor", of.software_factor);
  visit("iteration_time_without_s", of.time_without);
  visit("interval_without_s", of.interval_without);
}

void visit_fields(auto& visit, Of<StageMemory> auto& of) {
  visit("parameters", of.parameters);
  visit("gradients", of.gradients);
  visit("optimizer", of.optimizer);
  visit("activations", of.activations);
  visit("buffers", of.buffers);
  visit("host", of.host);
  visit("capacity", of.capacity);
}

void visit_fields(auto& visit, Of<HostMemory> auto& of) {
  visit("needed", of.needed);
  visit("capacity", of.capacity);
}

void visit_fields(auto& visit, Of<MemoryPrediction> auto& of) {
  visit("stages", of.stages);
  visit("capacity", of.capacity);
  visit("fullest_stage", of.fullest_stage);
  visit("host", of.host);
  visit("fits", of.fits);
}

void visit_fields(auto& visit, Of<CriticalSegment> auto& of) {
  visit("where", of.where);
  visit("what", of.what);
  visit("start_s", of.start);
  visit("end_s", of.end);
  visit("operations", of.operations);
}

void visit_fields(auto& visit, Of<Activity::Row> auto& of) {
  visit("where", of.where);
  visit("spans_s", of.spans);
}

void visit_fields(auto& visit, Of<Activity> auto& of) {
  visit("kinds", of.kinds);
  visit("rows", of.rows);
}

void visit_fields(auto& visit, Of<LinkUse> auto& of) {
  visit("from", of.from);
  visit("to", of.to);
  visit("capacity_bytes_per_s", of.capacity);
  visit("carried_bytes", of.carried);
  visit("utilisation", of.utilisation);
}

void visit_fields(auto& visit, Of<FabricUse::Tier> auto& of) {
  visit("name", of.name);
  visit("count", of.count);
}

void visit_fields(auto& visit, Of<FabricUse::Load> auto& of) {
  visit("carried_bytes", of.carried);
  visit("capacity_bytes_per_s", of.capacity);
  visit("utilisation", of.utilisation);
  visit("highest_utilisation", of.highest);
}

void visit_fields(auto& visit, Of<FabricUse::Cables> auto& of) {
  visit("lower", of.lower);
  visit("upper", of.upper);
  visit("cables", of.cables);
  visit("up", of.up);
  visit("down", of.down);
}

void visit_fields(auto& visit, Of<FabricUse> auto& of) {
  visit("tiers", of.tiers);
  visit("cables", of.cables);
}

void visit_fields(auto& visit, Of<SpotUse> auto& of) {
  visit("nodes", of.nodes);
  visit("of_nodes", of.of_nodes);
  visit("share_there", of.there);
}

void visit_fields(auto& visit, Of<NodesInRepair> auto& of) {
  visit("spare_nodes", of.spares);
  visit("nodes", of.nodes);
  visit("share_beyond_spares", of.beyond_spares);
}

void visit_fields(auto& visit, Of<ReliabilityPrediction> auto& of) {
  visit("runs", of.runs, FieldRule::positive);
  visit("goodput", of.goodput);
  visit("ettr", of.ettr);
  visit("interruptions", of.interruptions);
  visit("tokens_per_s", of.tokens_per_second);
  visit("interruptions_by_cause", of.interruptions_by_cause);
  visit("lost_gpu_hours", of.lost_gpu_hours);
  visit("lost_gpu_hours_by_cause", of.lost_gpu_hours_by_cause);
  visit("time_to_train_s", of.time_to_train_s, FieldRule::endless);
  visit("job_mttf_s", of.job_mttf, FieldRule::endless);
  visit("recovery", of.recovery, FieldRule::lenient);
  visit("step_overhead", of.step_overhead);
  visit("spot", of.spot);
  visit("repair", of.repair);
  visit("checkpoint/interval_by", of.interval_by);
  visit("checkpoint/interval_s", of.checkpoint_interval, FieldRule::endless);
  visit("checkpoint/young_interval_s", of.young_interval, FieldRule::endless);
  visit("checkpoint/daly_interval_s", of.daly_interval, FieldRule::endless);
  visit("checkpoint/bytes", of.checkpoint_size);
  visit("checkpoint/blocking_s", of.checkpoint_blocking, FieldRule::endless);
}

void visit_fields(auto& visit, Of<SharedFabric::Stay> auto& of) {
  visit("job", of.job);
  visit("from_s", of.from);
  visit("to_s", of.to, FieldRule::endless);
  visit("gpus", of.accelerators);
  visit("alone_s", of.alone);
  visit("iteration_time_s", of.shared);
  visit("samples", of.samples);
}

void visit_fields(auto& visit, Of<SharedFabric> auto& of) {
  visit("stays", of.stays);
  visit("slowdown", of.slowdown, FieldRule::lenient);
}

void visit_fields(auto& visit, Of<Removal> auto& of) {
  visit("kind", of.kind);
  visit("what", of.what);
  visit("iteration_time_s", of.without);
  visit("gain_s", of.gain);
}

void visit_fields(auto& visit, Of<Sensitivity> auto& of) {
  visit("name", of.name);
  visit("what", of.title);
  visit("iteration_time_s", of.iteration_time);
  visit("speedup", of.speedup);
}

void visit_fields(auto& visit, Of<WhatIf> auto& of) {
  visit("iteration_time_s", of.time, FieldRule::positive);
  visit("ideal_time_s", of.ideal, FieldRule::positive);
  visit("slowest_stage", of.slowest_stage);
  visit("stage_imbalance", of.stage_imbalance);
  visit("removals", of.removals);
  visit("gpus", of.accelerators, FieldRule::unwritten);
}

void visit_fields(auto& visit, Of<ServerUse> auto& of) {
  visit("servers", of.servers);
  visit("workers", of.workers);
  visit("idle_share", of.idle_share);
  visit("hottest_server", of.hottest);
  visit("hottest_server_busy", of.hottest_busy);
  visit("dropped_share", of.dropped_share);
  visit("mean_staleness", of.mean_staleness);
  visit("staleness", of.staleness);
}

void visit_fields(auto& visit, Of<KindsUse::Kind> auto& of) {
  visit("accelerator", of.accelerator);
  visit("profile", of.profile);
  visit("gpus", of.accelerators);
  visit("least_micro_batches", of.least_micro_batches);
  visit("most_micro_batches", of.most_micro_batches);
  visit("busy_share", of.busy_share);
  visit("waiting_share", of.waiting_share);
  visit("memory_bytes", of.needed);
  visit("capacity_bytes", of.capacity);
}

void visit_fields(auto& visit, Of<StepsToTarget> auto& of) {
  visit("steps", of.steps);
  visit("samples", of.samples);
  visit("efficiency", of.efficiency);
  visit("noise_scale_samples", of.noise_scale);
  visit("staleness", of.staleness);
  visit("penalty", of.penalty);
  visit("doubling_saves", of.doubling_saves);
  visit("pays_up_to_gpus", of.pays_up_to);
}

void visit_fields(auto& visit, Of<InputUse> auto& of) {
  visit("read_share", of.read_share);
  visit("read_s", of.read);
  visit("prepare_s", of.prepare);
  visit("stalled_s", of.stalled);
  visit("first_epoch_step_s", of.first_epoch_step);
  visit("checkpoint_step_s", of.checkpoint_step);
  visit("checkpoint_s", of.checkpoint);
  visit("epoch_s", of.epoch);
  visit("storage_bytes_per_s", of.storage_rate);
}

void visit_fields(auto& visit, Of<PostTraining> auto& of) {
  visit("gpus", of.accelerators);
  visit("generating_gpus", of.generating);
  visit("steps_off_policy", of.steps_off_policy);
  visit("iterations", of.iterations);
  visit("generation_s", of.generation);
  visit("token_s", of.token);
  visit("log_probabilities_s", of.log_probabilities);
  visit("training_s", of.training);
  visit("weight_transfer_s", of.transfer);
  visit("time_s", of.step);
  visit("tokens_per_s", of.tokens_per_second);
}

void visit_fields(auto& visit, Of<KindsUse> auto& of) { visit("kinds", of.kinds); }

void visit_fields(auto& visit, Of<Prediction> auto& of) {
  visit("question", of.question);
  visit("gpus", of.question.accelerators, FieldRule::positive);
  visit("scenario", of.question.scenario);
  visit("provenance", of.question.provenance);
  visit("iteration_time_s", of.iteration_time, FieldRule::simulated);
  visit("iteration_time_interval_s", of.iteration_interval, FieldRule::simulated);
  visit("samples_per_s", of.samples_per_second, FieldRule::simulated);
  visit("tokens_per_s", of.tokens_per_second, FieldRule::of_tokens);
  visit("tokens_per_s_per_gpu", of.tokens_per_second_per_accelerator, FieldRule::of_tokens);
  visit("model_tflops_per_gpu", of.model_flops_per_second_per_accelerator, FieldRule::tera);
  visit("mfu", of.mfu, FieldRule::simulated);
  visit("mfu_noncausal", of.mfu_whole_square, FieldRule::simulated);
  visit("hfu", of.hfu, FieldRule::simulated);
  visit("scaling_reference", of.scaling);
  if (of.scaling) visit("scaling_efficiency", of.scaling->efficiency, FieldRule::simulated);
  visit("anchored", of.anchor);
  visit("confidence", of.confidence, FieldRule::simulated);
  visit("memory_bytes", of.memory);
  visit("breakdown_s", of.breakdown, FieldRule::simulated);
  visit("critical_rank", of.critical_rank, FieldRule::lenient);
  visit("critical_path", of.critical_path);
  visit("activity", of.activity);
  visit("links", of.busiest_links);
  visit("fabric", of.fabric);
  visit("long_run", of.reliability);
  visit("shared_fabric", of.shared_fabric);
  visit("steps_to_target", of.statistics);
  visit("input", of.input);
  visit("post_training_step", of.post_training);
  visit("parameter_servers", of.servers);
  visit("accelerator_kinds", of.accelerator_kinds);
  visit("what_if", of.what_if);
  if (of.what_if) {
    visit("bottlenecks", of.what_if->sensitivities);
    visit("mitigations", of.what_if->mitigations);
    visit("network_extremes", of.what_if->network_extremes);
  }
  visit("replicas", of.replicas, FieldRule::positive);
  visit("replica_time_s", of.replica_time, FieldRule::simulated);
  visit("micro_batches", of.micro_batches);
  visit("warnings", of.warnings);
  visit("not_modelled", of.not_modelled);
  visit("events", of.counts.events);
  visit("sharing", of.counts);
}

/// A struct of which `visit_fields` knows the fields.
template <class T, class Visitor>
concept VisitedBy = requires(Visitor& visit, T& of) {
  visit_fields(visit, of);
};

}  // namespace headway

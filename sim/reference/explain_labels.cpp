#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "sim/programs/cause.h"
#include "sim/reference/explain_tables.h"

namespace headway {
namespace {

struct Label {
  std::string_view printed;
  std::string_view topic;
};

/// What texts, tables and columns of CSV call things, where that is neither the name nor its end.
constexpr std::array kLabels = std::to_array<Label>({
    {"iteration", "iteration_time_s"},
    {"throughput", "tokens_per_s"},
    {"tokens/s", "tokens_per_s"},
    {"samples/s", "samples_per_s"},
    {"tokens/s/GPU", "tokens_per_s_per_gpu"},
    {"samples/s/GPU", "samples_per_s"},
    {"model work a GPU", "model_tflops_per_gpu"},
    {"rests on", "confidence"},
    {"narrower", "confidence.with_measured_step_s"},
    {"scaling", "scaling_efficiency"},
    {"memory of the fullest stage", "memory_bytes.largest"},
    {"GiB", "memory_bytes.largest"},
    {"GiB free", "memory_bytes.largest"},
    {"anchor", "anchored"},
    {"time to train", "run_time_s"},
    {"post-training", "post_training_step.time_s"},
    {"step of post-training", "post_training_step.time_s"},
    {"post_training_step_s", "post_training_step.time_s"},
    {"days", "run_time_s"},
    {"cost of the run", "run_cost_usd"},
    {"US$", "run_cost_usd"},
    {"to pay until then", "run_outlay_usd"},
    {"energy", "run_energy_J"},
    {"to the target", "steps_to_target"},
    {"where the time goes", "breakdown_s"},
    {"over weeks", "long_run"},
    {"spare nodes", "long_run.repair"},
    {"spot nodes", "long_run.spot"},
    {"GPU-hours lost to", "long_run.lost_gpu_hours"},
    {"work done again", "long_run.lost_gpu_hours.lost_work"},
    {"waiting for nodes", "long_run.lost_gpu_hours.waiting_for_nodes"},
    {"slower steps", "long_run.lost_gpu_hours.reduced_speed"},
    {"stragglers", "what_if"},
    {"stages", "what_if.stage_imbalance"},
    {"without the slowness of", "what_if.removals"},
    {"GPU-hours a day", "what_if.wasted_gpu_hours_per_day"},
    {"what to do about stragglers", "mitigations"},
    {"what would help", "bottlenecks"},
    {"the network at its worst", "network_extremes"},
    {"jobs on the fabric", "shared_fabric"},
    {"alone", "shared_fabric.stays.alone_s"},
    {"here", "shared_fabric.stays"},
    {"from", "shared_fabric.stays"},
    {"to", "shared_fabric.stays"},
    {"parameter servers", "parameter_servers"},
    {"accelerators", "accelerator_kinds"},
    {"micro-batches", "micro_batches"},
    {"busy %", "accelerator_kinds.kinds.busy_share"},
    {"waiting %", "accelerator_kinds.kinds.waiting_share"},
    {"tp", "strategy.tensor_parallel"},
    {"cp", "strategy.context_parallel"},
    {"pp", "strategy.pipeline_parallel"},
    {"dp", "strategy.data_parallel"},
    {"ep", "strategy.expert_parallel"},
    {"v", "strategy.virtual_stages"},
    {"mb", "strategy.micro_batch"},
    {"zero", "strategy.zero_stage"},
    {"front", "plan.leaders.on_front"},
    {"lost by", "plan.leaders.lost_by"},
    {"in time", "plan.sizes.runs.probability"},
    {"how many", "plan.sizes.gpus"},
    {"the goal", "plan.sizes.misses_by"},
    {"change", "comparison.effects.changes"},
    {"in turn", "comparison.effects.in_turn_s"},
    {"last", "comparison.effects.last_s"},
    {"iteration_time_p5_s", "iteration_time_interval_s"},
    {"iteration_time_p95_s", "iteration_time_interval_s"},
    {"run_time_p5_s", "run_time_interval_s"},
    {"run_time_p95_s", "run_time_interval_s"},
    {"run_cost_p5_usd", "run_cost_interval_usd"},
    {"run_cost_p95_usd", "run_cost_interval_usd"},
    {"size_bytes", "collective.op"},
    {"size(B)", "collective.op"},
    {"time(us)", "collective.op"},
    {"algbw(GB/s)", "algbw"},
    {"busbw(GB/s)", "busbw"},
    {"closed form(us)", "collective.op"},
    {"ratio", "collective.op"},
    {"published", "validation.rows.published_s"},
    {"predicted", "validation.rows.error"},
    {"error %", "validation.rows.error"},
    {"mean", "validation.summary.mean_absolute_error"},
    {"median", "validation.summary.median_absolute_error"},
    {"p90", "validation.summary.p90_absolute_error"},
    {"bias", "validation.summary"},
    {"inside", "validation.summary.share_inside_interval"},
    {"groups", "validation.summary.group_balanced"},
    {"bisection", "fabric_answer.bisection_bytes_per_s"},
    {"diameter", "fabric_answer.diameter_links"},
    {"unreachable", "fabric_answer.unreachable_pairs"},
    {"links on the route", "fabric_answer.routed_links_histogram"},
    {"cables between", "fabric_answer.cable_classes"},
    {"replayed", "replay.replayed_s"},
    {"ideal", "replay.ideal_s"},
    {"last stage", "replay.last_stage"},
    {"worst ranks", "replay.worst_ranks"},
    {"slowdown if only this were slow", "replay.slowdown_by_operation"},
    {"S", "replay.slowdown_by_operation"},
});

bool is_same(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

std::string topic_of_label(std::string_view printed) {
  for (const Label& label : kLabels) {
    if (is_same(label.printed, printed)) return std::string(label.topic);
  }
  for (std::size_t i = 0; i < kCauses; ++i) {
    const auto cause = static_cast<Cause>(i);
    const std::string name(cause_name(cause));
    const bool is_column = is_same(name + "_s", printed);  // of CSV
    if (is_column || is_same(cause_title(cause), printed)) return "breakdown_s." + name;
  }
  return "";
}

}  // namespace headway

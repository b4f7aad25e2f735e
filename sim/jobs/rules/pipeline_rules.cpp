#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/jobs/rules/strategy_rules.h"
#include "sim/jobs/schedules/layer_placement.h"

namespace headway {
namespace {

/// Sequences of one micro-batch on every replica.
std::int64_t unit_of(const Strategy& job) { return job.micro_batch * job.data_parallel; }

/// Whether the global batch is whole micro-batches: how many is a question only then.
bool is_whole(const Strategy& job) { return divides(unit_of(job), job.global_batch); }

/// "896 or 1024": the multiples of `unit` on either side of `wanted`, or only the first one.
std::string nearest_multiples(std::int64_t wanted, std::int64_t unit) {
  const std::int64_t below = wanted / unit * unit;
  if (below == 0) return fmt::format("{}", unit);
  return fmt::format("{} or {}", below, below + unit);
}

bool has_ends(const Strategy& job) {
  return job.layer_placement == LayerPlacement::embedding_and_loss_as_layers;
}

/// Where a chunk may have something of the model: a layer each, or an end.
std::int64_t places(const Strategy& job, const Model& model) {
  return model.shared_layers() + (has_ends(job) ? 2 + model.ahead.layers : 0);
}

bool has_chunks_for_all(const Strategy& job, const Model& model) {
  if (!job.layers_per_stage.empty() || job.chunks() <= places(job, model)) return true;
  return can_place(job.layer_placement, model.shared_layers(), job.chunks(), model.ahead.layers);
}

std::string held_text(const Strategy& job, const Model& model) {
  const std::int64_t layers = model.shared_layers();
  return has_ends(job) ? fmt::format("{} layers, the embedding and the loss", layers)
                       : fmt::format("{} layer{}", layers, layers == 1 ? "" : "s");
}

std::int64_t layers_named(const Strategy& job) {
  return std::accumulate(job.layers_per_stage.begin(), job.layers_per_stage.end(), std::int64_t{0});
}

bool has_its_chunks(const Strategy& job) {
  return job.schedule->interleaves() || job.virtual_stages == job.schedule->chunks;
}

/// Whether it is a pipeline that its schedule can be asked about micro-batches.
bool is_ready_for_batches(const Strategy& job) {
  const bool is_alone = job.pipeline_parallel == 1;
  return is_whole(job) && has_its_chunks(job) &&
         job.pipeline_parallel % job.schedule->stage_multiple == 0 &&
         !(is_alone && (job.schedule->needs_pipeline || job.virtual_stages > 1));
}

bool has_its_micro_batches(const Strategy& job) {
  if (!is_ready_for_batches(job)) return true;
  const MicroBatchNeed need = job.schedule->needed(job.pipeline());
  return job.micro_batches() >= need.least && job.micro_batches() % need.multiple == 0;
}

BrokenRule wrong_micro_batches(const Strategy& job, std::string_view otherwise) {
  const MicroBatchNeed need = job.schedule->needed(job.pipeline());
  const std::int64_t unit = unit_of(job);
  const std::int64_t step = need.multiple * unit;
  const std::string batches =
      job.global_batch > need.least * unit
          ? nearest_multiples(job.global_batch, step)
          : fmt::format("{}", (need.least + need.multiple - 1) / need.multiple * step);
  return {.why = fmt::format("{} micro-batches over {} stages", job.micro_batches(),
                             job.pipeline_parallel),
          .help = fmt::format("use a global_batch of {}, or {}", batches, otherwise),
          .title = std::string(job.schedule->need_text)};
}

std::vector<StrategyRule> layer_rules() {
  return {
      {.fields = {"virtual_stages", "pipeline_parallel"},
       .besides = {"layer_placement"},
       .words = "no more chunks than the model has layers",
       .title = "the pipeline has more chunks than the model has layers",
       .holds =
           [](Layout job) {
             return job->virtual_stages == 1 || has_chunks_for_all(job, job.model);
           },
       .broken = [](Layout job) -> BrokenRule {
         const std::int64_t stages = job->pipeline_parallel;
         const std::int64_t most = places(job, job.model);
         return {.why = fmt::format("{} stages x {} = {} chunks for {}", stages,
                                    job->virtual_stages, job->chunks(), held_text(job, job.model)),
                 .help = stages <= most
                             ? fmt::format("use virtual_stages of at most {}", most / stages)
                             : fmt::format("use a pipeline_parallel of at most {}",
                                           std::max<std::int64_t>(most / job->virtual_stages, 1)),
                 .of_model = {{"layers", job.model.shared_layers()}}};
       }},
      {.fields = {"pipeline_parallel"},
       .besides = {"virtual_stages", "layer_placement"},
       .words = "no more chunks than the model has layers",
       .title = "the pipeline has more chunks than the model has layers",
       .holds =
           [](Layout job) { return job->virtual_stages > 1 || has_chunks_for_all(job, job.model); },
       .broken = [](Layout job) -> BrokenRule {
         return {.why = fmt::format("{} stages for {}", job->chunks(), held_text(job, job.model)),
                 .help = fmt::format("use a pipeline_parallel of at most {}",
                                     std::max<std::int64_t>(places(job, job.model), 1)),
                 .of_model = {{"layers", job.model.shared_layers()}}};
       }},
      // There are layers enough, but the placement leaves a chunk less than none.
      {.fields = {"layer_placement"},
       .besides = {"pipeline_parallel", "virtual_stages"},
       .words = "every chunk has layers",
       .title = "the layers cannot be placed like that",
       .holds =
           [](Layout job) {
             return !job->layers_per_stage.empty() || job->chunks() > places(job, job.model) ||
                    can_place(job->layer_placement, job.model.shared_layers(), job->chunks(),
                              job.model.ahead.layers);
           },
       .broken = [](Layout job) -> BrokenRule {
         return {.why = fmt::format("{} layers over {} chunks", job.model.shared_layers(),
                                    job->chunks()),
                 .help = "use fewer pipeline stages or virtual_stages, or place the layers evenly",
                 .of_model = {{"layers", job.model.shared_layers()}}};
       }},
      {.fields = {"layers_per_stage", "layer_placement"},
       .words = "layers_per_stage takes the place of layer_placement",
       .why = "both are there",
       .help = "leave one of them out",
       .holds = [](Layout) { return false; },
       .is_of_writing = true},
      {.fields = {"layers_per_stage", "pipeline_parallel", "virtual_stages"},
       .besides = {"schedule"},
       .words = "layers_per_stage has to name every chunk",
       .holds =
           [](Layout job) {
             return job->layers_per_stage.empty() ||
                    std::cmp_equal(job->layers_per_stage.size(), job->chunks());
           },
       .broken = [](Layout job) -> BrokenRule {
         return {fmt::format("{} of {}", job->layers_per_stage.size(), job->chunks()),
                 "name pipeline_parallel x virtual_stages numbers, in the order of the model"};
       }},
      {.fields = {"layers_per_stage"},
       .besides = {"pipeline_parallel", "virtual_stages"},
       .words = "layers_per_stage has to add up to the model's layers",
       .holds =
           [](Layout job) {
             return !std::cmp_equal(job->layers_per_stage.size(), job->chunks()) ||
                    layers_named(job) == job.model.layer_count();
           },
       .broken = [](Layout job) -> BrokenRule {
         return {.why = fmt::format("{} of {} layers", layers_named(job), job.model.layer_count()),
                 .of_model = {{"layers", job.model.layer_count()}}};
       }},
  };
}

std::vector<StrategyRule> schedule_rules() {
  return {
      {.fields = {"schedule"},
       .besides = {"pipeline_parallel", "virtual_stages"},
       .words = "schedules that split backward passes need a pipeline",
       .holds =
           [](Layout job) {
             return !job->schedule->needs_pipeline || job->pipeline_parallel > 1 ||
                    !has_its_chunks(job);
           },
       .broken = [](Layout job) -> BrokenRule {
         return {.why = "the only stage",
                 .help = "set pipeline_parallel to 2 or more, or schedule to \"1f1b\"",
                 .title = fmt::format("{} needs a pipeline", job->schedule->name)};
       }},
      {.fields = {"pipeline_parallel", "schedule"},
       .words = "dualpipe needs an even number of stages",
       .holds =
           [](Layout job) {
             return job->pipeline_parallel == 1 ||
                    job->pipeline_parallel % job->schedule->stage_multiple == 0;
           },
       .broken = [](Layout job) -> BrokenRule {
         const int stages = job->pipeline_parallel;
         const int multiple = job->schedule->stage_multiple;
         const int below = stages / multiple * multiple;
         return {.why = fmt::format("{} stages", stages),
                 .help = below == 0 ? fmt::format("use {}", multiple)
                                    : fmt::format("use {} or {}", below, below + multiple),
                 .title = multiple == 2 ? fmt::format("{} needs an even number of stages",
                                                      job->schedule->name)
                                        : fmt::format("{} needs a multiple of {} stages",
                                                      job->schedule->name, multiple)};
       }},
      {.fields = {"virtual_stages", "schedule"},
       .words = "zb_v has 2 of virtual_stages, the others but 1f1b have 1",
       .holds = [](Layout job) { return has_its_chunks(job) || job->schedule->chunks == 1; },
       .broken = [](Layout job) -> BrokenRule {
         const int chunks = job->schedule->chunks;
         return {.why = fmt::format("{} chunks a stage", job->virtual_stages),
                 .help = fmt::format("set virtual_stages to {}, or leave it out", chunks),
                 .title = fmt::format("{} has {} of virtual_stages", job->schedule->name, chunks)};
       }},
      {.fields = {"virtual_stages", "schedule"},
       .words = "only 1f1b interleaves",
       .holds = [](Layout job) { return has_its_chunks(job) || job->schedule->chunks != 1; },
       .broken = [](Layout job) -> BrokenRule {
         return {.why = fmt::format("{} chunks a stage", job->virtual_stages),
                 .help = "set virtual_stages to 1, or schedule to \"1f1b\"",
                 .title = fmt::format("the {} schedule does not interleave", job->schedule->name)};
       }},
      {.fields = {"schedule", "global_batch", "pipeline_parallel"},
       .besides = {"micro_batch", "data_parallel", "virtual_stages"},
       .words = "as many micro-batches as the schedule takes",
       .holds =
           [](Layout job) {
             return job->virtual_stages > 1 && job->schedule->interleaves()
                        ? true
                        : has_its_micro_batches(job);
           },
       .broken = [](Layout job) { return wrong_micro_batches(job, "schedule \"1f1b\""); }},
  };
}

std::vector<StrategyRule> interleaving_rules() {
  return {
      {.fields = {"virtual_stages"},
       .besides = {"schedule", "pipeline_parallel"},
       .words = "virtual_stages needs a pipeline",
       .holds =
           [](Layout job) {
             return !job->schedule->interleaves() || job->virtual_stages == 1 ||
                    job->pipeline_parallel > 1;
           },
       .broken = [](Layout job) -> BrokenRule {
         return {fmt::format("{} chunks on the only stage", job->virtual_stages),
                 "set pipeline_parallel to 2 or more, or virtual_stages to 1"};
       }},
      // Whole groups of `stages` micro-batches go through a chunk before the next chunk's turn.
      {.fields = {"virtual_stages", "global_batch", "pipeline_parallel"},
       .besides = {"micro_batch", "data_parallel", "schedule"},
       .words = "interleaving needs the micro-batches to be a multiple of pipeline_parallel",
       .holds =
           [](Layout job) {
             return !job->schedule->interleaves() || job->virtual_stages == 1 ||
                    has_its_micro_batches(job);
           },
       .broken = [](Layout job) { return wrong_micro_batches(job, "set virtual_stages to 1"); }},
  };
}

/// Where replicas have different numbers of micro-batches, they meet at the end of the step only.
std::vector<StrategyRule> speed_rules() {
  const auto excluded = [](std::vector<std::string_view> besides, std::string_view words,
                           std::string_view why, std::string_view help, bool (*holds)(Layout)) {
    besides.insert(besides.begin(), "micro_batches_by_speed");
    return StrategyRule{
        .fields = std::move(besides), .words = words, .why = why, .help = help, .holds = holds};
  };
  return {
      {.fields = {"micro_batches_by_speed"},
       .besides = {"data_parallel"},
       .words = "micro_batches_by_speed does nothing without data_parallel",
       .why = "data_parallel is 1",
       .help = "leave it out, or raise data_parallel",
       .holds = [](Layout job) { return !job->micro_batches_by_speed || job->data_parallel > 1; },
       .severity = Severity::warning},
      excluded({"zero_stage"}, "micro_batches_by_speed needs zero_stage 0 or 1",
               "gradients are reduced with every micro-batch, by all replicas at once",
               "set zero_stage to 1, or leave micro_batches_by_speed out",
               [](Layout job) {
                 return !job->micro_batches_by_speed || job->sharding <= Sharding::optimizer;
               }),
      excluded(
          {"virtual_stages", "schedule"},
          "micro_batches_by_speed needs a schedule with one chunk a stage",
          "others go through their chunks in whole groups of micro-batches",
          "set schedule to \"1f1b\" and virtual_stages to 1",
          [](Layout job) { return !job->micro_batches_by_speed || job->chunks_of_stage() == 1; }),
      excluded({"expert_parallel"}, "micro_batches_by_speed keeps experts inside a replica",
               "replicas that share out experts exchange tokens with every micro-batch",
               "lower expert_parallel, or leave micro_batches_by_speed out",
               [](Layout job) {
                 return !job->micro_batches_by_speed || job->expert_group() == 1 ||
                        (job->tensor_parallel * job->context_parallel) % job->expert_group() == 0;
               }),
      excluded({"synchronisation"},
               "micro_batches_by_speed needs replicas that reduce with every step",
               "servers and islands count the work of their workers in steps",
               "leave micro_batches_by_speed out",
               [](Layout job) {
                 return !job->micro_batches_by_speed || job->synchronisation->reduces_gradients();
               }),
      excluded({"embedding_tables"}, "micro_batches_by_speed keeps tables on every replica",
               "replicas that share out tables exchange with every micro-batch",
               "leave micro_batches_by_speed out",
               [](Layout job) {
                 return !job->micro_batches_by_speed || !job.model.has_tables() ||
                        job->tables.placement == TablePlacement::replicated;
               }),
  };
}

}  // namespace

std::vector<StrategyRule> pipeline_rules() {
  std::vector<StrategyRule> rules = {
      {.fields = {"global_batch", "micro_batch", "data_parallel"},
       .words = "global_batch must be a multiple of micro_batch x data_parallel",
       .holds = [](Layout job) { return is_whole(job); },
       .broken = [](Layout job) -> BrokenRule {
         return {fmt::format("{} is not a multiple of {} x {} = {}", job->global_batch,
                             job->micro_batch, job->data_parallel, unit_of(job)),
                 "use " + nearest_multiples(job->global_batch, unit_of(job))};
       }}};
  for (const auto& more : {layer_rules(), schedule_rules(), interleaving_rules(), speed_rules()}) {
    rules.insert(rules.end(), more.begin(), more.end());
  }
  return rules;
}

}  // namespace headway

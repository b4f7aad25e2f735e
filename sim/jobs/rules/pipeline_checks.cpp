#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>

#include "sim/jobs/rules/strategy_problem.h"
#include "sim/jobs/schedules/schedule.h"

namespace headway {
namespace {

/// "896 or 1024": the multiples of `unit` on either side of `wanted`, or only the first one.
std::string nearest_multiples(std::int64_t wanted, std::int64_t unit) {
  const std::int64_t below = wanted / unit * unit;
  if (below == 0) return fmt::format("{}", unit);
  return fmt::format("{} or {}", below, below + unit);
}

void check_batch(const StrategyToCheck& input) {
  if (!input.data_parallel_known ||
      !input.sound({"global_batch", "micro_batch", "data_parallel"})) {
    return;
  }
  const Strategy& strategy = input.strategy;
  const std::int64_t unit = strategy.micro_batch * strategy.data_parallel;
  if (strategy.global_batch % unit == 0) return;
  Diagnostic problem = strategy_problem(
      input, "global_batch", "global_batch must be a multiple of micro_batch x data_parallel",
      fmt::format("{} is not a multiple of {} x {} = {}", strategy.global_batch,
                  strategy.micro_batch, strategy.data_parallel, unit),
      "use " + nearest_multiples(strategy.global_batch, unit));
  relate_strategy(problem, input, "micro_batch");
  relate_strategy(problem, input, "data_parallel");
  input.diagnostics.add(std::move(problem));
}

/// There are layers enough, but the placement leaves a chunk less than none.
void report_placement(const StrategyToCheck& input, std::int64_t chunks) {
  Diagnostic problem = strategy_problem(
      input, "layer_placement", "the layers cannot be placed like that",
      fmt::format("{} layers over {} chunks", input.model.model.layer_count(), chunks),
      "use fewer pipeline stages or virtual_stages, or place the layers evenly");
  relate_model(problem, input, "layers", input.model.model.layer_count());
  input.diagnostics.add(std::move(problem));
}

void check_layers(const StrategyToCheck& input) {
  if (input.object.member("layers_per_stage") ||
      !input.sound({"pipeline_parallel", "virtual_stages", "layer_placement"})) {
    return;
  }
  const Strategy& strategy = input.strategy;
  const Model& model = input.model.model;
  const std::int64_t layers = model.layer_count();
  const std::int64_t stages = strategy.pipeline_parallel;
  const std::int64_t chunks = stages * strategy.virtual_stages;
  if (can_place(strategy.layer_placement, layers, chunks, model.ahead.layers)) {
    return;
  }
  const bool has_ends = strategy.layer_placement == LayerPlacement::embedding_and_loss_as_layers;
  const std::int64_t places = layers + (has_ends ? 2 + model.ahead.layers : 0);
  if (chunks <= places) {
    report_placement(input, chunks);
    return;
  }

  const bool is_interleaved = strategy.virtual_stages > 1;
  const std::string counted = is_interleaved ? fmt::format("{} stages x {} = {} chunks", stages,
                                                           strategy.virtual_stages, chunks)
                                             : fmt::format("{} stages", stages);
  const std::string held = has_ends ? fmt::format("{} layers, the embedding and the loss", layers)
                                    : fmt::format("{} layer{}", layers, layers == 1 ? "" : "s");
  const std::string help =
      is_interleaved && stages <= places
          ? fmt::format("use virtual_stages of at most {}", places / stages)
          : fmt::format("use a pipeline_parallel of at most {}",
                        std::max<std::int64_t>(places / strategy.virtual_stages, 1));
  Diagnostic problem =
      strategy_problem(input, is_interleaved ? "virtual_stages" : "pipeline_parallel",
                       "the pipeline has more chunks than the model has layers",
                       fmt::format("{} for {}", counted, held), help);
  if (is_interleaved) relate_strategy(problem, input, "pipeline_parallel");
  relate_model(problem, input, "layers", layers);
  input.diagnostics.add(std::move(problem));
}

/// Every chunk is named, and together they have the model's layers.
void check_layers_per_stage(const StrategyToCheck& input) {
  const Strategy& strategy = input.strategy;
  if (!input.object.member("layers_per_stage") ||
      !input.sound({"layers_per_stage", "pipeline_parallel", "virtual_stages", "schedule"})) {
    return;
  }
  const auto named = static_cast<std::int64_t>(strategy.layers_per_stage.size());
  const std::int64_t sum = std::accumulate(strategy.layers_per_stage.begin(),
                                           strategy.layers_per_stage.end(), std::int64_t{0});
  const std::int64_t layers = input.model.model.layer_count();
  std::optional<Diagnostic> problem;
  if (input.object.member("layer_placement")) {
    problem = strategy_problem(input, "layers_per_stage",
                               "layers_per_stage takes the place of layer_placement",
                               "both are there", "leave one of them out");
    relate_strategy(*problem, input, "layer_placement");
  } else if (named != strategy.chunks()) {
    problem =
        strategy_problem(input, "layers_per_stage", "layers_per_stage has to name every chunk",
                         fmt::format("{} of {}", named, strategy.chunks()),
                         "name pipeline_parallel x virtual_stages numbers, in the order of the "
                         "model");
    relate_strategy(*problem, input, "pipeline_parallel");
    relate_strategy(*problem, input, "virtual_stages");
  } else if (sum != layers) {
    problem = strategy_problem(input, "layers_per_stage",
                               "layers_per_stage has to add up to the model's layers",
                               fmt::format("{} of {} layers", sum, layers), "");
    relate_model(*problem, input, "layers", layers);
  }
  if (problem) input.diagnostics.add(std::move(*problem));
}

/// Whole groups of `stages` micro-batches go through a chunk before the next chunk's turn.
void check_groups(const StrategyToCheck& input) {
  const Strategy& strategy = input.strategy;
  const std::int64_t unit = strategy.micro_batch * strategy.data_parallel;
  if (!input.data_parallel_known ||
      !input.sound({"global_batch", "micro_batch", "data_parallel", "pipeline_parallel"}) ||
      strategy.global_batch % unit != 0 ||
      strategy.micro_batches() % strategy.pipeline_parallel == 0) {
    return;
  }
  const std::int64_t group = unit * strategy.pipeline_parallel;
  Diagnostic problem =
      strategy_problem(input, "virtual_stages",
                       "interleaving needs the micro-batches to be a multiple of pipeline_parallel",
                       fmt::format("{} micro-batches over {} stages", strategy.micro_batches(),
                                   strategy.pipeline_parallel),
                       fmt::format("use a global_batch of {}, or set virtual_stages to 1",
                                   nearest_multiples(strategy.global_batch, group)));
  relate_strategy(problem, input, "global_batch");
  relate_strategy(problem, input, "pipeline_parallel");
  input.diagnostics.add(std::move(problem));
}

/// The word of a schedule that splits backward passes.
std::string_view split_schedule_name(PipelineSchedule schedule) {
  if (schedule == PipelineSchedule::zb_h1) return "zb_h1";
  return schedule == PipelineSchedule::zb_v ? "zb_v" : "dualpipe";
}

/// How many micro-batches it takes, and in what steps they may grow.
void check_split_micro_batches(const StrategyToCheck& input) {
  const Strategy& strategy = input.strategy;
  const std::int64_t unit = strategy.micro_batch * strategy.data_parallel;
  if (strategy.schedule == PipelineSchedule::zb_h1 || !input.data_parallel_known ||
      !input.sound({"global_batch", "micro_batch", "data_parallel", "pipeline_parallel"}) ||
      strategy.global_batch % unit != 0) {
    return;
  }
  const bool doubled = strategy.schedule == PipelineSchedule::dual_pipe;
  const std::int64_t stages = strategy.pipeline_parallel;
  const std::int64_t least = doubled ? 2 * stages : 2 * stages - 1;
  const std::int64_t micro_batches = strategy.micro_batches();
  if (micro_batches >= least && (!doubled || micro_batches % 2 == 0)) return;
  Diagnostic problem = strategy_problem(
      input, "schedule",
      doubled ? "dualpipe needs an even number of micro-batches, twice pipeline_parallel at least"
              : "zb_v needs 2 pipeline_parallel - 1 micro-batches at least",
      fmt::format("{} micro-batches over {} stages", micro_batches, stages),
      fmt::format("use a global_batch of {}, or schedule \"1f1b\"",
                  unit * std::max(least, micro_batches + 1)));
  relate_strategy(problem, input, "global_batch");
  relate_strategy(problem, input, "pipeline_parallel");
  input.diagnostics.add(std::move(problem));
}

/// Schedules that split backward passes fix how the model is cut.
void check_split_schedule(const StrategyToCheck& input) {
  const Strategy& strategy = input.strategy;
  if (!input.sound({"schedule", "pipeline_parallel", "virtual_stages"})) return;
  const std::string_view name = split_schedule_name(strategy.schedule);
  const int chunks = strategy.schedule == PipelineSchedule::zb_v ? 2 : 1;
  const auto report = [&](std::string_view field, std::string message, std::string label,
                          std::string help) {
    Diagnostic problem =
        strategy_problem(input, field, std::move(message), std::move(label), std::move(help));
    if (field != "schedule") relate_strategy(problem, input, "schedule");
    input.diagnostics.add(std::move(problem));
  };
  if (strategy.pipeline_parallel == 1) {
    report("schedule", fmt::format("{} needs a pipeline", name), "the only stage",
           "set pipeline_parallel to 2 or more, or schedule to \"1f1b\"");
  } else if (strategy.schedule == PipelineSchedule::dual_pipe &&
             strategy.pipeline_parallel % 2 != 0) {
    report("pipeline_parallel", "dualpipe needs an even number of stages",
           fmt::format("{} stages", strategy.pipeline_parallel),
           fmt::format("use {} or {}", strategy.pipeline_parallel - 1,
                       strategy.pipeline_parallel + 1));
  } else if (strategy.virtual_stages != chunks) {
    report("virtual_stages", fmt::format("{} has {} of virtual_stages", name, chunks),
           fmt::format("{} chunks a stage", strategy.virtual_stages),
           fmt::format("set virtual_stages to {}, or leave it out", chunks));
  } else {
    check_split_micro_batches(input);
  }
}

void check_interleaving(const StrategyToCheck& input) {
  const Strategy& strategy = input.strategy;
  if (strategy.virtual_stages == 1 || !input.sound({"virtual_stages"})) return;
  if (strategy.schedule == PipelineSchedule::gpipe && input.sound({"schedule"})) {
    input.diagnostics.add(
        strategy_problem(input, "virtual_stages", "the gpipe schedule does not interleave",
                         fmt::format("{} chunks a stage", strategy.virtual_stages),
                         "set virtual_stages to 1, or schedule to \"1f1b\""));
    return;
  }
  if (!input.sound({"pipeline_parallel"})) return;
  if (strategy.pipeline_parallel == 1) {
    input.diagnostics.add(
        strategy_problem(input, "virtual_stages", "virtual_stages needs a pipeline",
                         fmt::format("{} chunks on the only stage", strategy.virtual_stages),
                         "set pipeline_parallel to 2 or more, or virtual_stages to 1"));
    return;
  }
  check_groups(input);
}

}  // namespace

void check_pipeline(const StrategyToCheck& input) {
  check_batch(input);
  check_layers(input);
  check_layers_per_stage(input);
  if (splits_backward(input.strategy.schedule)) {
    check_split_schedule(input);
  } else {
    check_interleaving(input);
  }
}

}  // namespace headway

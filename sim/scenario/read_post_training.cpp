#include "sim/scenario/read_post_training.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/base/quantity_text.h"
#include "sim/jobs/strategy.h"
#include "sim/layers/parameters.h"

namespace headway {
namespace {

constexpr Range kTokenCount{.least = 0.0, .most = 1e9, .open = true};
void check_lengths(ObjectReader& reader, const PostTrainingSettings& settings) {
  if (settings.mean_response <= settings.longest_response) return;
  reader.report(
      "mean_response", "responses are longer on average than the longest of them",
      fmt::format("{:g} and {:g} tokens", settings.mean_response, settings.longest_response),
      "raise longest_response, where generating ends");
}

void check_rollouts(ObjectReader& reader, const PostTrainingSettings& settings,
                    const PostTrainingContext& context) {
  if (!context.model.has_tokens) {
    reader.report("rollouts", "only models of tokens generate", "", "leave post_training out");
  }
  constexpr double kLeastIterations = 0.5;
  const double iterations = settings.iterations(context.strategy);
  if (iterations < kLeastIterations) {
    reader.report("rollouts", "the tokens of the rollouts do not fill an iteration",
                  fmt::format("{:.2g} of one", iterations),
                  "generate more, or lower strategy.global_batch");
  }
  if (context.cluster.kinds() > 1) {
    reader.report("generation", "generating on several kinds of nodes is not modelled", "",
                  "give the topology one kind of node");
  }
  if (context.strategy.synchronisation->servers() != nullptr || context.strategy.islands() > 1) {
    reader.report("rollouts", "post_training is of replicas that reduce in every step",
                  "this job's have servers, or steps of their own",
                  R"(set synchronisation.scheme to "all_reduce")");
  }
  if (context.has_run) {
    reader.report("rollouts", "reliability, statistics and cost count training alone",
                  "and post_training's steps are more than that",
                  "leave either of them out; steps and their time are in the result");
  }
  if (settings.steps_off_policy > 0 && settings.generation.accelerators == 0) {
    reader.report("steps_off_policy", "rollouts are older where others generate than train",
                  "generation.accelerators is 0: the job's own take turns",
                  "say how many generate in generation.accelerators, or set this to 0");
  }
}

void check_generation(ObjectReader& reader, const PostTrainingSettings& settings,
                      const PostTrainingContext& context) {
  const GenerationSettings& generation = settings.generation;
  const int parts = generation.engine_accelerators;
  if (const TensorLimit* const limit = first_indivisible(context.model, parts)) {
    reader.report("engine_accelerators",
                  fmt::format("{} does not divide {} ({})", parts, limit->what, limit->size),
                  limit->field, "take a divisor");
  }
  const int accelerators = settings.generating(context.strategy.ranks());
  if (accelerators % parts != 0) {
    reader.report("engine_accelerators", "engines of so many accelerators do not share them out",
                  fmt::format("{} generate", accelerators),
                  fmt::format("take a divisor of {}", accelerators));
  }
  const int of_node = context.cluster.node_type.accelerators;
  const int nodes = (generation.accelerators + of_node - 1) / of_node;
  if (nodes > context.free_nodes) {
    reader.report("accelerators", "they need nodes behind those of all jobs",
                  fmt::format("{} wanted, {} left", nodes, context.free_nodes),
                  "lower cluster.job_nodes, or give the topology more nodes");
  }
  const Bytes weights = generating_weights(context.model) / parts;
  const Bytes room = generation.memory_share * Bytes(context.profile.device.memory_bytes.value);
  if (weights >= room) {
    reader.report("engine_accelerators", "the model's weights leave no room for what is generated",
                  fmt::format("{} of {} an accelerator", short_text(weights), short_text(room)),
                  "generate on more accelerators together");
  }
}

}  // namespace

const FieldTable<GenerationSettings>& generation_fields() {
  using Settings = GenerationSettings;
  static const FieldTable<Settings> kFields(
      {{"engine_accelerators",
        whole(&Settings::engine_accelerators, between(1.0, 1024.0)).required(),
        R"(Accelerators of an engine, which holds the model once.
limits: divides what strategy.tensor_parallel has to, and the accelerators that generate)"},
       {"accelerators", whole(&Settings::accelerators, between(0.0, 1e6)),
        R"(That generate, besides the job's, on the nodes behind it. 0: the job's own take turns with
training.
limits: nodes that no job has)"},
       {"sequences", whole(&Settings::sequences, between(1.0, 1e6)),
        R"(That an engine works on at a time, at most; fewer where their caches do not fit.
see: vLLM, max_num_seqs)"},
       {"memory_share", number(&Settings::memory_share, {.least = 0.0, .most = 1.0, .open = true}),
        R"(Of an accelerator's memory, for weights and caches.
see: vLLM, gpu_memory_utilization)"},
       {"token_overhead", quantity(&Settings::token_overhead, at_least(0.0)),
        R"(Of the host, between two tokens of a sequence: scheduling, sampling. Nothing hides it.
default: none)"}});
  return kFields;
}

const FieldTable<PostTrainingSettings>& post_training_fields() {
  using Settings = PostTrainingSettings;
  static const FieldTable<Settings> kFields(
      {{"rollouts", whole(&Settings::rollouts, between(1.0, 1e8)).required_as("512"),
        "Sequences that a step generates and learns from: prompts times responses to each."},
       {"prompt_tokens", number(&Settings::prompt_tokens, between(0.0, 1e9)),
        "In front of each response."},
       {"mean_response", number(&Settings::mean_response, kTokenCount).required_as("700"),
        "Tokens generated for a rollout, on average."},
       {"longest_response", number(&Settings::longest_response, kTokenCount).required_as("1536"),
        R"(Tokens at which generating ends. Lengths are spread between none and this: of those that
are left at t, a share 1 - (t / longest)^k goes on, with the k that has the mean.)"},
       {"forward_passes", whole(&Settings::forward_passes, between(0.0, 16.0)),
        R"(Over all rollouts, beside training: log probabilities of the policy, and of the reference
that it is held near.)"},
       {"steps_off_policy", whole(&Settings::steps_off_policy, between(0.0, 1024.0)),
        R"(By which rollouts may be older than the weights that they train. 0: generating and training
take turns; else they go on side by side, and the longest responses of so many steps hold up one.
limits: needs generation.accelerators)"},
       {"generation",
        elsewhere<Settings>(object_type()).required().made_of(generation_fields().described()),
        "Who generates: engines of accelerators that hold the model once each."}});
  return kFields;
}

double PostTrainingSettings::iterations(const Strategy& training) const {
  return tokens() / static_cast<double>(training.global_batch * training.sequence_length);
}

Bytes generating_weights(const Model& model) {
  constexpr double kBytes = 2.0;
  return Bytes(kBytes * static_cast<double>(parameter_count(model)));
}

std::optional<PostTrainingSettings> read_post_training(
    ObjectReader& scenario, const std::optional<PostTrainingContext>& context) {
  const std::optional<JsonCursor> part = scenario.part("post_training");
  if (!part) return std::nullopt;
  ObjectReader reader(*part, scenario.diagnostics());
  PostTrainingSettings settings;
  const std::size_t problems = scenario.diagnostics().all().size();
  post_training_fields().read(reader, settings);
  const bool is_read = scenario.diagnostics().all().size() == problems;
  if (is_read) check_lengths(reader, settings);
  if (const auto of_engines = reader.required_part("generation", R"({"engine_accelerators": 8})")) {
    ObjectReader generation(*of_engines, scenario.diagnostics());
    generation_fields().read(generation, settings.generation);
    if (context) check_generation(generation, settings, *context);
    reader.resolve("generation", generation.finish());
  }
  if (context && is_read) check_rollouts(reader, settings, *context);
  scenario.resolve("post_training", reader.finish());
  return settings;
}

}  // namespace headway

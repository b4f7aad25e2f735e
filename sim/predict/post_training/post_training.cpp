#include "sim/predict/post_training/post_training.h"

#include <algorithm>
#include <numeric>

#include "sim/base/diagnostic.h"
#include "sim/jobs/stage_parameters.h"
#include "sim/jobs/strategy.h"
#include "sim/predict/post_training/generation.h"
#include "sim/programs/flows/collective_price.h"
#include "sim/programs/stage_costs/stage_cost.h"

namespace headway {
namespace {

/// What the job's layers take on its ranks, there and back.
struct LayerTimes {
  Seconds forward;
  Seconds backward;
};
LayerTimes layer_times(const Scenario& scenario) {
  const Model& model = scenario.model;
  const StageCost cost =
      stage_cost(model, *scenario.strategy, *scenario.profile, *scenario.cluster);
  const std::vector<int> counts = kinds_of_layers(model, {0, model.layer_count()});
  LayerTimes times{cost.head_forward.total() + cost.embedding_forward.total(),
                   cost.head_backward.total() + cost.embedding_backward.total()};
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    const LayerCost& layer = cost.layers[kind];
    times.forward += counts[kind] * layer.forward.total();
    times.backward += counts[kind] * (layer.backward.total() + layer.recompute.total());
  }
  return times;
}

Seconds transfer_time(const Scenario& scenario, int generating) {
  const int ranks = scenario.strategy->ranks();
  const bool is_apart = scenario.post_training->generation.accelerators > 0;
  std::vector<std::int32_t> members(static_cast<std::size_t>(is_apart ? generating + 1 : ranks));
  std::iota(members.begin(), members.end(), is_apart ? ranks - 1 : 0);
  if (members.size() < 2) return Seconds(0.0);
  const PricedCollective exchange(
      *scenario.cluster,
      {.library = scenario.strategy->collective_library, .profile = scenario.profile.get()},
      is_apart ? CollectiveKind::broadcast : CollectiveKind::all_gather, {members});
  return exchange.price(generating_weights(scenario.model)).time;
}

}  // namespace

double forward_share(const Scenario& scenario, const TimeByCause& breakdown) {
  const LayerTimes times = layer_times(scenario);
  const Seconds beside = breakdown[Cause::data_parallel_exposed] + breakdown[Cause::optimizer] +
                         breakdown[Cause::data_loading];
  const double passes = 1.0 - beside / breakdown.total();
  return passes * (times.forward / (times.forward + times.backward));
}

PostTraining post_training(const Scenario& scenario, Seconds iteration,
                           const TimeByCause& breakdown) {
  HEADWAY_CHECK(scenario.post_training.has_value(), "asked for without its settings");
  const PostTrainingSettings& settings = *scenario.post_training;
  const Strategy& job = *scenario.strategy;
  const int generating = settings.generating(job.ranks());
  const double engines = static_cast<double>(generating) / settings.generation.engine_accelerators;

  PostTraining of;
  of.accelerators = job.ranks() + settings.generation.accelerators;
  of.generating = generating;
  of.steps_off_policy = settings.steps_off_policy;
  of.iterations = settings.iterations(job);
  of.training = of.iterations * iteration;
  of.log_probabilities = settings.forward_passes * forward_share(scenario, breakdown) * of.training;

  const GenerationEngine engine(scenario.model, job, *scenario.profile, *scenario.cluster,
                                settings.generation);
  const ResponseLengths lengths(settings.mean_response, settings.longest_response);
  const double steps = std::max(1, settings.steps_off_policy);
  const double sequences = std::max(1.0, steps * static_cast<double>(settings.rollouts) / engines);
  of.generation = generation_time(engine, sequences, settings.prompt_tokens, lengths) / steps;
  of.token = engine.token_time(std::min(sequences, engine.most_sequences(settings.prompt_tokens)),
                               settings.prompt_tokens);
  of.transfer = transfer_time(scenario, generating);

  of.step =
      (of.is_side_by_side() ? max(of.generation, of.learning()) : of.generation + of.learning()) +
      of.transfer;
  of.tokens_per_second = settings.tokens() / of.step.count();
  return of;
}

}  // namespace headway

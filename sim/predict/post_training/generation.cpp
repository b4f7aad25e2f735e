#include "sim/predict/post_training/generation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "sim/costs/nccl_constants.h"
#include "sim/jobs/rank_shape_of.h"
#include "sim/jobs/stage_parameters.h"
#include "sim/layers/parameters.h"
#include "sim/programs/stage_costs/optimizer_cost.h"
#include "sim/programs/stage_costs/stage_cost.h"

namespace headway {
namespace {

constexpr double kElementBytes = 2.0;  ///< of weights, keys and values, and what ranks add up
constexpr std::int64_t kLongPrompt = 2048;

Strategy strategy_of(const Model& model, const Strategy& job, int parts) {
  Strategy strategy;
  strategy.tensor_parallel = parts;
  strategy.expert_tensor_parallel = model.routing() != nullptr ? parts : 1;
  strategy.collective_library = job.collective_library;
  strategy.precision = job.precision;
  strategy.scaling = job.scaling;
  strategy.kernel_family = job.kernel_family;
  strategy.software_release = job.software_release;
  strategy.sequence_length = kLongPrompt;
  return strategy;
}

/// What products take a token, where there are many.
Seconds compute_of_token(const Model& model, const Strategy& strategy, const Profile& profile,
                         const Cluster& cluster) {
  const StageCost cost = stage_cost(model, strategy, profile, cluster);
  const std::vector<int> counts = kinds_of_layers(model, {0, model.layer_count()});
  Seconds time;
  for (std::size_t kind = 0; kind < counts.size(); ++kind) {
    time += counts[kind] * cost.layers[kind].forward[Cause::compute];
  }
  return time / static_cast<double>(kLongPrompt);
}

/// Between the kernels of all layers.
Seconds gaps_of(const Model& model, const Strategy& strategy, const Profile& profile) {
  const double share = profile.cuda_graphs ? profile.cuda_graphs->launch_gap.value : 1.0;
  double kernels = 0.0;
  for (const int kind : model.layers) kernels += model.kind(kind).launches.forward;
  return kernels * share *
         Seconds(profile.kernel_families.at(strategy.kernel_family).launch_gap.value);
}

std::optional<PricedCollective> sum_of(const Strategy& strategy, const Profile& profile,
                                       const Cluster& cluster) {
  if (strategy.tensor_parallel == 1) return std::nullopt;
  std::vector<std::int32_t> ranks(static_cast<std::size_t>(strategy.tensor_parallel));
  std::iota(ranks.begin(), ranks.end(), 0);
  const bool knows_nccl = nccl_node_costs(cluster.node_type.accelerator) != nullptr;
  return PricedCollective(
      cluster,
      {.library = knows_nccl ? CollectiveLibrary::nccl : strategy.collective_library,
       .profile = &profile},
      CollectiveKind::all_reduce, {ranks});
}

}  // namespace

GenerationEngine::GenerationEngine(const Model& model, const Strategy& job, const Profile& profile,
                                   const Cluster& cluster, const GenerationSettings& settings)
    : model_(model),
      profile_(profile),
      settings_(settings),
      strategy_(strategy_of(model, job, settings.engine_accelerators)),
      prompt_token_(compute_of_token(model, strategy_, profile, cluster)),
      gaps_(gaps_of(model, strategy_, profile)),
      sum_(sum_of(strategy_, profile, cluster)) {}

Bytes GenerationEngine::weights(double tokens) const {
  const RankShape shape = rank_shape_of(strategy_);
  double elements = parameters_on_rank(model_.last, shape).total();
  for (const int kind : model_.layers) {
    const Layer& layer = model_.kind(kind);
    const Parameters all = parameters_on_rank(layer, shape);
    elements += all.shared();
    if (!layer.routing) continue;
    const double chosen = std::min(1.0, layer.routing->experts_per_token / layer.routing->experts);
    elements += (1.0 - std::pow(1.0 - chosen, tokens)) * all.experts();
  }
  return Bytes(kElementBytes * elements);
}

Bytes GenerationEngine::cached(double context) const {
  const double parts = settings_.engine_accelerators;
  double elements = 0.0;
  for (const int kind : model_.layers) {
    const Layer& layer = model_.kind(kind);
    if (!layer.attention) continue;
    const AttentionCore& core = *layer.attention;
    const double of_heads = core.key_heads * (core.head_size + core.value_head_size);
    const double of_rank =
        core.cached > 0.0 ? core.cached : of_heads / std::min(parts, core.key_heads);
    elements += of_rank * (core.window > 0.0 ? std::min(core.window, context) : context);
  }
  return Bytes(kElementBytes * elements);
}

Seconds GenerationEngine::sums(double tokens) const {
  if (!sum_) return Seconds(0.0);
  Seconds time;
  for (const int kind : model_.layers) {
    const Layer& layer = model_.kind(kind);
    for (const TensorExchange& exchange : layer.exchanges) {
      if (exchange.only_enters) continue;
      time += sum_->price(Bytes(kElementBytes * tokens * exchange.width)).time;
    }
    // What routed experts give is added up with what a shared one gives, if there is one.
    const bool has_shared_expert = layer.exchanges.size() > 1;
    if (layer.routing && !has_shared_expert) {
      time += sum_->price(Bytes(kElementBytes * tokens * layer.routing->width)).time;
    }
  }
  return time;
}

Seconds GenerationEngine::token_time(double sequences, double context) const {
  const double tokens = std::max(1.0, sequences);
  const BytesPerSecond bandwidth = streaming_rate(profile_);
  return max(weights(tokens) / bandwidth, tokens * prompt_token_) +
         tokens * cached(context) / bandwidth + sums(tokens) + gaps_ + settings_.token_overhead;
}

double GenerationEngine::most_sequences(double context) const {
  const Bytes room = settings_.memory_share * Bytes(profile_.device.memory_bytes.value) -
                     generating_weights(model_) / settings_.engine_accelerators;
  const auto most = static_cast<double>(settings_.sequences);
  const Bytes each = cached(context);
  return each > Bytes(0.0) ? std::clamp(std::floor(room / each), 1.0, most) : most;
}

ResponseLengths::ResponseLengths(double mean, double longest)
    : mean_(mean),
      longest_(longest),
      power_(mean < longest ? mean / (longest - mean) : std::numeric_limits<double>::infinity()) {}

double ResponseLengths::longer_than(double length) const {
  return length < longest_ ? 1.0 - std::pow(length / longest_, power_) : 0.0;
}

double ResponseLengths::mean_age() const {
  const double squares =
      std::isinf(power_) ? longest_ * longest_ : longest_ * longest_ * power_ / (power_ + 2.0);
  return 0.5 * squares / mean_;
}

Seconds generation_time(const GenerationEngine& engine, double sequences, double prompt_tokens,
                        const ResponseLengths& lengths) {
  Seconds time = sequences * prompt_tokens * engine.prompt_token_time();
  const double age = lengths.mean_age();
  const double at_work = std::min(sequences, engine.most_sequences(prompt_tokens + age));
  const double rounds = (sequences - at_work) * lengths.mean() / at_work;
  if (rounds > 0.0) time += rounds * engine.token_time(at_work, prompt_tokens + age);

  constexpr int kSlices = 64;  // of the run-out, each like its middle
  const double slice = lengths.longest() / kSlices;
  for (int i = 0; i < kSlices; ++i) {
    const double length = (i + 0.5) * slice;
    time +=
        slice * engine.token_time(at_work * lengths.longer_than(length), prompt_tokens + length);
  }
  return time;
}

}  // namespace headway

// Steps of reinforcement learning on what the model itself generates.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "sim/predict/simulate.h"
#include "sim/validate/sync/sync_kind.h"
#include "sim/validate/sync/sync_scenario.h"

namespace headway {
namespace {

/// What rows count beside the responses: tokens a second times the step, over rollouts, is 107 to
/// 157 more than these have.
constexpr double kPromptTokens = 108.0;

/// "1,536" of "T-Max Sequence Length = 1,536"; 0 where it does not stand there, or makes no sense.
double said_number(const std::string& set_up, std::string_view words) {
  std::string digits = text_between(set_up, words, ";");
  std::erase(digits, ',');
  double number = 0.0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  constexpr double kMost = 1e9;
  return number <= kMost ? number : 0.0;
}

/// The degrees of "[TP,PP] = [32,1]" behind `words`; 1 where one is no number.
std::vector<int> degrees(const std::string& set_up, std::string_view words) {
  std::vector<int> all;
  for (const std::string& part : parts_of(text_between(set_up, words, "]"), ",")) {
    int degree = 1;
    std::from_chars(part.data(), part.data() + part.size(), degree);
    all.push_back(std::max(1, degree));
  }
  return all;
}

/// A row's job.
struct RolloutJob {
  NamedModel model;
  NamedAccelerator accelerator;
  int accelerators = 0;
  int steps_off_policy = 0;
  double rollouts = 0.0;
  double batch = 0.0;  ///< of them, an update of the weights
  double longest = 0.0;
  double response = 0.0;
  int generation_tensor = 1;
  int tensor = 1;
  int context = 1;
  int expert = 1;
  int pipeline = 1;
};

ReadWords<RolloutJob> rollout_job(const std::string& set_up) {
  const auto model = named_model(text_between(set_up, "Model = ", ";"));
  if (const auto* reason = std::get_if<std::string>(&model)) return *reason;
  const auto accelerator = named_accelerator(text_between(set_up, "", ";"));
  if (const auto* reason = std::get_if<std::string>(&accelerator)) return *reason;
  const std::vector<int> generation = degrees(set_up, "Generation [TP,PP] = [");
  const std::vector<int> training = degrees(set_up, "Training [TP,CP,EP,PP,VPP] = [");
  if (generation.empty() || training.size() < 4) {
    return std::string("the row does not say how generation and training are split");
  }
  RolloutJob job{.model = std::get<NamedModel>(model),
                 .accelerator = std::get<NamedAccelerator>(accelerator),
                 .accelerators = static_cast<int>(said_number(set_up, "#-GPUs = ")),
                 .steps_off_policy = static_cast<int>(said_number(set_up, "On/Off policy = ")),
                 .rollouts = said_number(set_up, "G-GBS = "),
                 .batch = said_number(set_up, "T-GBS = "),
                 .longest = said_number(set_up, "T-Max Sequence Length = "),
                 .response = said_number(set_up, "G-Average Seq len = "),
                 .generation_tensor = generation.front(),
                 .tensor = training[0],
                 .context = training[1],
                 .expert = training[2],
                 .pipeline = training[3]};
  if (!job.accelerator.cluster) {
    return fmt::format("no cluster ships of {}", job.accelerator.words);
  }
  if (job.accelerators < 1 || job.rollouts < 1.0 || job.batch < 1.0 || job.longest < 1.0 ||
      job.response < 1.0) {
    return std::string("the row does not say accelerators, rollouts, batch and lengths");
  }
  return job;
}

Scenario rollout_scenario(const RolloutJob& job) {
  const int generating = job.steps_off_policy > 0 ? job.accelerators / 2 : 0;
  const int training = job.accelerators - generating;
  const int replicas = std::max(1, training / (job.tensor * job.context * job.pipeline));
  // Rollouts are packed into sequences of the longest one's length.
  const double length = kPromptTokens + job.response;
  const double packed = job.batch * length / (job.longest * replicas);
  nlohmann::json strategy = {
      {"preset", "megatron"},
      {"tensor_parallel", job.tensor},
      {"context_parallel", job.context},
      {"pipeline_parallel", job.pipeline},
      {"micro_batch", 1},
      {"global_batch", replicas * std::max(1L, std::lround(packed))},
      {"sequence_length", job.longest},
      {"packed_length", static_cast<int>(length)},
      {"recompute", "full"}};
  if (job.expert > 1) strategy["expert_parallel"] = job.expert;
  const auto nodes = [&](int accelerators) {
    const int of_node = job.accelerator.cluster->per_node;
    return (accelerators + of_node - 1) / of_node;
  };
  return scenario_from(
      {{"model", *job.model.model},
       {"cluster",
        {{"topology", job.accelerator.cluster->topology},
         {"nodes", nodes(training) + nodes(generating)},
         {"job_nodes", nodes(training)}}},
       {"profile", job.accelerator.profile},
       {"strategy", strategy},
       {"post_training",
        {{"rollouts", job.rollouts},
         {"prompt_tokens", kPromptTokens},
         {"mean_response", job.response},
         {"longest_response", job.longest},
         {"steps_off_policy", job.steps_off_policy},
         {"generation",
          {{"engine_accelerators", job.generation_tensor}, {"accelerators", generating}}}}}});
}

SyncOutcome predict_rollouts(const SyncQuestion& question) {
  const SyncRow& row = question.row;
  const auto read = rollout_job(row.set_up);
  if (const auto* reason = std::get_if<std::string>(&read)) return refused(*reason);
  const RolloutJob& job = std::get<RolloutJob>(read);
  const double published = said_number(row.set_up, "Total Step time(s) = ");
  if (published <= 0.0) return refused("the row has no time of a step");
  const Prediction prediction =
      simulate(rollout_scenario(job), {.scaling = false, .even_if_it_does_not_fit = true})
          .prediction;
  SyncOutcome outcome;
  outcome.assumed = {
      fmt::format("prompts of {:g} tokens; layers recomputed; rollouts packed", kPromptTokens)};
  if (job.steps_off_policy > 0) outcome.assumed.emplace_back("half of the accelerators generate");
  outcome.values = {{.what = "step, s",
                     .published = published,
                     .predicted = prediction.post_training->step.count(),
                     .ordered_with = row.source}};
  return outcome;
}

}  // namespace

SyncKind post_training_rows() {
  return {.name = "post-training",
          .about = "steps that generate rollouts and learn from them, nothing fitted",
          .takes = [](const SyncRow& row) { return row.kind == "rl_post_training"; },
          .predict = predict_rollouts};
}

}  // namespace headway

#include "sim/predict/question.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "sim/jobs/strategy.h"
#include "sim/scenario/provenance.h"

namespace headway {
namespace {

std::string schedule_text(const Strategy& strategy) {
  std::string text(strategy.schedule->title);
  if (strategy.schedule->interleaves() && strategy.virtual_stages > 1) {
    text += fmt::format(" x {}", strategy.virtual_stages);
  }
  return text;
}

std::string strategy_text(const Strategy& strategy) {
  std::string text = fmt::format("tp {}", strategy.tensor_parallel);
  if (strategy.context_parallel > 1) text += fmt::format(", cp {}", strategy.context_parallel);
  if (strategy.expert_parallel > 1) text += fmt::format(", ep {}", strategy.expert_parallel);
  if (strategy.expert_tensor_parallel > 1) {
    text += fmt::format(", etp {}", strategy.expert_tensor_parallel);
  }
  text += fmt::format(", pp {}, dp {}, global batch {}", strategy.pipeline_parallel,
                      strategy.data_parallel, strategy.global_batch);
  if (strategy.pipeline_parallel > 1) text += ", " + schedule_text(strategy);
  return text + strategy.synchronisation->work_text(strategy);
}

}  // namespace

Question question_of(const Scenario& scenario, const std::string& command_line) {
  Question question;
  question.model = scenario.model.name;
  question.cluster = scenario.cluster->name;
  question.node_type = scenario.cluster->type_names();
  const int of_node = scenario.cluster->node_type.accelerators;
  question.nodes = (scenario.accelerators() + of_node - 1) / of_node;
  question.accelerators = scenario.accelerators();
  question.strategy = strategy_text(*scenario.strategy);
  for (int kind = 0; kind < scenario.cluster->kinds(); ++kind) {
    const Profile& profile = scenario.profiles().of(kind);
    question.profile += fmt::format("{}{} ({})", kind > 0 ? ", " : "", profile.name, profile.kind);
  }
  question.scenario = scenario.resolved;
  question.provenance = provenance(scenario, command_line);
  return question;
}

}  // namespace headway

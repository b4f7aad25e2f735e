#include "sim/result/json/choice_json.h"

#include <nlohmann/json.hpp>

namespace headway {
namespace {

nlohmann::json axes_json(const Candidate& candidate) {
  nlohmann::json axes = nlohmann::json::object();
  for (const auto& [name, value] : candidate.axes) axes[name] = value;
  return axes;
}

}  // namespace

nlohmann::json choice_json(const std::vector<Candidate>& candidates) {
  const std::optional<Choice> choice = choice_of(candidates);
  if (!choice) return nullptr;
  nlohmann::json as_good = nlohmann::json::array();
  for (const std::size_t i : choice->as_good) as_good.push_back(axes_json(candidates[i]));
  return {{"objective", objective_name(choice->objective)},
          {"best", axes_json(candidates[choice->best])},
          {"within_1_percent", std::move(as_good)},
          {"fewest",
           choice->fewest ? axes_json(candidates[*choice->fewest]) : nlohmann::json(nullptr)}};
}

}  // namespace headway

#include "sim/result/json/choice_json.h"

#include <nlohmann/json.hpp>

namespace headway {
namespace {

nlohmann::json axes_json(const Candidates& candidates, std::size_t i) {
  nlohmann::json axes = nlohmann::json::object();
  for (const auto& [name, value] : candidates.axes(i)) axes[name] = value;
  return axes;
}

nlohmann::json fewest_json(const Choice& choice, const Candidates& candidates) {
  return choice.fewest ? axes_json(candidates, *choice.fewest) : nlohmann::json(nullptr);
}

}  // namespace

nlohmann::json choice_json(const std::vector<Candidate>& candidates) {
  const std::optional<Choice> choice = choice_of(candidates);
  if (!choice) return nullptr;
  nlohmann::json as_good = nlohmann::json::array();
  for (const std::size_t i : choice->as_good) as_good.push_back(axes_json(candidates, i));
  return {{"objective", objective_name(choice->objective)},
          {"best", axes_json(candidates, choice->best)},
          {"within_1_percent", std::move(as_good)},
          {"fewest", fewest_json(*choice, candidates)}};
}

void write_choice(JsonStream& document, const Candidates& candidates) {
  const std::optional<Choice> choice = choice_of(candidates);
  if (!choice) return document.member("choice", nullptr);
  document.begin_object("choice");
  document.member("best", axes_json(candidates, choice->best));
  document.member("fewest", fewest_json(*choice, candidates));
  document.member("objective", objective_name(choice->objective));
  document.begin_list("within_1_percent");
  for (const std::size_t i : choice->as_good) document.element(axes_json(candidates, i));
  document.end();
  document.end();
}

}  // namespace headway

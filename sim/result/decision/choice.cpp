#include "sim/result/decision/choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "sim/base/join_words.h"
#include "sim/base/parse_number.h"
#include "sim/result/number_text.h"

namespace headway {
namespace {

constexpr double kAsGood = 0.01;    ///< of the best: less than predictions are off
constexpr double kClosest = 0.001;  ///< what a page shows of a percentage
constexpr std::array<std::string_view, 5> kPaidFor = {"gpus", "gpus_weak", "nodes",
                                                      "/cluster/nodes", "/reliability/spare_nodes"};

/// The objective that all of them can be judged by.
Objective common_objective(const std::vector<Candidate>& candidates) {
  const auto all_have = [&](Objective objective) {
    return std::ranges::all_of(candidates, [&](const Candidate& candidate) {
      return !candidate.numbers.throughput || objective_number(objective, candidate.numbers);
    });
  };
  const auto found = std::ranges::find_if(kObjectives, all_have);
  return found == kObjectives.end() ? Objective::throughput : *found;
}

/// Index of the only axis that has more than one value.
std::optional<std::size_t> only_axis(const std::vector<Candidate>& candidates) {
  std::optional<std::size_t> varying;
  for (std::size_t i = 0; i < candidates.front().axes.size(); ++i) {
    const std::string& first = candidates.front().axes[i].second;
    const bool varies = std::ranges::any_of(
        candidates, [&](const Candidate& candidate) { return candidate.axes[i].second != first; });
    if (!varies) continue;
    if (varying) return std::nullopt;
    varying = i;
  }
  return varying;
}

/// Of `among` the one with the least value of what is paid for; nothing if nothing of that varies.
std::optional<std::size_t> fewest_of(const std::vector<Candidate>& candidates,
                                     const std::vector<std::size_t>& among) {
  const std::optional<std::size_t> axis = only_axis(candidates);
  if (!axis) return std::nullopt;
  if (std::ranges::find(kPaidFor, candidates.front().axes[*axis].first) == kPaidFor.end()) {
    return std::nullopt;
  }
  std::optional<std::size_t> fewest;
  double least = 0.0;
  for (const std::size_t i : among) {
    const auto value = parse_number<double>(candidates[i].axes[*axis].second);
    if (!value || (fewest && *value >= least)) continue;
    fewest = i;
    least = *value;
  }
  return fewest;
}

/// The values of the only axis, or the names, of those that are as good as the best.
std::string as_good_text(const Choice& choice, const std::vector<Candidate>& candidates) {
  constexpr std::size_t kMostNamed = 8;
  const auto judged = std::ranges::count_if(candidates, [](const Candidate& candidate) {
    return candidate.numbers.throughput.has_value();
  });
  if (std::ssize(choice.as_good) == judged) {
    return judged == 2 ? " Both are within 1 % of each other."
                       : fmt::format(" All {} are within 1 % of it.", judged);
  }
  const std::optional<std::size_t> axis = only_axis(candidates);
  std::vector<std::string> names;
  for (const std::size_t i : choice.as_good) {
    if (i == choice.best) continue;
    names.push_back(axis ? candidates[i].axes[*axis].second : "(" + candidates[i].name() + ")");
  }
  if (names.size() > kMostNamed) return fmt::format(" {} more are within 1 % of it.", names.size());
  return fmt::format(" Within 1 % of it: {}.", join_words(names, ", "));
}

}  // namespace

std::string Candidate::name() const {
  std::string name;
  for (const auto& [axis, value] : axes) {
    name += fmt::format("{}{} {}", name.empty() ? "" : ", ", axis, value);
  }
  return name;
}

std::optional<Choice> choice_of(const std::vector<Candidate>& candidates) {
  if (candidates.empty()) return std::nullopt;
  Choice choice{.objective = common_objective(candidates)};
  std::optional<double> most;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const std::optional<double> here = merit(choice.objective, candidates[i].numbers);
    if (!here || (most && *here <= *most)) continue;
    most = here;
    choice.best = i;
  }
  if (!most) return std::nullopt;
  const auto within = [&](double share) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < candidates.size(); ++i) {
      const std::optional<double> here = merit(choice.objective, candidates[i].numbers);
      if (here && *here >= *most - share * std::abs(*most)) found.push_back(i);
    }
    return found;
  };
  choice.as_good = within(kAsGood);
  choice.fewest = fewest_of(candidates, choice.as_good);
  choice.fewest_of_closest = fewest_of(candidates, within(kClosest));
  return choice;
}

std::vector<Objective> objectives_beside_throughput(const std::vector<Candidate>& candidates) {
  std::vector<Objective> shown;
  for (const Objective objective : kObjectives) {
    const bool is_known = std::ranges::any_of(candidates, [&](const Candidate& candidate) {
      return objective_number(objective, candidate.numbers).has_value();
    });
    if (is_known && objective != Objective::throughput) shown.push_back(objective);
  }
  return shown;
}

std::string choice_text(const Choice& choice, const std::vector<Candidate>& candidates) {
  const Candidate& best = candidates[choice.best];
  std::string text = fmt::format("{} {}: {} on {} GPUs.", superlative(choice.objective),
                                 best.name(), objective_text(choice.objective, best.numbers),
                                 whole_number(best.numbers.accelerators));
  if (choice.fewest && *choice.fewest != choice.best) {
    const std::size_t axis = *only_axis(candidates);
    const auto counted = [&](std::size_t i) {
      return fmt::format("{}, with {}", candidates[i].axes[axis].second,
                         objective_text(choice.objective, candidates[i].numbers));
    };
    text += fmt::format(" The fewest within 1 % of it: {}", counted(*choice.fewest));
    const std::size_t closest = *choice.fewest_of_closest;
    if (closest != *choice.fewest) text += fmt::format("; within 0.1 %: {}", counted(closest));
    return text + ".";
  }
  if (choice.as_good.size() > 1) text += as_good_text(choice, candidates);
  return text;
}

}  // namespace headway

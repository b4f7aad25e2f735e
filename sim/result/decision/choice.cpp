#include "sim/result/decision/choice.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <string_view>
#include <utility>

#include "sim/base/join_words.h"
#include "sim/base/parse_number.h"
#include "sim/base/quantity_text.h"
#include "sim/result/number_text.h"

namespace headway {
namespace {

constexpr double kAsGood = 0.01;    ///< of the best: less than predictions are off
constexpr double kClosest = 0.001;  ///< what a page shows of a percentage
constexpr std::array<std::string_view, 5> kPaidFor = {"gpus", "gpus_weak", "nodes",
                                                      "/cluster/nodes", "/reliability/spare_nodes"};

/// The objective that all of them can be judged by, and how many these are.
void look_over(const Candidates& candidates, Choice& choice) {
  std::array<bool, kObjectives.size()> all_have;
  all_have.fill(true);
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    const DecisionNumbers numbers = candidates.numbers(i);
    if (!numbers.throughput) continue;
    ++choice.judged;
    for (std::size_t k = 0; k < kObjectives.size(); ++k) {
      all_have[k] = all_have[k] && objective_number(kObjectives[k], numbers);
    }
  }
  const auto found = std::ranges::find(all_have, true);
  if (found != all_have.end()) choice.objective = kObjectives[found - all_have.begin()];
}

/// Index of the only axis that has more than one value.
std::optional<std::size_t> only_axis(const Candidates& candidates) {
  const auto first = candidates.axes(0);
  std::optional<std::size_t> varying;
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    const auto axes = candidates.axes(i);
    for (std::size_t axis = 0; axis < axes.size(); ++axis) {
      if (axis == varying || axes[axis].second == first[axis].second) continue;
      if (varying) return std::nullopt;
      varying = axis;
    }
    if (varying && first.size() == 1) return varying;
  }
  return varying;
}

/// The one of `among` with the least value of what is paid for; nothing if nothing of that varies.
std::optional<std::size_t> fewest_of(const Candidates& candidates, std::optional<std::size_t> axis,
                                     const std::vector<std::size_t>& among) {
  if (!axis) return std::nullopt;
  if (std::ranges::find(kPaidFor, candidates.axes(0)[*axis].first) == kPaidFor.end()) {
    return std::nullopt;
  }
  std::optional<std::size_t> fewest;
  double least = 0.0;
  for (const std::size_t i : among) {
    const auto value = parse_number<double>(candidates.axes(i)[*axis].second);
    if (!value || (fewest && *value >= least)) continue;
    fewest = i;
    least = *value;
  }
  return fewest;
}

/// The values of the only axis, or the names, of those that are as good as the best.
std::string as_good_text(const Choice& choice, const Candidates& candidates) {
  constexpr std::size_t kMostNamed = 8;
  if (choice.as_good.size() == choice.judged) {
    return choice.judged == 2 ? " Both are within 1 % of each other."
                              : fmt::format(" All {} are within 1 % of it.", choice.judged);
  }
  const std::size_t others = choice.as_good.size() - 1;
  if (others > kMostNamed) return fmt::format(" {} more are within 1 % of it.", others);
  std::vector<std::string> names;
  for (const std::size_t i : choice.as_good) {
    if (i == choice.best) continue;
    const Candidate candidate = candidates[i];
    names.push_back(choice.only_axis ? candidate.axes[*choice.only_axis].second
                                     : "(" + candidate.name() + ")");
  }
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

Candidates::Candidates(const std::vector<Candidate>& all)
    : Candidates(
          all.size(), [&all](std::size_t i) { return all[i].numbers; },
          [&all](std::size_t i) { return all[i].axes; }) {}

Candidates::Candidates(std::size_t size, std::function<DecisionNumbers(std::size_t)> numbers,
                       std::function<decltype(Candidate::axes)(std::size_t)> axes)
    : size_(size), numbers_(std::move(numbers)), axes_(std::move(axes)) {}

std::optional<Choice> choice_of(const Candidates& candidates) {
  if (candidates.size() == 0) return std::nullopt;
  Choice choice;
  look_over(candidates, choice);
  constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
  std::vector<double> merits(candidates.size(), kNone);
  std::optional<double> most;
  for (std::size_t i = 0; i < merits.size(); ++i) {
    merits[i] = merit(choice.objective, candidates.numbers(i)).value_or(kNone);
    if (std::isnan(merits[i]) || (most && merits[i] <= *most)) continue;
    most = merits[i];
    choice.best = i;
  }
  if (!most) return std::nullopt;
  const auto within = [&](double share) {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < merits.size(); ++i) {
      if (merits[i] >= *most - share * std::abs(*most)) found.push_back(i);
    }
    return found;
  };
  choice.only_axis = only_axis(candidates);
  choice.as_good = within(kAsGood);
  choice.fewest = fewest_of(candidates, choice.only_axis, choice.as_good);
  choice.fewest_of_closest = fewest_of(candidates, choice.only_axis, within(kClosest));
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

std::string choice_text(const Choice& choice, const Candidates& candidates) {
  const Candidate best = candidates[choice.best];
  std::string text = fmt::format("{} {}: {} on {} {}.", superlative(choice.objective), best.name(),
                                 objective_text(choice.objective, best.numbers),
                                 whole_number(best.numbers.accelerators),
                                 plural(best.numbers.accelerators, "GPU"));
  if (choice.fewest && *choice.fewest != choice.best) {
    const auto counted = [&](std::size_t i) {
      const Candidate candidate = candidates[i];
      return fmt::format("{}, with {}", candidate.axes[*choice.only_axis].second,
                         objective_text(choice.objective, candidate.numbers));
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

#include "sim/plan/leaders.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/base/child_process.h"
#include "sim/base/quantity_text.h"
#include "sim/files/json_pointer.h"
#include "sim/plan/pareto.h"
#include "sim/predict/simulate.h"
#include "sim/result/prediction_bytes.h"
#include "sim/result/words/advice.h"
#include "sim/sweep/sweep_point.h"

namespace headway {
namespace {

using nlohmann::json;

constexpr std::size_t kBatch = 4;

std::string simulated(const Leader& leader, const LeaderOptions& options) {
  Diagnostics diagnostics;
  const Scenario scenario = read_scenario(options.path, leader.options, diagnostics);
  const Prediction prediction =
      simulate(scenario,
               {.scaling = false, .command_line = simulate_line(options.path, leader.options)})
          .prediction;
  ByteWriter bytes;
  put_prediction(bytes, prediction);
  return bytes.take();
}

/// Simulates those from `first` on.
void simulate_from(std::size_t first, std::vector<Leader>& leaders, const LeaderOptions& options) {
  std::vector<std::function<std::string()>> tasks;
  for (std::size_t i = first; i < leaders.size(); ++i) {
    tasks.emplace_back([&, i] { return simulated(leaders[i], options); });
  }
  std::size_t done = first;
  const auto tell = [&] {
    if (options.progress && !tasks.empty()) options.progress(done, leaders.size());
  };
  tell();
  std::vector<ChildOutcome> outcomes =
      run_in_children(tasks, options.jobs, [&](std::size_t /*task*/, const ChildOutcome&) {
        ++done;
        tell();
      });
  for (std::size_t i = first; i < leaders.size(); ++i) {
    const std::string answer = output_or_throw(std::move(outcomes[i - first]));
    ByteReader bytes(answer);
    leaders[i].prediction = get_prediction(bytes);
  }
}

/// Where the time went that the winner did not need.
std::string why_lost(const Leader& loser, const Leader& winner) {
  const Seconds behind = loser.time() - winner.time();
  if (behind <= Seconds(0.0)) return "no faster";
  Seconds most(0.0);
  std::string_view title;
  for (std::size_t i = 0; i < kCauses; ++i) {
    const auto cause = static_cast<Cause>(i);
    const Seconds more = loser.prediction.breakdown[cause] - winner.prediction.breakdown[cause];
    if (more <= most) continue;
    most = more;
    title = cause_title(cause);
  }
  std::string text = fmt::format("{} slower", short_text(behind));
  if (!title.empty()) text += fmt::format("; {} {} more", title, short_text(most));
  return text;
}

void mark_front(std::vector<Leader>& leaders) {
  std::vector<std::vector<double>> points;
  for (const Leader& leader : leaders) {
    points.push_back({leader.time().count(), leader.memory().count()});
  }
  const std::vector<bool> front = pareto_front(points);
  for (std::size_t i = 0; i < leaders.size(); ++i) leaders[i].is_on_front = front[i];
}

Leader leader_of(const StrategySpace& space, const RankedStrategy& ranked,
                 const LeaderOptions& options) {
  Leader leader{.ranked = ranked, .options = options.options};
  for (Override& field : choice_overrides(space, ranked.choice)) {
    set_override(leader.options.overrides, std::move(field));
  }
  return leader;
}

}  // namespace

Bytes Leader::memory() const { return fullest_memory(prediction.memory).total(); }

std::vector<Override> choice_overrides(const StrategySpace& space, const StrategyChoice& choice) {
  const json& base = space.scenario().resolved->at("strategy");
  const json fields = space.fields(choice);
  std::vector<Override> overrides;
  for (const auto& [name, value] : fields.items()) {
    if (base.contains(name) && base.at(name) == value) continue;
    overrides.push_back(
        {"/strategy/" + name, value.is_string() ? value.get<std::string>() : value.dump()});
  }
  // A field that has to go cannot be set: the object is set as a whole.
  const bool loses_fields = std::ranges::any_of(
      base.items(), [&](const auto& field) { return !fields.contains(field.key()); });
  if (loses_fields) overrides = {{"/strategy", fields.dump()}};
  return overrides;
}

void set_override(std::vector<Override>& overrides, Override field) {
  std::erase_if(overrides, [&](const Override& earlier) {
    return is_at_or_below(earlier.pointer, field.pointer);
  });
  overrides.push_back(std::move(field));
}

std::vector<Leader> simulated_leaders(const StrategySpace& space, const LeaderOptions& options,
                                      StrategySearch& search) {
  StrategySearcher searcher(space);
  search = searcher.search({.best = options.best, .slacks = options.slacks});
  std::vector<Leader> leaders;
  double kindest = 1.0;  // the least of simulation over closed form
  Seconds fastest;
  const auto is_open = [&](Seconds closed_form) {
    return leaders.size() < options.best || kindest * closed_form < fastest;
  };
  const auto is_known = [&](const RankedStrategy& ranked) {
    return std::ranges::any_of(
        leaders, [&](const Leader& leader) { return leader.ranked.choice == ranked.choice; });
  };
  for (auto next = search.ranked.begin();;) {
    next = std::find_if_not(next, search.ranked.end(), is_known);
    if (next == search.ranked.end() || !is_open(next->time)) {
      // What the search left out is no faster than this by its closed form.
      const Seconds all_below = (1.0 / kindest) * fastest;
      if (all_below <= search.complete_below) break;
      search =
          searcher.search({.best = options.best, .slacks = options.slacks, .all_below = all_below});
      next = search.ranked.begin();
      continue;
    }
    const std::size_t first = leaders.size();
    // In batches whose size depends on no number of cores, or the answer would.
    const std::size_t wanted = first < options.best ? options.best : kBatch;
    for (; next != search.ranked.end() && leaders.size() < first + wanted; ++next) {
      if (!is_known(*next)) leaders.push_back(leader_of(space, *next, options));
    }
    simulate_from(first, leaders, options);
    for (std::size_t i = first; i < leaders.size(); ++i) {
      kindest = std::min(kindest, leaders[i].time() / leaders[i].ranked.time);
      fastest = i == 0 ? leaders[i].time() : min(fastest, leaders[i].time());
    }
  }
  const std::size_t fastest_ones = leaders.size();
  for (const RankedStrategy& roomy : search.roomy) {
    if (!is_known(roomy)) leaders.push_back(leader_of(space, roomy, options));
  }
  simulate_from(fastest_ones, leaders, options);
  std::ranges::stable_sort(leaders, {}, [](const Leader& leader) { return leader.time(); });
  for (std::size_t i = 1; i < leaders.size(); ++i) {
    leaders[i].lost = why_lost(leaders[i], leaders.front());
  }
  mark_front(leaders);
  return leaders;
}

}  // namespace headway

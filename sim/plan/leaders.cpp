#include "sim/plan/leaders.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "sim/base/byte_stream.h"
#include "sim/base/child_process.h"
#include "sim/base/quantity_text.h"
#include "sim/files/json_pointer.h"
#include "sim/files/json_text.h"
#include "sim/plan/kindness.h"
#include "sim/plan/pareto.h"
#include "sim/plan/strategy_searcher.h"
#include "sim/predict/simulate.h"
#include "sim/result/prediction_bytes.h"
#include "sim/result/words/advice.h"
#include "sim/sweep/sweep_point.h"

namespace headway {
namespace {

using nlohmann::json;

constexpr std::size_t kBatch = 4;

/// So many draws of what the scenario is with these options, as bytes. `first_draw`: how many
/// seconds the first of several takes, if it was simulated before.
std::string simulated(const std::string& path, const ScenarioOptions& options, int draws,
                      std::optional<double> first_draw) {
  Diagnostics diagnostics;
  Scenario scenario = read_scenario(path, options, diagnostics);
  ScenarioOptions alone = options;
  const bool is_other = std::exchange(scenario.run.replicas, draws) != draws;
  if (is_other && scenario.perturbation.random()) alone.replicas = draws;
  const Prediction prediction = simulate(scenario, {.scaling = false,
                                                    .first_draw = first_draw,
                                                    .command_line = simulate_line(path, alone)})
                                    .prediction;
  ByteWriter bytes;
  put_prediction(bytes, prediction);
  return bytes.take();
}

/// What is known of a leader that is drawn several times: it was drawn once before. Where its steps
/// wait for samples, that did not tell what it takes itself.
std::optional<double> first_draw_of(const Leader& leader, int draws) {
  const std::optional<InputUse>& input = leader.prediction.input;
  if (draws == 1 || (input && input->stalled > Seconds(0.0))) return std::nullopt;
  return leader.prediction.replica_time.median;
}

/// What another process has to know of a leader to simulate it, and how often, as bytes.
std::string task_of(const Leader& leader, int draws) {
  ByteWriter bytes;
  bytes.put(draws);
  const std::optional<double> first_draw = first_draw_of(leader, draws);
  bytes.put(first_draw.has_value());
  bytes.put(first_draw.value_or(0.0));
  bytes.put(leader.options.overrides.size());
  for (const Override& field : leader.options.overrides) {
    bytes.put(field.pointer);
    bytes.put(field.value_text);
  }
  return bytes.take();
}

std::string simulated_task(const std::string& path, ScenarioOptions options,
                           const std::string& task) {
  ByteReader bytes(task);
  int draws = 0;
  bool is_drawn = false;
  double first_draw = 0.0;
  std::size_t fields = 0;
  bytes.get(draws);
  bytes.get(is_drawn);
  bytes.get(first_draw);
  bytes.get(fields);
  options.overrides.assign(fields, {});
  for (Override& field : options.overrides) {
    bytes.get(field.pointer);
    bytes.get(field.value_text);
  }
  return simulated(path, options, draws,
                   is_drawn ? std::optional(first_draw) : std::optional<double>());
}

/// Simulates so many draws of some of the leaders.
void simulate_some(const std::vector<std::size_t>& which, int draws, std::vector<Leader>& leaders,
                   const LeaderOptions& options) {
  std::vector<ChildOutcome> outcomes(which.size());
  std::size_t done = leaders.size() - which.size();
  const auto tell = [&] {
    if (options.progress && !which.empty()) options.progress(done, leaders.size());
  };
  const auto finished = [&](std::size_t task, ChildOutcome& outcome) {
    outcomes[task] = std::move(outcome);
    ++done;
    tell();
  };
  tell();
  if (options.crew != nullptr) {
    options.crew->lead(
        which.size(), [&](std::size_t task) { return task_of(leaders[which[task]], draws); },
        finished);
  } else {
    const auto task_here = [&](std::size_t task) {
      const Leader& leader = leaders[which[task]];
      return simulated(options.path, leader.options, draws, first_draw_of(leader, draws));
    };
    run_each_in_children(which.size(), task_here, options.jobs, finished);
  }
  for (std::size_t i = 0; i < which.size(); ++i) {
    const std::string answer = output_or_throw(std::move(outcomes[i]));
    ByteReader bytes(answer);
    leaders[which[i]].prediction = get_prediction(bytes);
  }
}

/// One draw of those from `first` on.
void simulate_from(std::size_t first, std::vector<Leader>& leaders, const LeaderOptions& options) {
  std::vector<std::size_t> which(leaders.size() - first);
  std::iota(which.begin(), which.end(), first);
  simulate_some(which, 1, leaders, options);
}

/// How far one draw may be from the median of many: twice the widest range of those that were
/// drawn often, which of five draws is about four standard deviations.
double one_draw_is_off(const std::vector<Leader>& leaders) {
  double widest = 0.0;
  for (const Leader& leader : leaders) {
    const Percentiles& of = leader.prediction.replica_time;
    if (leader.prediction.replicas > 1) widest = std::max(widest, (of.high - of.low) / of.median);
  }
  return 2.0 * widest;
}

/// All draws of those that may then be the fastest, of the first few at least.
void simulate_in_full(int draws, std::vector<Leader>& leaders, const LeaderOptions& options) {
  constexpr std::size_t kAtLeast = 2;
  std::vector<std::size_t> order(leaders.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t i) { return leaders[i].time(); });
  order.resize(std::min(order.size(), kAtLeast));
  std::vector<bool> is_done(leaders.size(), false);
  while (!order.empty()) {
    simulate_some(order, draws, leaders, options);
    for (const std::size_t i : order) is_done[i] = true;
    order.clear();
    const Seconds fastest = std::ranges::min(leaders, {}, &Leader::time).time();
    const Seconds limit = (1.0 + one_draw_is_off(leaders)) * fastest;
    for (std::size_t i = 0; i < leaders.size(); ++i) {
      if (leaders[i].time() <= limit && !is_done[i]) order.push_back(i);
    }
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

void follow_plan(MpiCrew& crew, const std::string& path, const ScenarioOptions& options) {
  crew.follow([&](const std::string& task) { return simulated_task(path, options, task); });
}

std::vector<Override> choice_overrides(const StrategySpace& space, const StrategyChoice& choice) {
  const json& base = space.scenario().resolved->at("strategy");
  const json fields = space.fields(choice);
  std::vector<Override> overrides;
  for (const auto& [name, value] : fields.items()) {
    if (base.contains(name) && base.at(name) == value) continue;
    overrides.push_back({"/strategy/" + name, unquoted_json(value)});
  }
  // A field that has to go cannot be set: the object is set as a whole. What a preset brings along
  // goes by itself where it says nothing.
  const json& given = space.scenario().given->at("strategy");
  const bool loses_fields = std::ranges::any_of(base.items(), [&](const auto& field) {
    const bool is_own = !given.is_object() || given.contains(field.key());
    return is_own && !fields.contains(field.key());
  });
  if (loses_fields) overrides = {{"/strategy", compact_json(fields)}};
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
  Kindness kindness;
  Seconds fastest;
  const auto is_known = [&](const RankedStrategy& ranked) {
    return std::ranges::any_of(
        leaders, [&](const Leader& leader) { return leader.ranked.choice == ranked.choice; });
  };
  for (;;) {
    const std::size_t first = leaders.size();
    // In batches whose size depends on no number of cores, or the answer would.
    const std::size_t wanted = std::min(first < options.best ? options.best : kBatch,
                                        std::max(options.best, options.most) - first);
    for (const RankedStrategy& next : search.ranked) {
      const bool is_short = leaders.size() < options.best;
      if (leaders.size() == first + wanted) break;
      if (!is_short && kindness.least() * next.time >= fastest) break;
      const bool may_win = is_short || kindness.least_of(next.choice) * next.time < fastest;
      if (may_win && !is_known(next)) leaders.push_back(leader_of(space, next, options));
    }
    if (leaders.size() == first) {
      if (wanted == 0) break;
      // What the search left out is no faster than this by its closed form.
      const Seconds all_below = (1.0 / kindness.least()) * fastest;
      if (all_below <= search.complete_below) break;
      search =
          searcher.search({.best = options.best, .slacks = options.slacks, .all_below = all_below});
      continue;
    }
    simulate_from(first, leaders, options);
    for (std::size_t i = first; i < leaders.size(); ++i) {
      kindness.note(leaders[i].ranked.choice, leaders[i].time() / leaders[i].ranked.time);
      fastest = i == 0 ? leaders[i].time() : min(fastest, leaders[i].time());
    }
  }
  const std::size_t fastest_ones = leaders.size();
  for (const RankedStrategy& roomy : search.roomy) {
    if (!is_known(roomy)) leaders.push_back(leader_of(space, roomy, options));
  }
  simulate_from(fastest_ones, leaders, options);
  const Scenario& scenario = space.scenario();
  if (scenario.perturbation.random() && scenario.run.replicas > 1 && !leaders.empty()) {
    simulate_in_full(scenario.run.replicas, leaders, options);
  }
  std::ranges::stable_sort(leaders, {}, [](const Leader& leader) { return leader.time(); });
  for (std::size_t i = 1; i < leaders.size(); ++i) {
    leaders[i].lost = why_lost(leaders[i], leaders.front());
  }
  mark_front(leaders);
  return leaders;
}

}  // namespace headway

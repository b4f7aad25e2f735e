#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "sim/plan/strategy_plan.h"
#include "sim/predict/simulate.h"
#include "tests/support/scenario_text.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

/// A planning problem on four accelerators, small enough to simulate every strategy that fits.
struct Problem {
  std::string name;
  nlohmann::json changes;  ///< of the small scenario, as a merge patch
  std::set<std::string> kept = {"recompute"};
};

void PrintTo(const Problem& problem, std::ostream* stream) { *stream << problem.name; }

nlohmann::json slow(std::initializer_list<std::pair<int, double>> accelerators) {
  nlohmann::json list = nlohmann::json::array();
  for (const auto& [accelerator, factor] : accelerators) {
    list.push_back({{"accelerator", accelerator}, {"time_factor", factor}});
  }
  return {{"perturbations", {{"slow_accelerators", list}}}};
}

nlohmann::json model(const nlohmann::json& changes) { return {{"model", changes}}; }

nlohmann::json nics_of(const char* bandwidth) {
  return {
      {"cluster",
       {{"topology",
         {{"node", {{"nics", {{"count", 1}, {"bandwidth", bandwidth}, {"latency", "5 us"}}}}}}}}}};
}

nlohmann::json both(nlohmann::json a, const nlohmann::json& b) {
  a.merge_patch(b);
  return a;
}

std::vector<Problem> problems() {
  const nlohmann::json large = model({{"hidden", 4096}, {"ffn_hidden", 16384}});
  const nlohmann::json drawn = {
      {"perturbations", {{"device_spread", 0.02}, {"operation_spread", 0.05}}}};
  const nlohmann::json experts =
      both(model({{"mixture_of_experts",
                   {{"experts", 8}, {"experts_per_token", 2}, {"expert_hidden", 2048}}}}),
           {{"strategy", {{"sequence_parallel", true}}}});
  return {
      {"dense", {}},
      {"dense, with recomputation", {}, {"schedule", "virtual_stages"}},
      {"large", large},
      {"tight memory", model({{"hidden", 10240}, {"ffn_hidden", 40960}}), {"virtual_stages"}},
      {"experts", experts, {"recompute", "virtual_stages", "schedule"}},
      {"few micro-batches", {{"strategy", {{"global_batch", 4}}}}},
      {"slow Ethernet", nics_of("1.25 GB/s")},
      {"large on Ethernet", both(large, nics_of("12.5 GB/s"))},
      {"drawn", drawn},
      {"large, drawn", both(large, drawn)},
      {"few micro-batches, drawn", both({{"strategy", {{"global_batch", 4}}}}, drawn)},
      {"a slow accelerator, drawn", both(slow({{1, 1.1}}), drawn)},
      {"one slow accelerator", slow({{3, 1.25}})},
      {"a slow node", slow({{2, 1.5}, {3, 1.5}})},
      {"one in each node", slow({{0, 1.1}, {3, 1.4}})},
      {"large with a slow accelerator", both(large, slow({{1, 1.25}}))},
      {"slow on Ethernet", both(slow({{0, 2.0}}), nics_of("1.25 GB/s"))},
      {"experts with a slow one",
       both(experts, slow({{2, 1.25}})),
       {"recompute", "virtual_stages", "schedule"}},
      {"long sequences", model({{"sequence_length", 8192}})},
  };
}

class BruteForce : public testing::TestWithParam<Problem> {};

TEST_P(BruteForce, FindsNoFasterStrategyThanThePlan) {
  const Problem& problem = GetParam();
  nlohmann::json text = small_scenario(2);
  if (!problem.changes.is_null()) text.merge_patch(problem.changes);
  const ScratchFolder scratch;
  PlanOptions options;
  options.leaders.path = scratch.write("scenario.json", text.dump());
  options.kept = problem.kept;
  Diagnostics diagnostics;
  const Scenario scenario = read_scenario(options.leaders.path, {}, diagnostics);

  const StrategySpace space(scenario, problem.kept);
  const Bytes capacity(scenario.profile->device.memory_bytes.value);
  Seconds fastest(std::numeric_limits<double>::infinity());
  int simulated = 0;
  std::string best;
  space.for_each([&](const StrategyChoice& choice) {
    if (fullest_or_above(space, choice, capacity) > capacity) return;
    const ScenarioOptions chosen{.overrides = choice_overrides(space, choice)};
    const Scenario one = read_scenario(options.leaders.path, chosen, diagnostics);
    const Seconds time = simulate(one, {.scaling = false}).prediction.iteration_time;
    ++simulated;
    if (time >= fastest) return;
    fastest = time;
    best = nlohmann::json(space.fields(choice)).dump();
  });
  ASSERT_GT(simulated, 20);

  const StrategyPlan plan = plan_strategy(options, scenario);
  ASSERT_FALSE(plan.leaders.empty());
  const bool is_lost = plan.leaders.front().time() > (1.0 + 1e-9) * fastest;
  RecordProperty("candidates", simulated);  // scripts/bench.sh --brute adds them up
  RecordProperty("losses", is_lost ? 1 : 0);
  EXPECT_FALSE(is_lost) << "missed: " << best;
}

INSTANTIATE_TEST_SUITE_P(Small, BruteForce, testing::ValuesIn(problems()),
                         [](const testing::TestParamInfo<Problem>& problem) {
                           std::string name = problem.param.name;
                           std::erase_if(name, [](char c) { return c == ',' || c == '-'; });
                           std::ranges::replace(name, ' ', '_');
                           return name;
                         });

}  // namespace
}  // namespace headway

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>

#include "sim/base/child_process.h"
#include "sim/jobs/strategy.h"
#include "sim/plan/strategy_plan.h"
#include "sim/predict/job_run.h"
#include "tests/support/scenario_text.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

/// A planning problem on four accelerators, or six, small enough to simulate every strategy that
/// fits.
struct Problem {
  std::string name;
  nlohmann::json changes;  ///< of the small scenario, as a merge patch
  int nodes = 2;
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
  const nlohmann::json tight = model({{"hidden", 10240}, {"ffn_hidden", 40960}});
  const nlohmann::json long_sequences = model({{"sequence_length", 8192}});
  const nlohmann::json sharded = {
      {"strategy", {{"tensor_parallel", 1}, {"pipeline_parallel", 1}, {"zero_stage", 3}}}};
  // As torchtitan has it, stages and experts too.
  const nlohmann::json torchtitan = {
      {"strategy",
       {{"preset", "torchtitan"}, {"reshard_after_forward", false}, {"sequence_parallel", true}}}};
  const nlohmann::json drawn = {
      {"perturbations", {{"device_spread", 0.02}, {"operation_spread", 0.05}}}};
  const nlohmann::json experts =
      both(model({{"mixture_of_experts",
                   {{"experts", 8}, {"experts_per_token", 2}, {"expert_hidden", 2048}}}}),
           {{"strategy", {{"sequence_parallel", true}}}});
  return {
      {"dense", {}},
      {"few heads", model({{"attention_heads", 8}, {"kv_heads", 2}})},
      {"large", large},
      {"tight memory", tight},
      {"experts", experts},
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
      {"experts with a slow one", both(experts, slow({{2, 1.25}}))},
      {"long sequences", long_sequences},
      {"long sequences on Ethernet", both(long_sequences, nics_of("1.25 GB/s"))},
      {"long sequences, drawn", both(long_sequences, drawn)},
      {"fully sharded", sharded},
      {"fully sharded on Ethernet", both(sharded, nics_of("12.5 GB/s"))},
      {"fully sharded with a slow accelerator", both(sharded, slow({{2, 1.25}}))},
      {"stages fully sharded", both(large, torchtitan)},
      {"stages fully sharded on Ethernet", both(torchtitan, nics_of("12.5 GB/s"))},
      {"experts fully sharded", both(experts, torchtitan)},
      {"tight memory, drawn", both(tight, drawn)},
      {"tight memory with a slow accelerator", both(tight, slow({{1, 1.25}}))},
      {"experts, drawn", both(experts, drawn)},
      {"experts on Ethernet", both(experts, nics_of("12.5 GB/s"))},
      {"a vocabulary larger than all layers", model({{"vocabulary", 256000}})},
      {"deep and narrow", model({{"layers", 24}, {"hidden", 512}, {"ffn_hidden", 2048}})},
      {"a slow cable",
       {{"perturbations", {{"slow_links", {{{"nic", "node1/nic0"}, {"bandwidth_factor", 0.5}}}}}}}},
      {"three nodes", {{"strategy", {{"pipeline_parallel", 1}}}}, 3},
  };
}

/// What became of all strategies of a space that fit.
struct Simulated {
  int count = 0;
  Seconds fastest = Seconds(std::numeric_limits<double>::infinity());
  std::string best;
};

/// One after the other in a child, none of which forks another.
Simulated simulate_all(const Scenario& scenario, const StrategySpace& space) {
  const Bytes capacity(scenario.profile->device.memory_bytes.value);
  const auto all = [&](std::size_t) {
    Simulated simulated;
    StrategyChoice best;
    space.for_each([&](const StrategyChoice& choice) {
      if (fullest_or_above(space, choice, capacity) > capacity) return;
      const Seconds time =
          run_job(scenario, space.strategy(choice), scenario.run.replicas, 1).time();
      ++simulated.count;
      if (time >= simulated.fastest) return;
      simulated.fastest = time;
      best = choice;
    });
    return nlohmann::json{simulated.count, simulated.fastest.count(), space.fields(best).dump()}
        .dump();
  };
  std::string output;
  run_each_in_children(1, all, 1, [&](std::size_t, ChildOutcome& outcome) {
    output = output_or_throw(std::move(outcome));
  });
  const auto parts = nlohmann::json::parse(output);
  return {parts[0].get<int>(), Seconds(parts[1].get<double>()), parts[2].get<std::string>()};
}

class BruteForce : public testing::TestWithParam<Problem> {};

TEST_P(BruteForce, FindsNoFasterStrategyThanThePlan) {
  const Problem& problem = GetParam();
  // scripts/bench.sh --brute asks for the same on twice as many accelerators.
  const int times = std::getenv("HEADWAY_LARGE_PROBLEMS") != nullptr ? 2 : 1;
  nlohmann::json text = small_scenario(times * problem.nodes);
  if (!problem.changes.is_null()) text.merge_patch(problem.changes);
  const ScratchFolder scratch;
  PlanOptions options;
  options.leaders.path = scratch.write("scenario.json", text.dump());
  Diagnostics diagnostics;
  const Scenario scenario = read_scenario(options.leaders.path, {}, diagnostics);
  const Simulated simulated = simulate_all(scenario, StrategySpace(scenario, {}));
  ASSERT_GT(simulated.count, 20);

  const StrategyPlan plan = plan_strategy(options, scenario);
  ASSERT_FALSE(plan.leaders.empty());
  const Seconds planned = plan.leaders.front().time();
  const bool is_lost = planned > (1.0 + 1e-9) * simulated.fastest;
  RecordProperty("candidates", simulated.count);  // scripts/bench.sh --brute adds them up
  RecordProperty("losses", is_lost ? 1 : 0);
  EXPECT_FALSE(is_lost) << planned.count() << " s planned; missed: " << simulated.best;
  EXPECT_GE(planned, (1.0 - 1e-9) * simulated.fastest) << "the plan's is one of those simulated";
}

std::string name_of(const testing::TestParamInfo<Problem>& problem) {
  std::string name = problem.param.name;
  std::erase_if(name, [](char c) { return c == ',' || c == '-'; });
  std::ranges::replace(name, ' ', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Small, BruteForce, testing::ValuesIn(problems()), name_of);

}  // namespace
}  // namespace headway

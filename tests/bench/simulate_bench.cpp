#include <benchmark/benchmark.h>

#include <string>

#include "sim/predict/simulate.h"

// What a shipped scenario costs from file to prediction, and how much of it each choice saves:
// compare the times of the same scenario with SimGrid's own flows, and without folding equal links.
// Processor time of the simulation is spent in a child, so wall time is what is shown.

namespace headway {
namespace {

Scenario scenario_of(const char* name, FlowEngine flows, bool fold) {
  Diagnostics diagnostics;
  Scenario scenario = read_scenario(name, {.replicas = 1}, diagnostics);
  scenario.run.engine = {.flows = flows, .fold_equal_links = fold};
  return scenario;
}

void simulate_scenario(benchmark::State& state, const char* name, FlowEngine flows, bool fold) {
  const Scenario scenario = scenario_of(name, flows, fold);
  std::int64_t events = 0;
  for (auto unused : state) {
    const Simulation simulation = simulate(scenario, {.scaling = false});
    events += simulation.prediction.counts.events;
  }
  state.counters["events/s"] =
      benchmark::Counter(static_cast<double>(events), benchmark::Counter::kIsRate);
}

BENCHMARK_CAPTURE(simulate_scenario, gpt3_175b_1024, "gpt3_175b_1024", FlowEngine::incremental,
                  true)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(simulate_scenario, gpt3_175b_1024_not_folded, "gpt3_175b_1024",
                  FlowEngine::incremental, false)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(simulate_scenario, gpt3_175b_1024_by_simgrid, "gpt3_175b_1024",
                  FlowEngine::simgrid, true)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();
BENCHMARK_CAPTURE(simulate_scenario, llama3_405b_16384, "llama3_405b_16384",
                  FlowEngine::incremental, true)
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void read_a_scenario(benchmark::State& state) {
  for (auto unused : state) {
    benchmark::DoNotOptimize(scenario_of("llama3_405b_16384", FlowEngine::incremental, true));
  }
}
BENCHMARK(read_a_scenario)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace headway

#include "sim/scenario/read_run.h"

#include <nlohmann/json.hpp>

#include "sim/programs/flows/algorithms/algorithm.h"

namespace headway {
namespace {

using Algorithm = std::optional<CollectiveAlgorithm>;

constexpr double kMostReplicas = 10'000;
constexpr double kLargestSeed = 9007199254740992.0;  // 2^53: whole numbers that JSON keeps

constexpr Word<FlowEngine> kFlowEngines[] = {{"incremental", FlowEngine::incremental},
                                             {"simgrid", FlowEngine::simgrid},
                                             {"paused", FlowEngine::paused}};

const std::vector<Word<Algorithm>>& algorithm_words() {
  static const std::vector<Word<Algorithm>> kWords = [] {
    std::vector<Word<Algorithm>> words{{"auto", std::nullopt}};
    for (const AlgorithmKind& kind : algorithm_kinds()) {
      words.emplace_back(kind.algorithm.name, kind.algorithm);
    }
    return words;
  }();
  return kWords;
}

}  // namespace

const FieldTable<RunSettings>& run_fields() {
  static const FieldTable<RunSettings> kFields(
      {{"replicas", whole(&RunSettings::replicas, between(1, kMostReplicas)),
        R"(Simulations with other random draws. The median is reported, and the interval widens by
how much they differ. Without anything random all are one.
see: --replicas; iteration_time_interval_s)"},
       {"seed", whole(&RunSettings::seed, between(0, kLargestSeed)),
        R"(Where the random draws start. The same seed gives the same result to the last byte.
see: --seed)"},
       {"gradient_algorithm",
        word<RunSettings>(
            Words<Algorithm>(algorithm_words()),
            [](const RunSettings& run) { return run.gradient_algorithm; },
            [](RunSettings& run, const Algorithm& one) { run.gradient_algorithm = one; }),
        R"(How all-reduces of gradients run. "auto" is what was measured, else the fastest on an idle
network of what strategy.collective_library has. in_network is NVIDIA SHARP at its best: the
switches of the fabric add; nvls: those of the scale-up domain do; torus: all rings of a torus at
once. Collectives that cannot run so are noted, and take the fastest.
see: headway collective --algorithm)"},
       {"flows", within(&RunSettings::engine, word(&EngineOptions::flows, kFlowEngines)),
        R"(Who shares out the links among flows. The first two are exact max-min and agree; the
incremental one is fast on large jobs. paused is the other extreme, for fabrics that lose no
packets (RoCE, InfiniBand): switches pause whole links, and nobody slows down who sends, so that
whoever shares a link with a flow that is held up further on waits with it. Congestion control
brings a fabric from there towards the first two. It works everything out anew whenever a flow
comes or goes: for jobs of up to some thousand accelerators.
see: --what-if, which tells both)"},
       {"fold_equal_links", within(&RunSettings::engine, flag(&EngineOptions::fold_equal_links)),
        R"(Links that always carry the same are simulated once. Changes no result; off only to show
that.)"}});
  return kFields;
}

RunSettings read_run(ObjectReader& scenario, std::optional<std::uint64_t> seed,
                     std::optional<int> replicas) {
  RunSettings run;
  const std::optional<JsonCursor> part = scenario.part("run");
  const auto empty = JsonDocument::parse("run", "{}", scenario.diagnostics());
  ObjectReader reader(part ? *part : JsonCursor(empty), scenario.diagnostics());
  run_fields().read(reader, run);
  if (seed) run.seed = static_cast<std::int64_t>(*seed);
  if (replicas) run.replicas = *replicas;
  nlohmann::json resolved = reader.finish();
  run_fields().write(run, resolved);
  scenario.resolve("run", std::move(resolved));
  return run;
}

}  // namespace headway

#include "sim/scenario/cost_terms.h"

#include <gtest/gtest.h>

#include <set>

#include "sim/base/diagnostic.h"
#include "sim/jobs/strategy.h"
#include "sim/predict/job_run.h"
#include "sim/reference/explain.h"

namespace headway {
namespace {

/// Eight stages over 64 accelerators with everything that costs something in it.
Scenario busy_scenario() {
  Diagnostics diagnostics;
  ScenarioOptions options;
  for (const char* text :
       {"/cluster/nodes=8", "/strategy/tensor_parallel=2", "/strategy/context_parallel=2",
        "/strategy/pipeline_parallel=4", "/strategy/global_batch=32", "/strategy/recompute=full",
        "/strategy/precision=fp8", "/strategy/overlap_gradient_reduce=false",
        "/strategy/overlap_parameter_gather=false"}) {
    options.overrides.push_back(parse_override(text));
  }
  return read_scenario("llama3_8b_64", options, diagnostics);
}

TEST(CostTerms, NamesAreUniqueAndExplained) {
  std::set<std::string_view> names;
  for (const CostTerm& term : cost_terms()) {
    EXPECT_TRUE(names.insert(term.name).second) << term.name;
    EXPECT_EQ(&cost_term_named(term.name), &term);
    EXPECT_FALSE(topics_named("term." + std::string(term.name), topics()).empty()) << term.name;
  }
}

TEST(CostTerms, AnUnknownOneIsRefusedWithWhatWasMeant) {
  try {
    static_cast<void>(cost_term_named("product_shape"));
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.diagnostics().front().help, R"(did you mean "product_shapes"?)");
  }
}

TEST(CostTerms, AJobIsFasterWithoutAnyOfItsTerms) {
  const Scenario scenario = busy_scenario();
  const Seconds whole = run_job(scenario, *scenario.strategy, 1, 1).time();
  for (const CostTerm& term : cost_terms()) {
    // Factors, which may lie on either side of 1; this model has no experts and no tables.
    if (term.name == "kernel_family" || term.name == "release" || term.name == "expert_parallel" ||
        term.name == "embedding_exchange") {
      continue;
    }
    const Scenario without = without_term(scenario, term);
    EXPECT_LT(run_job(without, *without.strategy, 1, 1).time(), whole) << term.name;
  }
}

/// Operators that nothing merges are counted one by one, whatever the family's traffic.
TEST(CostTerms, PassesThatAreCountedGoWithTheOthers) {
  Diagnostics diagnostics;
  ScenarioOptions options;
  for (const char* text : {"/cluster/nodes=1", "/strategy/preset=transformers-bf16",
                           "/strategy/tensor_parallel=1", "/strategy/global_batch=8"}) {
    options.overrides.push_back(parse_override(text));
  }
  const Scenario scenario = read_scenario("llama3_8b_64", options, diagnostics);
  ASSERT_FALSE(scenario.strategy->fused_operators);
  const Scenario without = without_term(scenario, cost_term_named("memory_passes"));
  for (const Layer& kind : without.model.kinds) EXPECT_TRUE(kind.passes.empty());
  EXPECT_LT(run_job(without, *without.strategy, 1, 1).time(),
            0.95 * run_job(scenario, *scenario.strategy, 1, 1).time());
}

TEST(CostTerms, ExpertsAreFasterWithoutTheirExchange) {
  Diagnostics diagnostics;
  const Scenario scenario = read_scenario("qwen3_235b_a22b_256", {}, diagnostics);
  const Scenario without = without_term(scenario, cost_term_named("expert_parallel"));
  EXPECT_LT(run_job(without, *without.strategy, 1, 1).time(),
            run_job(scenario, *scenario.strategy, 1, 1).time());
}

TEST(CostTerms, TablesSendWhatTheyPooled) {
  Diagnostics diagnostics;
  const Scenario scenario = read_scenario("dlrm_dcnv2_64", {}, diagnostics);
  const Scenario without = without_term(scenario, cost_term_named("embedding_exchange"));
  EXPECT_LT(run_job(without, *without.strategy, 1, 1).time(),
            run_job(scenario, *scenario.strategy, 1, 1).time());
}

TEST(CostTerms, LeavingOneOutChangesNothingElse) {
  const Scenario scenario = busy_scenario();
  const JobRun whole = run_job(scenario, *scenario.strategy, 1, 1);
  const Scenario without = without_term(scenario, cost_term_named("recompute"));
  const JobRun rest = run_job(without, *without.strategy, 1, 1);
  const Block& before = whole.workload.programs.front().blocks.front();
  const Block& after = rest.workload.programs.front().blocks.front();
  EXPECT_EQ(before.time[Cause::compute], after.time[Cause::compute]);
  EXPECT_EQ(after.time[Cause::recompute], Seconds(0.0));
}

}  // namespace
}  // namespace headway

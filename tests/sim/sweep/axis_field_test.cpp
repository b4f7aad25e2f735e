#include "sim/sweep/axis_field.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/support/scenario_reading.h"
#include "tests/support/scenario_text.h"

namespace headway {
namespace {

/// Four nodes of two accelerators: tp 2, pp 2, dp 2, global batch 32.
Scenario base(const nlohmann::json& scenario = small_scenario(4)) { return scenario_of(scenario); }

/// "/a=1 /b=2"
std::string overrides_text(const nlohmann::ordered_json& values, const Scenario& scenario) {
  std::string text;
  for (const Override& field : point_overrides(values, scenario)) {
    text += (text.empty() ? "" : " ") + field.pointer + "=" + field.value_text;
  }
  return text;
}

std::string problem_of_axes(const std::vector<Axis>& axes) {
  Diagnostics diagnostics;
  check_axes(axes, base(), diagnostics);
  return diagnostics.all().empty() ? "" : rendered(diagnostics.all(), "nothing was swept");
}

nlohmann::json with_data_parallel() {
  nlohmann::json scenario = small_scenario(4);
  scenario["strategy"]["data_parallel"] = 2;
  return scenario;
}

TEST(AxisField, FieldsOfTheStrategyNeedNoPointer) {
  EXPECT_EQ(overrides_text({{"micro_batch", 2}}, base()), "/strategy/micro_batch=2");
  EXPECT_EQ(overrides_text({{"/model/layers", 4}}, base()), "/model/layers=4");
}

TEST(AxisField, TextsThatLookLikeNumbersStayTexts) {
  EXPECT_EQ(overrides_text({{"/name", "8"}}, base()), R"(/name="8")");
  EXPECT_EQ(overrides_text({{"/name", "eight"}}, base()), "/name=eight");
}

TEST(AxisField, GpusTakeNodesOfTheFabric) {
  EXPECT_EQ(overrides_text({{"gpus", 16}}, base()), "/cluster/nodes=8");
  EXPECT_EQ(overrides_text({{"nodes", 16}}, base()), "/cluster/nodes=16");
  // 16 / (tp 2 x pp 2); where the file leaves data_parallel out it follows by itself.
  EXPECT_EQ(overrides_text({{"gpus", 16}}, base(with_data_parallel())),
            "/cluster/nodes=8 /strategy/data_parallel=4");
}

TEST(AxisField, ATopologyInPlaceOfTheClusterIsTakenNodesOfToo) {
  nlohmann::json scenario = small_scenario(4);
  scenario["cluster"] = scenario["cluster"]["topology"];
  const Scenario read = base(scenario);
  EXPECT_EQ(overrides_text({{"gpus", 16}}, read),
            "/cluster=" + nlohmann::json({{"topology", scenario["cluster"]}, {"nodes", 8}}).dump());
}

TEST(AxisField, WeakScalingGrowsTheBatchWithTheReplicas) {
  // 32 sequences over 2 replicas: 16 each, and 16 / (2 x 2) = 4 replicas.
  EXPECT_EQ(overrides_text({{"gpus_weak", 16}}, base()),
            "/cluster/nodes=8 /strategy/global_batch=64");
}

TEST(AxisField, DegreesLeaveTheRestOfTheClusterToDataParallelism) {
  const Scenario scenario = base(with_data_parallel());
  EXPECT_EQ(overrides_text({{"pipeline_parallel", 1}}, scenario),
            "/strategy/pipeline_parallel=1 /strategy/data_parallel=4");
  EXPECT_EQ(overrides_text({{"pipeline_parallel", 1}, {"data_parallel", 2}}, scenario),
            "/strategy/pipeline_parallel=1 /strategy/data_parallel=2");
  // 3 does not divide: the checks of the scenario say so.
  EXPECT_EQ(overrides_text({{"pipeline_parallel", 3}}, scenario), "/strategy/pipeline_parallel=3");
}

TEST(AxisField, EveryProblemIsToldAtOnce) {
  EXPECT_EQ(problem_of_axes({{"gpu", {8}},
                             {"gpus", {7, 0, "x"}},
                             {"nodes", {1.5}},
                             {"/strategy/mikro_batch", {1}},
                             {"micro_batch", {1}},
                             {"/strategy/micro_batch", {1}}}),
            R"(error: no field is called "gpu"
  --> --axis gpu
  help: did you mean "gpus"? an axis is gpus, gpus_weak, nodes, a field of the strategy, or the JSON pointer of any field (`headway explain` lists them)

error: gpus cannot be 7
  --> --axis gpus
  help: nodes of this cluster have 2 accelerators each: use 6 or 8

error: gpus cannot be 0
  --> --axis gpus
  help: nodes of this cluster have 2 accelerators each: use a multiple of 2

error: gpus cannot be "x"
  --> --axis gpus
  help: nodes of this cluster have 2 accelerators each: use a multiple of 2

error: nodes cannot be 1.5
  --> --axis nodes
  help: use whole numbers from 1 on

error: the axes gpus and nodes both set /cluster/nodes
  --> --axis nodes
  help: leave one of them out

error: no field is called "/strategy/mikro_batch"
  --> --axis /strategy/mikro_batch
  help: did you mean "/strategy/micro_batch"? an axis is gpus, gpus_weak, nodes, a field of the strategy, or the JSON pointer of any field (`headway explain` lists them)

error: the axes micro_batch and /strategy/micro_batch both set /strategy/micro_batch
  --> --axis /strategy/micro_batch
  help: leave one of them out

8 problems; nothing was swept.
)");
}

TEST(AxisField, FieldsThatTheScenarioLeavesOutAreKnown) {
  EXPECT_EQ(problem_of_axes({{"/cluster/nodes", {2, 4}}, {"/perturbations/slow_accelerators", {}}}),
            "");
  EXPECT_EQ(problem_of_axes({{"/cluster/topology/node/nics/bandwidth", {"25 GB/s"}}}), "");
  EXPECT_EQ(problem_of_axes({{"/profile/device/memory_efficiency/value", {0.5, 0.8}}}), "");
}

}  // namespace
}  // namespace headway

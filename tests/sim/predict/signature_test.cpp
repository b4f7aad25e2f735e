#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "sim/base/fingerprint.h"
#include "sim/predict/simulate.h"
#include "tests/support/scenario_reading.h"
#include "tests/support/scenario_text.h"

namespace headway {
namespace {

/// One number over the predicted times of twelve fixed jobs, rounded to nine digits. A change of
/// code that alters it alters predictions: say so, and why, in the commit that changes the line
/// below.
constexpr const char* kSignature = "ae74e68f65e64259";

Seconds predicted(const nlohmann::json& json) {
  return simulate(scenario_of(json), {.scaling = false, .even_if_it_does_not_fit = true})
      .prediction.iteration_time;
}

std::vector<nlohmann::json> jobs() {
  const auto job = [](int nodes, nlohmann::json strategy) {
    nlohmann::json scenario = small_scenario(nodes);
    scenario["strategy"] = std::move(strategy);
    scenario["strategy"]["global_batch"] = 16 * nodes;
    return scenario;
  };
  std::vector<nlohmann::json> list = {
      job(1, {{"micro_batch", 1}}),
      job(4, {{"micro_batch", 2}, {"tensor_parallel", 2}}),
      job(4, {{"micro_batch", 1}, {"tensor_parallel", 2}, {"sequence_parallel", true}}),
      job(4, {{"micro_batch", 1}, {"pipeline_parallel", 4}}),
      job(4, {{"micro_batch", 1}, {"pipeline_parallel", 4}, {"schedule", "gpipe"}}),
      job(4, {{"micro_batch", 1}, {"pipeline_parallel", 4}, {"virtual_stages", 2}}),
      job(4, {{"micro_batch", 1}, {"zero_stage", 1}}),
      job(4, {{"micro_batch", 1}, {"zero_stage", 3}}),
      job(4, {{"micro_batch", 1}, {"context_parallel", 2}}),
      job(4, {{"micro_batch", 1}, {"recompute", "full"}, {"attention", "unfused"}}),
      job(8, {{"micro_batch", 1}, {"overlap_gradient_reduce", false}, {"precision", "fp16"}}),
  };
  list.push_back(list[4]);
  list.back()["perturbations"] = {
      {"device_spread", 0.03},
      {"operation_spread", 0.01},
      {"slow_accelerators", {{{"accelerator", 2}, {"time_factor", 1.2}}}}};
  return list;
}

TEST(Signature, PredictionsAreUnchanged) {
  std::string times;
  for (const nlohmann::json& job : jobs()) times += fmt::format("{:.9g}\n", predicted(job).count());
  EXPECT_EQ(fingerprint_text(times), kSignature) << "the twelve times are now\n" << times;
}

}  // namespace
}  // namespace headway

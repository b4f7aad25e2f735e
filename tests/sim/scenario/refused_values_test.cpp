// What a scenario may not say: one wrong thing each, and what its author is told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/scenario_reading.h"
#include "tests/support/scenario_text.h"

namespace headway {
namespace {

using nlohmann::json;
using testing::HasSubstr;

struct RefusedValue {
  std::string place;
  json value;
  std::string told;
};

void PrintTo(const RefusedValue& refused, std::ostream* out) {
  *out << refused.place << " = " << refused.value;
}

/// Nodes that fail as two of them were seen to.
json failing_nodes() {
  return {{"train_tokens", 1e12},
          {"detection", "5 min"},
          {"restart", "5 min"},
          {"checkpoint", {{"storage_bandwidth", "1 GB/s"}, {"asynchronous", true}}},
          {"failures",
           {{{"cause", "nodes"},
             {"of", "node"},
             {"distribution", "empirical"},
             {"times", {"20 h", "31 h"}},
             {"repair_time", "1 h"}}}}};
}

class RefusedValues : public testing::TestWithParam<RefusedValue> {};

TEST_P(RefusedValues, AreTold) {
  json scenario = small_scenario(4);
  if (GetParam().place.starts_with("/reliability")) scenario["reliability"] = failing_nodes();
  scenario[json::json_pointer(GetParam().place)] = GetParam().value;
  EXPECT_THAT(problems_in([&] { (void)scenario_of(scenario); }), HasSubstr(GetParam().told));
}

/// Four nodes of two accelerators: nodes are 0 to 3, accelerators 0 to 7.
INSTANTIATE_TEST_SUITE_P(
    Perturbations, RefusedValues,
    testing::Values(
        RefusedValue{"/perturbations/operation_jitter",
                     {{"distribution", "quantiles"}, {"time_factors", {1.0, 0.5}}},
                     "in ascending order"},
        RefusedValue{"/perturbations/operation_jitter",
                     {{"distribution", "quantiles"}, {"time_factors", {0.9, 2000.0}}},
                     "time factors are numbers from above 0 to 1000"},
        RefusedValue{"/perturbations/operation_jitter",
                     {{"distribution", "quantiles"}, {"time_factors", {0.9, "1"}}},
                     "time factors are numbers from above 0 to 1000"},
        RefusedValue{"/perturbations/operation_jitter",
                     {{"distribution", "quantiles"}, {"time_factors", {1.0}}},
                     "quantiles take at least two time factors"},
        RefusedValue{"/perturbations/operation_jitter",
                     {{"distribution", "gamma"}, {"spread", 0.1}},
                     "operation_spread says how operations differ already"},
        RefusedValue{"/perturbations/slow_accelerators",
                     {{{"accelerator", 3}, {"time_factor", 1.5}},
                      {{"accelerator", 3}, {"time_factor", 1.5}}},
                     "accelerator 3 is listed twice"},
        RefusedValue{"/perturbations/slow_nodes",
                     {{{"node", 1}, {"time_factor", 1.5}}, {{"node", 1}, {"time_factor", 2.0}}},
                     "accelerator 2 is listed twice"},
        RefusedValue{"/perturbations/slow_episodes",
                     {{{"node", 1}, {"accelerator", 2}, {"time_factor", 2.0}}},
                     "a node is named already"},
        RefusedValue{"/perturbations/slow_episodes",
                     {{{"time_factor", 2.0}}},
                     "missing field \"accelerator\""},
        RefusedValue{"/perturbations/slow_episodes",
                     {{{"node", 1}, {"from", "2 s"}, {"to", "1 s"}, {"time_factor", 2.0}}},
                     "an episode ends after it begins"},
        RefusedValue{"/perturbations/pauses",
                     {{{"every", "1 s"}, {"lasts", "2 s"}}},
                     "a pause is over before the next one begins"},
        RefusedValue{"/perturbations/slow_links",
                     {{{"nic", "node0/nic0"}, {"bandwidth_factor", 0.0}}},
                     "what waits for a link that stays down waits for ever"},
        RefusedValue{"/perturbations/slow_links",
                     {{{"cable", {"node0/nic0"}}, {"bandwidth_factor", 0.5}}},
                     "cable"},
        RefusedValue{"/perturbations/slow_links",
                     {{{"nic", "node0/nic9"}, {"bandwidth_factor", 0.5}}},
                     "did you mean"},
        RefusedValue{"/perturbations/slow_links",
                     {{{"nic", "somewhere else"}, {"bandwidth_factor", 0.5}}},
                     "they are called such as"},
        RefusedValue{"/perturbations/slow_links",
                     {{{"cable", {"node0/nic0", "node1/nic0"}}, {"bandwidth_factor", 0.5}}},
                     "no cable is there"}));

INSTANTIATE_TEST_SUITE_P(
    Choices, RefusedValues,
    testing::Values(
        RefusedValue{"/candidates", json::object(), "candidates is a list of clusters"},
        RefusedValue{"/candidates", json::array(), "candidates is a list of clusters"},
        RefusedValue{"/candidates", {3}, "a candidate is an object with a name"},
        RefusedValue{
            "/candidates", {{{"name", "A"}}, {{"name", "A"}}}, "two candidates are called \"A\""},
        RefusedValue{"/candidates",
                     {{{"name", "A"},
                       {"topology", "hgx_h200_400g"},
                       {"cluster", {{"topology", "hgx_h200_400g"}}}}},
                     "a candidate has a topology or a cluster, not both"},
        RefusedValue{"/candidates", {{{"name", "A"}, {"delivery", "by the dozen"}}}, "delivery"},
        RefusedValue{"/candidate", "A", "there are no candidates to choose from"},
        RefusedValue{"/alternatives", 3, "alternatives are lists by name"},
        RefusedValue{"/choose", 3, "choose names one of each list of alternatives"},
        RefusedValue{"/choose", {{"network", "fast"}}, "there is no such list of alternatives"}));

INSTANTIATE_TEST_SUITE_P(
    Runs, RefusedValues,
    testing::Values(
        RefusedValue{
            "/cost", {{"usd_per_gpu_hour", 2.0}, {"stored", "1 TB"}}, "needs usd_per_gb_month"},
        RefusedValue{"/cost",
                     {{"usd_per_gpu_hour", 2.0}, {"usd_per_gb_month", 0.02}, {"stored", "1 TB"}},
                     "usd_per_gb_month needs tokens"},
        RefusedValue{"/cost", {{"usd_per_gpu_hour", 2.0}, {"carbon_kg_per_kwh", 0.4}}, "power"},
        RefusedValue{"/reliability/failures/0/times", json::array(),
                     "an empirical distribution needs observed times"},
        RefusedValue{
            "/reliability/failures/0/times", {"0 h"}, "a time between failures is more than 0"},
        RefusedValue{"/reliability/checkpoint/interval", "1 ms",
                     "a checkpoint begins before the one before is stored"},
        RefusedValue{"/reliability/checkpoint/interval", "now and then",
                     "is neither a time nor a way to find one"}));

TEST(Scenario, AConfigurationOfAModelIsNoScenario) {
  EXPECT_THAT(problems_in([] {
                (void)scenario_of({{"model_type", "llama"},
                                   {"architectures", {"LlamaForCausalLM"}},
                                   {"hidden_size", 4096},
                                   {"num_hidden_layers", 32}});
              }),
              HasSubstr("this is a Hugging Face configuration, not a scenario"));
}

TEST(Scenario, StatisticsAndReliabilityMayNotBothSayHowLongTheRunIs) {
  json scenario = small_scenario(4);
  scenario["statistics"] = {{"noise_scale", 100.0}, {"steps", 1000}, {"batch", 32}};
  scenario["reliability"] = failing_nodes();
  EXPECT_THAT(problems_in([&] { (void)scenario_of(scenario); }),
              HasSubstr("statistics and reliability.train_tokens both say how long the run is"));
}

}  // namespace
}  // namespace headway

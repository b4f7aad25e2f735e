#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "sim/predict/job_run.h"
#include "tests/support/scenario_reading.h"
#include "tests/support/scenario_text.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

/// Four nodes of two accelerators and of so many NICs, which together carry 100 GB/s.
nlohmann::json with_nics(int count, const char* kind) {
  nlohmann::json text = small_scenario(4);
  nlohmann::json& topology = text["cluster"]["topology"];
  topology["node"]["nics"]["count"] = count;
  topology["node"]["nics"]["bandwidth"] = std::to_string(100 / count) + " GB/s";
  if (std::string(kind) == "clos") {
    topology["fabric"] = {{"kind", "clos"},
                          {"attach", "rail"},
                          {"nodes_per_unit", 2},
                          {"leaf", {{"uplinks", 2}}},
                          {"spine", {{"switches", 2}}}};
  }
  return text;
}

double iteration(const nlohmann::json& text) {
  const Scenario scenario = scenario_of(text);
  return run_job(scenario, *scenario.strategy, 1, 1).time().count();
}

TEST(SeveralNics, AreWorthOneOfTheirSum) {
  for (const char* kind : {"single_switch", "clos"}) {
    for (const int tensor_parallel : {1, 4}) {  // 4 over two nodes
      const auto on = [&](int nics) {
        nlohmann::json text = with_nics(nics, kind);
        text["strategy"]["tensor_parallel"] = tensor_parallel;
        return iteration(text);
      };
      const double two = on(2);
      EXPECT_NEAR(on(4) / two, 1.0, 1e-9) << kind << tensor_parallel;
      EXPECT_NEAR(on(10) / two, 1.0, 1e-9) << kind << tensor_parallel;
    }
  }
}

TEST(SeveralNics, ThatAreNotSharedOutIdle) {
  // Each accelerator sends by the NIC that is named, of 25 GB/s instead of 50 together.
  nlohmann::json named = with_nics(4, "single_switch");
  named["cluster"]["topology"]["node"]["nics"]["nearest"] = {0, 1};
  nlohmann::json two = with_nics(2, "single_switch");
  two["cluster"]["topology"]["node"]["nics"]["bandwidth"] = "25 GB/s";
  EXPECT_NEAR(iteration(named) / iteration(two), 1.0, 1e-9);
  EXPECT_GT(iteration(named), 1.001 * iteration(with_nics(4, "single_switch")));
}

TEST(SeveralNics, ThatDoNotGoRoundAreTold) {
  // Two accelerators and three NICs: one idles. Named ones are what somebody wants.
  nlohmann::json three = with_nics(2, "single_switch");
  nlohmann::json& nics = three["cluster"]["topology"]["node"]["nics"];
  nics["count"] = 3;
  const auto warnings = [&] {
    const ScratchFolder scratch;
    Diagnostics diagnostics;
    static_cast<void>(
        read_scenario(scratch.write("scenario.json", three.dump(2)), {}, diagnostics));
    return rendered(diagnostics.all(), "");
  };
  EXPECT_THAT(warnings(), testing::HasSubstr("warning: 1 of the 3 NICs carry nothing"));
  nics["nearest"] = {0, 2};
  EXPECT_THAT(warnings(), testing::Not(testing::HasSubstr("carry nothing")));
}

TEST(SeveralNics, OneSlowCableHoldsUpWhatGoesByAllOfThem) {
  // Parts are equal: one cable at a fifth of its rate is as slow as all at a fifth.
  const auto one_slow = [](int nics) {
    nlohmann::json text = with_nics(nics, "single_switch");
    text["perturbations"]["slow_links"] = {{{"nic", "node0/nic0"}, {"bandwidth_factor", 0.2}}};
    return iteration(text);
  };
  EXPECT_NEAR(one_slow(10) / one_slow(2), 1.0, 1e-9);
  EXPECT_GT(one_slow(10), 1.01 * iteration(with_nics(10, "single_switch")));
}

}  // namespace
}  // namespace headway

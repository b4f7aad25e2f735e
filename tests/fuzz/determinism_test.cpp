#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/fuzz/limited_run.h"
#include "tests/fuzz/random_scenario.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

using nlohmann::json;

/// What `headway simulate` answers, but for when and how it was asked.
std::string answer(const ScratchFolder& scratch, const char* jobs,
                   const std::vector<std::string>& environment) {
  const LimitedRun run =
      limited_run({HEADWAY_PROGRAM, "simulate", "scenario.json", "--json", "-q", "-j", jobs},
                  scratch.path(), {}, environment);
  json result = json::parse(run.output, nullptr, false);
  if (!result.is_object()) return "";
  result.erase("provenance");
  return result.dump();
}

/// Random draws, several replicas: the same bytes at any number of processes and in any locale.
TEST(Determinism, ProcessesAndLocalesChangeNoBit) {
  int compared = 0;
  for (std::uint64_t seed = 1; compared < 8; ++seed) {
    ASSERT_LE(seed, 800U) << "hardly any job can be run";
    const ScratchFolder scratch;
    json scenario = random_scenario(seed);
    scenario["run"] = {{"replicas", 5}, {"seed", seed}};
    scenario["perturbations"] = {{"device_spread", 0.03}, {"operation_spread", 0.01}};
    std::ofstream(scratch.path() / "scenario.json") << scenario.dump();
    const std::string once = answer(scratch, "1", {});
    if (once.empty()) continue;  // degrees that do not divide
    ++compared;
    EXPECT_EQ(answer(scratch, "3", {}), once) << "seed " << seed;
    EXPECT_EQ(answer(scratch, "2", {"LC_ALL=de_DE.UTF-8", "TZ=Asia/Tokyo"}), once)
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace headway

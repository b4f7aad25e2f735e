#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <locale>
#include <nlohmann/json.hpp>

#include "sim/base/fingerprint.h"
#include "tests/fuzz/limited_run.h"
#include "tests/fuzz/random_scenario.h"
#include "tests/fuzz/settings.h"
#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"

namespace headway {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using CommandLine = std::vector<std::string>;

/// What `headway simulate` answers, but for when and how it was asked, as a fingerprint. Empty
/// where it answers nothing.
std::string answer(const ScratchFolder& scratch, const CommandLine& asked, const char* jobs,
                   const CommandLine& environment, const char* program = HEADWAY_PROGRAM) {
  CommandLine words = {program, "simulate"};
  words.insert(words.end(), asked.begin(), asked.end());
  words.insert(words.end(), {"--json", "-q", "-j", jobs});
  const LimitedRun run = limited_run(words, scratch.path(), {}, environment);
  json result = json::parse(run.output, nullptr, false);
  if (!result.is_object()) return "";
  result.erase("provenance");
  return fingerprint_text(result.dump());
}

/// What is on the command line for shipped scenarios and what may be changed about them.
std::vector<CommandLine> shipped_jobs() {
  const CommandLine changes = {"",
                               "/run/seed=2",
                               "/run/replicas=4",
                               "/perturbations/device_spread=0.04",
                               "/perturbations/operation_spread=0.02",
                               "/strategy/micro_batch=1",
                               "/strategy/micro_batch=2",
                               "/strategy/zero_stage=1",
                               "/strategy/recompute=full",
                               "/strategy/pipeline_parallel=1",
                               "/strategy/tensor_parallel=2",
                               "/cluster/nodes=8"};
  CommandLine names;
  for (const auto& entry : fs::directory_iterator(fs::path(source_folder()) / "scenarios")) {
    if (entry.path().extension() == ".json") names.push_back(entry.path().stem());
  }
  std::ranges::sort(names);
  std::vector<CommandLine> jobs;
  for (const std::string& change : changes) {
    for (const std::string& name : names) {
      jobs.push_back({name});
      if (!change.empty()) jobs.back().insert(jobs.back().end(), {"--set", change});
    }
  }
  return jobs;
}

/// The same bytes at any number of processes, in any locale that is installed, and from another
/// build where HEADWAY_OTHER_PROGRAM names one. HEADWAY_DETERMINISM asks for so many scenarios.
TEST(Determinism, ShippedScenariosAndVariantsOfThemGiveTheSameBytes) {
  std::vector<CommandLine> surroundings;
  for (const char* name : {"tr_TR.UTF-8", "de_DE.UTF-8"}) {
    try {
      static_cast<void>(std::locale(name));
      surroundings.push_back({fmt::format("LC_ALL={}", name), "TZ=Asia/Tokyo"});
    } catch (const std::runtime_error&) {
      std::cout << name << " is not installed\n";
    }
  }
  const char* const other = std::getenv("HEADWAY_OTHER_PROGRAM");
  const int wanted = number_from("HEADWAY_DETERMINISM", 8);
  const std::vector<CommandLine> jobs = shipped_jobs();
  const ScratchFolder scratch;
  int compared = 0;
  int answers = 0;
  for (std::size_t i = 0; i < jobs.size() && compared < wanted; ++i) {
    // 97 has no divisor with their number in common: a few are of all kinds.
    const CommandLine& job = jobs[i * 97 % jobs.size()];
    SCOPED_TRACE(testing::PrintToString(job));
    const std::string once = answer(scratch, job, "1", {});
    if (once.empty()) continue;  // a degree that does not divide, a question for `plan`
    ++compared;
    ++answers;
    const auto expect_same = [&](const std::string& again) {
      ++answers;
      EXPECT_EQ(again, once);
    };
    expect_same(answer(scratch, job, "2", {}));
    for (const CommandLine& environment : surroundings) {
      expect_same(answer(scratch, job, "2", environment));
    }
    if (other != nullptr) expect_same(answer(scratch, job, "2", {}, other));
  }
  std::cout << compared << " scenarios, " << answers << " answers\n";
  EXPECT_EQ(compared, wanted);
}

/// Random draws, several replicas: the same bytes at any number of processes.
TEST(Determinism, RandomJobsGiveTheSameBytes) {
  int compared = 0;
  for (std::uint64_t seed = 1; compared < 8; ++seed) {
    ASSERT_LE(seed, 800U) << "hardly any job can be run";
    const ScratchFolder scratch;
    json scenario = random_scenario(seed);
    scenario["run"] = {{"replicas", 5}, {"seed", seed}};
    scenario["perturbations"] = {{"device_spread", 0.03}, {"operation_spread", 0.01}};
    std::ofstream(scratch.path() / "scenario.json") << scenario.dump();
    const CommandLine job = {"scenario.json"};
    const std::string once = answer(scratch, job, "1", {});
    if (once.empty()) continue;  // degrees that do not divide
    ++compared;
    EXPECT_EQ(answer(scratch, job, "3", {}), once) << "seed " << seed;
    EXPECT_EQ(answer(scratch, job, "2", {"LC_ALL=de_DE.UTF-8", "TZ=Asia/Tokyo"}), once)
        << "seed " << seed;
  }
}

}  // namespace
}  // namespace headway

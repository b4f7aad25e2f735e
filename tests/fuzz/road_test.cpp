#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/fuzz/limited_run.h"
#include "tests/fuzz/mutation.h"
#include "tests/fuzz/oracle.h"
#include "tests/fuzz/settings.h"
#include "tests/support/scenario_text.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

LimitedRun headway_run(std::vector<std::string> words, const fs::path& folder) {
  words.insert(words.begin(), HEADWAY_PROGRAM);
  return limited_run(words, folder);
}

/// Scenarios with every default written out, so that every field is there to be broken.
std::vector<json> whole_scenarios(const ScratchFolder& scratch) {
  std::vector<json> scenarios;
  for (const auto& [name, nodes] : {std::pair{"llama3_8b_64", 2},
                                    {"gpt3_175b_1024", 128},
                                    {"resnet_50_64", 2},
                                    {"qwen3_235b_a22b_256", 32},
                                    {"straggler_pauses_and_cable", 8},
                                    {"straggler_one_slow_node", 8},
                                    {"bert_large_64", 8}}) {
    std::vector<std::string> words = {"check", name, "--resolve", "--set", "/run/replicas=1"};
    if (nodes < 8) words.insert(words.end(), {"--set", fmt::format("/cluster/nodes={}", nodes)});
    const LimitedRun run = headway_run(words, scratch.path());
    const json resolved = json::parse(run.output, nullptr, false);
    if (resolved.is_object()) scenarios.push_back(resolved);
  }
  for (const int nodes : {1, 2, 4}) scenarios.push_back(small_scenario(nodes));
  return scenarios;
}

/// The whole road on one text. What went wrong, one clause a line.
std::string ended_badly(const std::string& text, const ScratchFolder& scratch) {
  const fs::path folder = scratch.path();
  std::ofstream(folder / "input.json", std::ios::binary) << text;
  std::string wrong;
  const auto note = [&](const std::string& step, const std::vector<std::string>& found) {
    for (const std::string& what : found) wrong += fmt::format("{}: {}\n", step, what);
  };
  const LimitedRun check = headway_run({"check", "input.json"}, folder);
  note("check", broken_promises(check));
  if (check.exit_code != 0) return wrong;  // simulate reads with the same readers
  for (const char* name : {"out.html", "out.md", "out.csv", "out.json", "trace.json"}) {
    fs::remove(folder / name);
  }
  const LimitedRun run =
      headway_run({"simulate", "input.json", "--json", "-j", "1", "-o", "out.html", "-o", "out.md",
                   "-o", "out.csv", "-o", "out.json", "--trace", "trace.json"},
                  folder);
  note("simulate", broken_promises(run));
  if (run.exit_code != 0 && run.exit_code != 1) return wrong;
  const json result = json::parse(run.output, nullptr, false);
  if (result.is_discarded()) return wrong + "simulate: what it printed is no JSON\n";
  note("result", nonsense_in(result));
  for (const char* name : {"out.md", "out.csv"}) {
    note(name, nonsense_in_text(content_of(folder / name), result));
  }
  const LimitedRun report = headway_run({"report", "out.json", "-o", "again.html"}, folder);
  note("report", broken_promises(report));
  if (report.exit_code != 0) {
    note("report", {report.ending() + " on what simulate wrote: " + report.errors.substr(0, 400)});
  }
  return wrong;
}

TEST(Road, BrokenInputIsRefusedAndWhatIsNotMakesSense) {
  const ScratchFolder scratch;
  const std::vector<json> scenarios = whole_scenarios(scratch);
  ASSERT_EQ(scenarios.size(), 10U);
  const int inputs = number_from("HEADWAY_ROAD_INPUTS", 60);
  const int first = number_from("HEADWAY_SEED", 1);
  int failures = 0;
  for (int seed = first; seed < first + inputs; ++seed) {
    RandomNumbers random(static_cast<std::uint64_t>(seed));
    json document = scenarios[static_cast<std::size_t>(random.below(10))];
    std::string what;
    for (int i = random.below(3); i >= 0; --i) what += mutate(document, random) + "; ";
    std::string text = document.dump(1, ' ', false, json::error_handler_t::replace);
    if (random.chance(0.1)) what += mutate_text(text, random);
    const std::string wrong = ended_badly(text, scratch);
    if (wrong.empty()) continue;
    ADD_FAILURE() << "seed " << seed << ": " << what.substr(0, 300) << "\n" << wrong;
    if (const char* keep = std::getenv("HEADWAY_KEEP")) {
      std::ofstream(fs::path(keep) / fmt::format("{}.json", seed), std::ios::binary) << text;
    }
    if (++failures == number_from("HEADWAY_FAILURES", 5)) return;
  }
}

/// Every file that once ended badly. The first word of its name is the command that read it.
TEST(Regressions, EndWithAnAnswerOrAReason) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(HEADWAY_REGRESSIONS)) {
    const fs::path path = entry.path();
    const std::string name = path.filename().string();
    if (name == "README.md" || name.starts_with("part_")) continue;
    ++files;
    SCOPED_TRACE(name);
    const ScratchFolder scratch;
    const std::string command = name.substr(0, name.find('_'));
    if (command == "scenario") {
      EXPECT_EQ(ended_badly(content_of(path), scratch), "");
      continue;
    }
    fs::copy(HEADWAY_REGRESSIONS, scratch.path() / "files");
    std::vector<std::string> words = {command, "files/" + name};
    if (command == "import") words = {"import", name.substr(7, name.find('_', 7) - 7), words[1]};
    if (command == "validate") words = {"validate", "--memory", "--rows", words[1]};
    if (command == "compare") words.push_back("llama3_8b_64");
    const LimitedRun run = headway_run(words, scratch.path());
    for (const std::string& what : broken_promises(run)) ADD_FAILURE() << what;
  }
  EXPECT_GT(files, 0);
}

}  // namespace
}  // namespace headway

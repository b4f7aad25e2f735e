#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>

#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"
#include "tests/transcripts/transcript.h"

namespace headway {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;

/// Every command that answers with a document.
const std::vector<std::string> kAnswers = {
    "simulate tiny.json --what-if",
    "simulate llama3_8b_spot_64",
    "simulate two_jobs_one_fabric",
    "simulate two_jobs_one_store",
    "simulate llama3_8b_h100_a100_64",
    "sweep tiny.json --axis gpus=2,4 -o points",
    "sweep tiny.json --axis gpus=2,4,8 -o points --dry-run",
    "report points",
    "plan tiny.json",
    "plan tiny.json --goal 'tokens=1B deadline=2d'",
    "plan tiny.json --goal largest=context",
    "compare a.json b.json",
    "replay trace.csv",
    "anchor tiny.json --measured '95 ms'",
    "collective tiny_topology.json",
    "topology tiny_topology.json",
    "route tiny_topology.json node0/nic0 node1/nic0",
    "validate --rows rows.json --ablate product_shapes",
    "validate --pairs --id aalayout-13b",
    "validate --anchors --source narayanan2021_table2",
    "validate --constants",
    "validate --sync --id ddp",
    "validate --memory --id aalayout-13b-2048-64-1321",
    "list models",
    "list shapes --scenario tiny.json",
};

/// Objects with members of free names: what is given, axes, names of the reader's own.
const std::set<std::string> kFree = {"scenario",
                                     "provenance",
                                     "axes",
                                     "best",
                                     "within_1_percent",
                                     "fewest",
                                     "strategy",
                                     "interruptions_by_cause",
                                     "lost_gpu_hours_by_cause",
                                     "slowdown_by_step",
                                     "routed_links_histogram",
                                     "hca_switch",
                                     "switch_switch",
                                     "aggregation_node"};

void collect_keys(const nlohmann::json& value, std::set<std::string>& keys) {
  if (value.is_array()) {
    for (const nlohmann::json& element : value) collect_keys(element, keys);
  }
  if (!value.is_object()) return;
  for (const auto& [key, member] : value.items()) {
    keys.insert(key);
    if (!kFree.contains(key)) collect_keys(member, keys);
  }
}

/// What stands before its value ("  memory        39.5 GiB of ..."), and titles of columns: of the
/// line before one that begins with a blank and holds numbers, where nothing is a number.
std::set<std::string> labels_in(const std::string& text) {
  static const std::regex kLabelled("^  ([A-Za-z][A-Za-z-]*( [A-Za-z-]+)?)  +\\S.*");
  std::set<std::string> labels;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    // Where the time goes, and what is said in one line each; tables of names have no such column.
    constexpr std::size_t kValueColumn = 16;
    const bool is_aligned =
        line.size() > kValueColumn && line[kValueColumn - 1] == ' ' && line[kValueColumn] != ' ';
    if (is_aligned && std::regex_match(line, match, kLabelled)) labels.insert(match[1]);
  }
  return labels;
}

class Explained : public ::testing::Test {
 protected:
  Explained() {
    const fs::path files = fs::path(source_folder()) / "tests/transcripts/files";
    for (const auto& file : fs::directory_iterator(files)) {
      fs::copy(file, scratch_.path() / file.path().filename());
    }
    run("simulate tiny.json -q -o a.json");
    run("simulate tiny.json -q -o b.json --set /strategy/micro_batch=2");
  }

  TranscriptStep run(const std::string& arguments) const {
    return run_step("headway " + arguments, scratch_.path());
  }

  /// Those that `headway explain` says nothing of.
  [[nodiscard]] std::set<std::string> unknown_of(const std::set<std::string>& names) const {
    std::set<std::string> unknown;
    for (const std::string& name : names) {
      const TranscriptStep step = run("explain '" + name + "'");
      const bool has_several = step.errors.find("the end of several names") != std::string::npos;
      if (step.exit_code != 0 && !has_several) unknown.insert(name);
    }
    return unknown;
  }

  ScratchFolder scratch_;
};

TEST_F(Explained, IsEveryKeyOfEveryDocument) {
  std::set<std::string> keys;
  for (const std::string& answer : kAnswers) {
    const TranscriptStep step = run(answer + " -q --json");
    ASSERT_LE(step.exit_code, 1) << answer << "\n" << step.errors;
    collect_keys(nlohmann::json::parse(step.output), keys);
  }
  EXPECT_GT(keys.size(), 300U);
  EXPECT_THAT(unknown_of(keys), ElementsAre());
}

TEST_F(Explained, IsWhatStandsBeforeEveryNumber) {
  std::set<std::string> labels;
  for (const std::string& answer : kAnswers) {
    if (!answer.starts_with("simulate") && !answer.starts_with("anchor")) continue;
    labels.merge(labels_in(run(answer + " -q").output));
  }
  EXPECT_GT(labels.size(), 12U);
  EXPECT_THAT(unknown_of(labels), ElementsAre());
}

/// Columns of CSV, but for those of an axis, which are fields of the scenario.
TEST_F(Explained, IsEveryColumnOfCsv) {
  std::set<std::string> columns;
  for (const char* answer :
       {"simulate tiny.json", "sweep tiny.json --axis gpus=2,4 -o points", "plan tiny.json",
        "plan tiny.json --goal 'tokens=1B deadline=2d'", "plan buy.json", "compare a.json b.json",
        "replay trace.csv", "collective tiny_topology.json", "topology tiny_topology.json"}) {
    const TranscriptStep step = run(std::string(answer) + " -q -o columns.csv");
    ASSERT_LE(step.exit_code, 1) << answer << "\n" << step.errors;
    std::ifstream file(scratch_.path() / "columns.csv");
    std::string line;
    std::getline(file, line);
    std::istringstream names(line);
    for (std::string name; std::getline(names, name, ',');) {
      if (!name.starts_with("axis ")) columns.insert(name);
    }
  }
  EXPECT_GT(columns.size(), 60U);
  EXPECT_THAT(unknown_of(columns), ElementsAre());
}

/// Titles of columns and rows, as they stand in tables.
TEST_F(Explained, IsWhatTablesAreHeadedBy) {
  const std::map<std::string, std::string> heads = {
      {"plan tiny.json", "tp  cp"},
      {"plan tiny.json --goal 'tokens=1B deadline=2d'", "GPUs  strategy"},
      {"sweep tiny.json --axis gpus=2,4 -o points", "iteration  tokens/s/GPU"},
      {"collective tiny_topology.json", "size(B)"},
      {"simulate tiny.json --what-if", "what would help"},
      {"simulate tiny.json", "where the time goes"},
      {"simulate two_jobs_one_fabric", "jobs on the fabric"},
      {"simulate llama3_8b_h100_a100_64", "accelerators  "},
      {"replay trace.csv", "slowdown if only this were slow"},
  };
  static const std::regex kGap("  +");
  static const std::regex kUnit("(s|ms|us|%|h|gain (s|ms|us))?");
  std::set<std::string> titles;
  for (const auto& [command, head] : heads) {
    std::istringstream lines(run(command + " -q").output);
    bool is_found = false;
    for (std::string line; !is_found && std::getline(lines, line);) {
      is_found = line.find(head) != std::string::npos;
      if (!is_found) continue;
      for (std::sregex_token_iterator title(line.begin(), line.end(), kGap, -1), end; title != end;
           ++title) {
        if (!std::regex_match(title->str(), kUnit)) titles.insert(*title);
      }
    }
    EXPECT_TRUE(is_found) << command;
  }
  EXPECT_THAT(unknown_of(titles), ElementsAre());
}

}  // namespace
}  // namespace headway

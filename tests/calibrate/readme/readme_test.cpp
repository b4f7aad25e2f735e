// The README's commands for GPUs, to the letter, on devices that are not there; and every scenario
// that ships, predicted from what they write.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <vector>

#include "tests/calibrate/cli/run_program.h"
#include "tests/support/source_folder.h"

namespace headway {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

/// The lines of the README's section on calibration that a shell runs: its block, and the one that
/// measures the products of a job. That of the CPU has tests of its own.
std::vector<std::string> commands() {
  const std::string readme = content(fs::path(source_folder()) / "README.md");
  const std::size_t begin = readme.find("## Calibrate your machine");
  std::istringstream section(readme.substr(begin, readme.find("\n## ", begin) - begin));
  std::vector<std::string> found;
  bool is_block = false;
  for (std::string line; std::getline(section, line);) {
    if (line.starts_with("```")) {
      is_block = line == "```sh";
    } else if (is_block && line.find("--backend cpu") == std::string::npos) {
      found.push_back(line);
    } else if (const auto at = line.find("`headway list shapes"); at != std::string::npos) {
      found.push_back(line.substr(at + 1, line.find('`', at + 1) - at - 1));
    }
  }
  return found;
}

/// A checkout that was built, with the calibrator that has a device; commands run in it.
class Readme : public ::testing::TestWithParam<int> {
 protected:
  Readme() {
    const fs::path build = root() / "build/release";
    fs::create_directories(build / "calibrate/cli");
    fs::create_directories(build / "sim/cli");
    fs::create_symlink(fs::path(source_folder()) / "scripts", root() / "scripts");
    fs::create_symlink(HEADWAY_CALIBRATE, build / "calibrate/cli/headway-calibrate");
    fs::create_symlink(HEADWAY_PROGRAM, build / "sim/cli/headway");
    fs::copy(fs::path(source_folder()) / "scenarios/llama3_8b_64.json", root() / "my.json");
  }
  [[nodiscard]] fs::path root() const { return folder_.path(); }
  [[nodiscard]] Outcome type(const std::string& line) const {
    const std::string path = "build/release/calibrate/cli:$PWD/build/release/sim/cli:$PATH";
    return run_line("cd " + root().string() + " && rm -f shared && env FAKE_CUDA_SHARED=shared "
                    "HEADWAY_CALIBRATE=" HEADWAY_CALIBRATE " FAKE_CUDA_DEVICES=" +
                    std::to_string(GetParam()) + " PATH=\"$PWD/" + path +
                    "\" bash -c '" + line + "'");
  }
  ScratchFolder folder_;
};

TEST_P(Readme, CommandsGiveAProfileThatEveryScenarioIsPredictedFrom) {
  std::vector<std::string> lines = commands();
  ASSERT_EQ(lines.size(), 3U);  // calibrate, predict, and the products of a job
  // Eight processes and the whole grid take minutes on two cores; SeveralDevices... has the input.
  if (GetParam() > 1) lines.pop_back();
  for (const std::string& line : lines) {
    const Outcome outcome = type(line);
    ASSERT_EQ(outcome.code, 0) << line << "\n" << outcome.err;
  }
  const nlohmann::json profile = nlohmann::json::parse(content(root() / "gpu.json"));
  EXPECT_EQ(profile["provenance"]["verdict"], "ok");
  EXPECT_EQ(type("headway check gpu.json").code, 0);

  int predicted = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(source_folder()) / "scenarios")) {
    if (entry.path().extension() != ".json") continue;
    const std::string name = entry.path().string();
    const Outcome outcome = type("headway simulate " + name + " --profile gpu.json --json");
    ASSERT_LE(outcome.code, 1) << name << "\n" << outcome.err;
    const nlohmann::json result = nlohmann::json::parse(outcome.out);
    if (outcome.code == 1) {  // what is bought for an H200 need not fit in the device's 80 GB
      EXPECT_FALSE(result["memory_bytes"]["fits"].get<bool>()) << name;
      EXPECT_THAT(outcome.err, HasSubstr("was measured on h100-sxm, and the nodes have h200-sxm"));
      continue;
    }
    EXPECT_GT(result["iteration_time_s"].get<double>(), 0.0) << name;
    fmt::print("{:<28} {:.4g} s\n", entry.path().stem().string(),
               result["iteration_time_s"].get<double>());
    // Of several kinds of accelerators the one is named of which least is known.
    const bool is_mixed = name.find("h100_a100") != std::string::npos;
    EXPECT_NE(result["confidence"]["accelerator"]["measured"].get<bool>(), is_mixed) << name;
    ++predicted;
  }
  EXPECT_GE(predicted, 17);
}

INSTANTIATE_TEST_SUITE_P(Devices, Readme, ::testing::Values(1, 8));

}  // namespace
}  // namespace headway

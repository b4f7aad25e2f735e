#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/fuzz/limited_run.h"
#include "tests/support/scenario_text.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

struct FaultyCommand {
  const char* name;
  std::vector<std::string> words;
  std::vector<std::string> outputs;  ///< final names, whole or not there
};

const std::vector<FaultyCommand>& commands() {
  static const std::vector<FaultyCommand> kCommands = {
      {"simulate",
       {HEADWAY_PROGRAM, "simulate", "scenario.json", "-j", "1", "-o", "a.html", "-o", "a.md", "-o",
        "a.csv", "-o", "a.json", "--trace", "t.json"},
       {"a.html", "a.md", "a.csv", "a.json", "t.json"}},
      {"what-if",
       {HEADWAY_PROGRAM, "simulate", "scenario.json", "-j", "2", "--what-if", "-o", "w.json"},
       {"w.json"}},
      {"report",
       {HEADWAY_PROGRAM, "report", "result.json", "-o", "r.html", "-o", "r.csv"},
       {"r.html", "r.csv"}},
      {"plan",
       {HEADWAY_PROGRAM, "plan", "scenario.json", "-j", "2", "-q", "-o", "p.html", "-o", "p.json"},
       {"p.html", "p.json"}},
      {"compare",
       {HEADWAY_PROGRAM, "compare", "scenario.json", "other.json", "-j", "1", "-o", "c.html"},
       {"c.html"}},
      {"anchor",
       {HEADWAY_PROGRAM, "anchor", "scenario.json", "--measured", "60ms", "-j", "1", "-o", "n.md"},
       {"n.md"}},
      {"replay", {HEADWAY_PROGRAM, "replay", HEADWAY_TRACE, "-o", "y.html"}, {"y.html"}},
      {"collective", {HEADWAY_PROGRAM, "collective", "dgx1_v100_roce", "-o", "l.csv"}, {"l.csv"}},
      {"validate",
       {HEADWAY_PROGRAM, "validate", "--rows", HEADWAY_ROWS, "-q", "-o", "v.html", "-o", "v.csv"},
       {"v.html", "v.csv"}},
      {"import", {HEADWAY_PROGRAM, "import", "slurm", "topology.conf", "-o", "i.json"}, {"i.json"}},
      {"topology", {HEADWAY_PROGRAM, "topology", "dgx1_v100_roce", "-o", "o.md"}, {"o.md"}},
      {"calibrate",
       {HEADWAY_CALIBRATE, "--backend", "fake", "--quick", "-o", "profile.json"},
       {"profile.json"}},
  };
  return kCommands;
}

const FaultyCommand& sweep() {
  static const FaultyCommand kSweep = {"sweep",
                                       {HEADWAY_PROGRAM, "sweep", "scenario.json", "--axis",
                                        "micro_batch=1,2", "-j", "2", "-q", "-o", "store"},
                                       {}};
  return kSweep;
}

using Call = std::pair<const char*, int>;  ///< and the error that it fails with
const std::vector<Call> kCalls = {{"write", ENOSPC}, {"open", EACCES}, {"rename", EDQUOT},
                                  {"mkdir", EROFS},  {"fork", EAGAIN}, {"pipe", EMFILE},
                                  {"fsync", EIO}};

/// Of every so many calls one is made to fail; each of them where HEADWAY_FAULT_STEP is 1.
std::uintmax_t stride() {
  const char* const step = std::getenv("HEADWAY_FAULT_STEP");
  return step == nullptr ? 7 : static_cast<std::uintmax_t>(std::max(1, std::atoi(step)));
}

class Faults : public testing::Test {
 protected:
  Faults() {
    scratch_.write("scenario.json", small_scenario(2).dump());
    scratch_.write("other.json", small_scenario(4).dump());
    scratch_.write("topology.conf", "SwitchName=a Nodes=n[1-4]\n");
  }

  /// Runs it with the Nth call failing. HEADWAY_FAULT_COUNTER tells afterwards how many there were.
  LimitedRun run_with(const FaultyCommand& command, const char* call, std::uintmax_t number,
                      int error) {
    fs::remove(counter());
    return limited_run(command.words, folder(), {},
                       {fmt::format("LD_PRELOAD={}", HEADWAY_FAULT_SHIM),
                        fmt::format("HEADWAY_FAULT={}:{}:{}", call, number, error),
                        fmt::format("HEADWAY_FAULT_COUNTER={}", counter().string())});
  }
  [[nodiscard]] std::uintmax_t calls() const {
    std::error_code none;
    const std::uintmax_t size = fs::file_size(counter(), none);
    return none ? 0 : size;
  }
  [[nodiscard]] fs::path folder() const { return scratch_.path(); }

  /// Makes every strideth such call of a command fail; returns how many did.
  int injected_into(const FaultyCommand& command, const Call& kind);
  int injected_into_sweep(const Call& kind);

 private:
  /// The size of what stands under each name.
  [[nodiscard]] std::map<std::string, std::uintmax_t> sizes_of(const FaultyCommand& command) const {
    std::map<std::string, std::uintmax_t> sizes;
    for (const std::string& name : command.outputs) sizes[name] = fs::file_size(folder() / name);
    return sizes;
  }
  [[nodiscard]] std::string unfinished() const {
    for (const auto& entry : fs::directory_iterator(folder())) {
      const std::string name = entry.path().filename().string();
      if (name.ends_with(".tmp") || name.ends_with(".part")) return name;
    }
    return "";
  }
  [[nodiscard]] fs::path counter() const { return folder() / ".counter"; }
  ScratchFolder scratch_;
};

constexpr std::string_view kBefore = "what stood here before";

int Faults::injected_into(const FaultyCommand& command, const Call& kind) {
  const auto& [call, error] = kind;
  for (const std::string& name : command.outputs) fs::remove(folder() / name);
  const LimitedRun whole = run_with(command, call, 0, error);
  EXPECT_EQ(whole.exit_code, 0) << command.name << whole.errors;
  if (whole.exit_code != 0) return 0;
  const std::uintmax_t count = calls();
  const auto sizes = sizes_of(command);
  int injected = 0;
  for (std::uintmax_t number = 1; number <= count; number += stride(), ++injected) {
    SCOPED_TRACE(fmt::format("{}: {} {} of {}", command.name, call, number, count));
    for (const std::string& name : command.outputs) {
      std::ofstream(folder() / name, std::ios::binary) << kBefore;
    }
    const LimitedRun run = run_with(command, call, number, error);
    EXPECT_EQ(run.exit_code, 3) << run.ending() << "\n" << run.errors;
    EXPECT_NE(run.errors.find(std::strerror(error)), std::string::npos) << run.errors;
    EXPECT_EQ(unfinished(), "");
    for (const auto& [name, size] : sizes_of(command)) {
      // A calibration keeps what it has measured so far, which is a document too.
      const bool is_whole = name.ends_with(".json")
                                ? nlohmann::json::accept(std::ifstream(folder() / name))
                                : size == sizes.at(name);
      EXPECT_TRUE(is_whole || size == kBefore.size()) << name << " " << size;
    }
  }
  return injected;
}

int Faults::injected_into_sweep(const Call& kind) {
  const auto& [call, error] = kind;
  fs::remove_all(folder() / "store");
  EXPECT_EQ(run_with(sweep(), call, 0, error).exit_code, 0);
  const std::uintmax_t count = calls();
  int injected = 0;
  for (std::uintmax_t number = 1; number <= count; number += stride(), ++injected) {
    SCOPED_TRACE(fmt::format("{} {} of {}", call, number, count));
    fs::remove_all(folder() / "store");
    const LimitedRun run = run_with(sweep(), call, number, error);
    // 1: a point that could not be run stands in the store with its reason.
    EXPECT_TRUE(run.signal == 0 && run.exit_code != 2 && run.exit_code <= 3)
        << run.ending() << run.errors;
    if (run.exit_code == 3) {
      EXPECT_NE(run.errors.find("error: "), std::string::npos);
    }
    const LimitedRun again = run_with(sweep(), "none", 0, 0);
    EXPECT_EQ(again.exit_code, 0) << again.errors;
    const LimitedRun report = limited_run({HEADWAY_PROGRAM, "report", "store", "--json"}, folder());
    EXPECT_EQ(report.exit_code, 0) << report.errors;
    const auto points = nlohmann::json::parse(report.output, nullptr, false);
    EXPECT_TRUE(points.is_object() && points.at("points").size() == 2U) << report.output;
  }
  return injected;
}

/// A failure of any one call ends with exit code 3 and its reason; every output is then the whole
/// new file or what stood under its name before.
TEST_F(Faults, EveryFailureOfACallIsToldAndLeavesNoPartOfAFile) {
  const LimitedRun result = limited_run(
      {HEADWAY_PROGRAM, "simulate", "scenario.json", "-q", "-o", "result.json"}, folder());
  ASSERT_EQ(result.exit_code, 0) << result.errors;
  std::map<std::string_view, int> injected;
  for (const FaultyCommand& command : commands()) {
    for (const Call& kind : kCalls) injected[kind.first] += injected_into(command, kind);
  }
  for (const auto& [call, count] : injected) std::cout << count << " failures of " << call << "\n";
  EXPECT_GT(injected["write"], 5);
}

/// A sweep that could not write goes on where it stood: afterwards its store holds every point.
TEST_F(Faults, ASweepThatFailedToWriteIsCompletedByTheNextRun) {
  for (const Call& kind : kCalls) {
    std::cout << injected_into_sweep(kind) << " failures of " << kind.first << " in a sweep\n";
  }
  std::cout << injected_into_sweep({"short", 0}) << " short writes in a sweep\n";
}

/// Whoever writes goes on where a write took less than it was given.
TEST_F(Faults, AWriteThatTakesHalfIsNoFailure) {
  for (const FaultyCommand& command : {commands().front(), commands().back()}) {
    ASSERT_EQ(run_with(command, "short", 0, 0).exit_code, 0) << command.name;
    const std::uintmax_t count = calls();
    ASSERT_GT(count, 0U);
    for (std::uintmax_t number = 1; number <= count; number += stride()) {
      SCOPED_TRACE(fmt::format("{}: {} of {}", command.name, number, count));
      const LimitedRun run = run_with(command, "short", number, 0);
      EXPECT_EQ(run.exit_code, 0) << run.errors;
      for (const std::string& name : command.outputs) {
        if (!name.ends_with(".json")) continue;
        EXPECT_TRUE(nlohmann::json::accept(std::ifstream(folder() / name))) << name;
      }
    }
  }
}

LimitedRun shell(const std::string& line, const fs::path& folder) {
  return limited_run({"/bin/sh", "-c", line}, folder);
}

TEST_F(Faults, ClosedStreamsAndOddSurroundings) {
  const std::string program = HEADWAY_PROGRAM;
  const std::string simulate = program + " simulate scenario.json -j 1 ";
  const std::string plain = shell(simulate + "--json", folder()).output;
  ASSERT_FALSE(plain.empty());
  EXPECT_EQ(shell(simulate + "<&-", folder()).exit_code, 0);
  EXPECT_EQ(shell(program + " simulate - <&-", folder()).exit_code, 2);
  EXPECT_EQ(shell(simulate + "2>&-", folder()).exit_code, 0);
  // Closed, standard output takes nothing: an environment that did not do it, and no file of ours
  // may take its number.
  const LimitedRun closed = shell(simulate + "-o b.json >&-", folder());
  EXPECT_EQ(closed.exit_code, 3) << closed.errors;
  EXPECT_EQ(shell(simulate + "> /dev/full", folder()).exit_code, 3);
  EXPECT_EQ(shell(simulate + "| true; :", folder()).exit_code, 0);
  for (const char* surroundings : {"env -u HOME", "LC_ALL=tr_TR.UTF-8", "LC_ALL=de_DE.UTF-8",
                                   "LC_ALL=nowhere", "TZ=nowhere", "env -i"}) {
    const LimitedRun run =
        shell(fmt::format("{} {} simulate scenario.json -j 1", surroundings, program), folder());
    EXPECT_EQ(run.exit_code, 0) << surroundings << run.errors;
  }
}

TEST_F(Faults, NamesOfFilesAreTextAndNothingElse) {
  const std::vector<std::string> names = {"a b.json",      "a\"b.json", "a\nb.json",
                                          "<script>.json", "--o.json",  "$(touch x).json",
                                          "ü\xC3\xA9.json"};
  for (const std::string& name : names) {
    fs::copy_file(folder() / "scenario.json", folder() / name);
    const LimitedRun run = limited_run(
        {HEADWAY_PROGRAM, "simulate", "-j", "1", "-o", "./" + name + ".html", "--", "./" + name},
        folder());
    EXPECT_EQ(run.exit_code, 0) << name << run.errors;
    EXPECT_TRUE(fs::exists(folder() / (name + ".html"))) << name;
  }
  EXPECT_FALSE(fs::exists(folder() / "x"));
}

}  // namespace
}  // namespace headway

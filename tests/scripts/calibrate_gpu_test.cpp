// scripts/calibrate_gpu.sh to its end on a machine without a GPU: the program that it runs, or that
// it has CMake build, is a stand-in that hands over to the fake backend.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/calibrate/cli/run_program.h"

namespace headway {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Not;

/// Says how it was called, then measures the fake backend in place of the device.
constexpr const char* kStandIn = R"(#!/bin/bash
echo "$*" >"$CALLS/calibrator"
arguments=()
for argument in "$@"; do
  case $argument in
  cuda) arguments+=(fake) ;;
  --block) ;;
  *) arguments+=("$argument") ;;
  esac
done
exec )" HEADWAY_CALIBRATE R"( "${arguments[@]}"
)";

/// Measures part of what there is, then nothing more until it is told to end; keeps what it has.
constexpr const char* kSlow = R"(#!/bin/bash
while [ $# -gt 1 ]; do shift; done
trap 'exit 130' TERM
[ "$WRITES" != yes ] || { echo part >"$1.part"; mv "$1.part" "$1"; }
while :; do sleep 0.05; done
)";

/// Writes its arguments down; "builds" the stand-in.
constexpr const char* kCmake = R"(#!/bin/bash
echo "$*" >>"$CALLS/cmake"
case $1 in
--build)
  [ "$BUILDS" = yes ] || { echo "no such compiler"; exit 1; }
  mkdir -p build/gpu/calibrate/cli
  cp "$STAND_IN" build/gpu/calibrate/cli/headway-calibrate
  ;;
esac
)";

/// A copy of the script alone in a folder of its own, and nothing on the path but what it may use:
/// nothing that reaches a network, no compiler, no GPU.
class CalibrateGpu : public ::testing::Test {
 protected:
  CalibrateGpu() {
    fs::create_directories(root() / "checkout/scripts");
    fs::create_directories(root() / "bin");
    fs::create_directories(root() / "calls");
    fs::copy(fs::path(HEADWAY_SCRIPTS) / "calibrate_gpu.sh", script());
    for (const char* tool : {"bash", "cat", "cp", "dirname", "mkdir", "mv", "nproc", "realpath",
                             "sed", "sleep", "stat", "tail", "timeout"}) {
      for (const char* place : {"/usr/bin", "/bin"}) {
        if (!fs::exists(fs::path(place) / tool) || fs::exists(root() / "bin" / tool)) continue;
        fs::create_symlink(fs::path(place) / tool, root() / "bin" / tool);
      }
    }
  }
  [[nodiscard]] const fs::path& root() const { return folder_.path(); }
  [[nodiscard]] fs::path script() const { return root() / "checkout/scripts/calibrate_gpu.sh"; }
  [[nodiscard]] std::string output() const { return (root() / "out.json").string(); }
  [[nodiscard]] std::string points() const { return (root() / "out.points.json").string(); }
  [[nodiscard]] std::string calls_of(const char* program) const {
    return content(root() / "calls" / program);
  }
  std::string program(const char* name, const char* text) {
    const fs::path path = root() / name;
    std::ofstream(path) << text;
    fs::permissions(path, fs::perms::owner_all);
    return path.string();
  }
  /// In a folder that is not the checkout's.
  [[nodiscard]] Outcome run_script(const std::string& arguments, const std::string& environment) {
    return run_line("cd " + root().string() + " && env -i PATH=" + (root() / "bin").string() +
                    " CALLS=" + (root() / "calls").string() + " " + environment + " " +
                    script().string() + " " + arguments);
  }

 private:
  ScratchFolder folder_;
};

TEST_F(CalibrateGpu, BuildsTheCalibratorAloneAndWritesAProfile) {
  program("bin/cmake", kCmake);
  const std::string stand_in = program("stand_in", kStandIn);
  const Outcome outcome = run_script("out.json --name box --seed 7",
                                     "BUILDS=yes HEADWAY_ARCHITECTURE=90 STAND_IN=" + stand_in);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(calls_of("cmake"),
              HasSubstr("-S . -B build/gpu -DCMAKE_BUILD_TYPE=Release -DHEADWAY_SIM=OFF "
                        "-DHEADWAY_TESTS=OFF -DHEADWAY_CPU=OFF -DHEADWAY_MPI=OFF -DHEADWAY_CUDA=ON "
                        "-DCMAKE_CUDA_ARCHITECTURES=90\n--build build/gpu --target "
                        "headway-calibrate -j "));
  EXPECT_EQ(calls_of("calibrator"),
            "--backend cuda --quick --block --name box --seed 7 --points " + points() + " -o " +
                output() + "\n");
  EXPECT_THAT(outcome.err, HasSubstr("calibrate_gpu.sh: built in "));
  EXPECT_THAT(outcome.err, HasSubstr("wrote " + output()));
  EXPECT_EQ(problems(output()), rendered(std::vector<Diagnostic>(), ""));
  EXPECT_EQ(refit(points()).out, content(output()));
}

TEST_F(CalibrateGpu, BuildsForTheDeviceThatIsThere) {
  program("bin/cmake", kCmake);
  const std::string stand_in = program("stand_in", kStandIn);
  EXPECT_EQ(run_script("", "BUILDS=yes STAND_IN=" + stand_in).code, 0);
  EXPECT_THAT(calls_of("cmake"), HasSubstr("-DCMAKE_CUDA_ARCHITECTURES=native"));
  EXPECT_TRUE(fs::exists(root() / "gpu.json"));
}

TEST_F(CalibrateGpu, WithACalibratorAtHandBuildsNothing) {
  const std::string stand_in = program("stand_in", kStandIn);
  const Outcome outcome = run_script("--seed 3", "HEADWAY_CALIBRATE=" + stand_in);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(calls_of("calibrator"),
            "--backend cuda --quick --block --seed 3 --points " +
                (root() / "gpu.points.json").string() + " -o " + (root() / "gpu.json").string() +
                "\n");
  EXPECT_FALSE(fs::exists(root() / "checkout/build"));
}

TEST_F(CalibrateGpu, SaysWhyItCouldNotBuild) {
  Outcome outcome = run_script("out.json", "");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.err, "calibrate_gpu.sh: cmake was not found\n");
  program("bin/cmake", kCmake);
  outcome = run_script("out.json", "");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(
      outcome.err,
      "no such compiler\ncalibrate_gpu.sh: the calibrator could not be built; the whole story "
      "is in " +
          (root() / "checkout/build/gpu.log").string() + "\n");
  outcome = run_script("out.json", "HEADWAY_CALIBRATE=missing");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(outcome.err,
            "calibrate_gpu.sh: there is no calibrator " + (root() / "missing").string() + "\n");
  EXPECT_FALSE(fs::exists(output()));
}

TEST_F(CalibrateGpu, PassesOnHowTheCalibratorEnded) {
  const std::string stand_in = program("stand_in", kStandIn);
  const Outcome wrong = run_script("out.json --passes 0", "HEADWAY_CALIBRATE=" + stand_in);
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("--passes must be between 1 and 100"));
  for (const char* code : {"3", "70", "130"}) {
    const std::string ends = program("ends", (std::string("#!/bin/bash\nexit ") + code).c_str());
    EXPECT_EQ(run_script("out.json", "HEADWAY_CALIBRATE=" + ends).code, std::atoi(code));
  }
  const Outcome time = run_script("out.json", "HEADWAY_SECONDS=8m HEADWAY_CALIBRATE=" + stand_in);
  EXPECT_EQ(time.code, 2);
  EXPECT_EQ(time.err, "calibrate_gpu.sh: HEADWAY_SECONDS is '8m'; write whole seconds\n");
}

TEST_F(CalibrateGpu, KeepsWhatWasMeasuredWhenTimeIsUp) {
  const std::string slow = program("slow", kSlow);
  const std::string settings = "HEADWAY_SECONDS=1 HEADWAY_CALIBRATE=" + slow;
  const Outcome part = run_script("out.json", settings + " WRITES=yes");
  EXPECT_EQ(part.code, 3);
  EXPECT_THAT(part.err, HasSubstr(output() + " has what was measured until then, and what is "
                                             "missing under not_measured"));
  EXPECT_EQ(content(output()), "part\n");

  // A profile of another day is not this one's.
  const Outcome nothing = run_script("out.json", settings);
  EXPECT_EQ(nothing.code, 3);
  EXPECT_THAT(nothing.err, HasSubstr("before anything was measured"));
  EXPECT_EQ(content(output()), "part\n");
}

TEST_F(CalibrateGpu, LeavesMeasuringWhatBuildingDidNotTakeAndAnEighthAtLeast) {
  program("bin/cmake", kCmake);
  // In place of timeout, whose first number is the time that is left. A build takes seconds.
  const std::string counted = program("stand_in", "#!/bin/bash\n");
  fs::remove(root() / "bin/timeout");
  program("bin/timeout", "#!/bin/bash\necho \"$*\" >\"$CALLS/timeout\"\n");
  EXPECT_EQ(run_script("", "SECONDS=100 BUILDS=yes STAND_IN=" + counted).code, 0);
  EXPECT_THAT(calls_of("timeout"), testing::ContainsRegex("--foreground --kill-after=60 3[0-9][0-9] "));
  EXPECT_EQ(run_script("", "SECONDS=470 BUILDS=yes STAND_IN=" + counted).code, 0);
  EXPECT_THAT(calls_of("timeout"), HasSubstr("--foreground --kill-after=60 60 "));
}

TEST_F(CalibrateGpu, HelpNamesSettingsAndExitCodes) {
  const Outcome help = run_script("--help", "");
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.out, HasSubstr("scripts/calibrate_gpu.sh [OUTPUT]"));
  EXPECT_THAT(help.out, HasSubstr("HEADWAY_SECONDS"));
  EXPECT_THAT(help.out, HasSubstr("Exit codes: 0 done"));
  EXPECT_THAT(help.out, Not(HasSubstr("set -euo")));
}

}  // namespace
}  // namespace headway

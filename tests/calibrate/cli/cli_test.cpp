// The program as a user runs it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "sim/base/input_files.h"
#include "sim/profile/read_profile.h"
#include "tests/support/scratch_folder.h"

namespace headway {
namespace {

struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
};

std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

Outcome run_line(const std::string& line) {
  const ScratchFolder folder;
  const std::string out = (folder.path() / "out").string();
  const std::string err = (folder.path() / "err").string();
  const int status = std::system(("{ " + line + "; } >" + out + " 2>" + err).c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(out), content(err)};
}

Outcome run(const std::string& arguments, const std::string& before = "") {
  return run_line(before + " " HEADWAY_CALIBRATE " " + arguments + " </dev/null");
}

/// The problems that read_profile finds; empty for a clean profile.
std::string problems(const std::string& path) {
  Diagnostics diagnostics;
  InputFiles files({}, {}, diagnostics);
  const auto cursor = files.open(path, "");
  if (cursor) (void)read_profile(*cursor, files);
  return rendered(diagnostics.all(), "nothing was read.");
}

TEST(CommandLine, HelpNamesTheBackendsAndExitCodes) {
  const Outcome help = run("--help");
  EXPECT_EQ(help.code, 0);
  EXPECT_NE(help.out.find("--backend arg (=cpu)"), std::string::npos) << help.out;
  EXPECT_NE(help.out.find("Exit codes"), std::string::npos);
}

TEST(CommandLine, MistakesAreExitCodeTwoAndSayHowToMendThem) {
  const Outcome unknown = run("--backend tpu");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_EQ(unknown.err,
            "error: unknown backend \"tpu\"\n"
            "  --> command line\n"
            "  help: it is cpu, cuda or fake\n"
            "\n"
            "1 problem in 1 file; nothing was measured.\n");
  for (const char* arguments : {"--passes 0", "--noise 2", "--bogus", "--back cpu", "--passes x",
                                "stray", "--ranks -1", "--shapes /nonexistent", "--progress maybe",
                                "--name ''", "--only gemms", "--net '8 Mb/s'"}) {
    EXPECT_EQ(run(std::string("--backend fake ") + arguments).code, 2) << arguments;
  }
}

TEST(CommandLine, ALinkNeedsARateAndARateAUnit) {
  EXPECT_EQ(run("--net 400").code, 2);
  EXPECT_EQ(run("--net '5 ms'").code, 2);
  EXPECT_NE(run("--only all_reduse").err.find("did you mean \"all_reduce\"?"), std::string::npos);
  const Outcome slow = run("--net '1 Kb/s'");
  EXPECT_EQ(slow.code, 2);
  EXPECT_NE(slow.err.find("--net is too slow to measure"), std::string::npos) << slow.err;
}

TEST(FakeBackend, WritesAProfileThatIsReadWithoutAComplaint) {
  const ScratchFolder folder;
  const std::string path = (folder.path() / "fake.json").string();
  const Outcome outcome = run("--backend fake --quick --ranks 4 --name box -o " + path);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_EQ(problems(path), rendered(std::vector<Diagnostic>(), ""));
}

TEST(FakeBackend, GivesTheSameBytesForTheSameSeed) {
  const std::string epoch = "SOURCE_DATE_EPOCH=0";
  const Outcome first = run("--backend fake --quick --seed 5", epoch);
  EXPECT_EQ(first.code, 0);
  EXPECT_NE(first.out.find("\"created_utc\": \"1970-01-01T00:00:00Z\""), std::string::npos);
  EXPECT_EQ(first.out, run("--backend fake --quick --seed 5", epoch).out);
  EXPECT_NE(first.out, run("--backend fake --quick --seed 6", epoch).out);
}

TEST(FakeBackend, MeasuresTheShapesOfAScenario) {
  const ScratchFolder folder;
  const std::string shapes = folder.write("shapes", "bf16 1234 777 555\n");
  const Outcome outcome = run("--backend fake --quick --shapes " + shapes);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.out.find("\"m\":1234,\"n\":777,\"k\":555"), std::string::npos);
}

TEST(FakeBackend, MeasuresTheShapesThatTheSimulatorLists) {
  const std::string listed =
      R"(printf 'bf16 4096 12288 4096  # qkv forward, qkv data gradient\n' |)";
  const Outcome outcome =
      run_line(listed + " " HEADWAY_CALIBRATE " --backend fake --quick --only memory --shapes -");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("\"m\":4096,\"n\":12288,\"k\":4096"), std::string::npos);
}

TEST(FakeBackend, AFullDiskIsExitCodeThreeAndLeavesTheOldProfile) {
  const ScratchFolder folder;
  const std::string path = folder.write("old.json", "old");
  // ulimit counts blocks of 512 or 1024 bytes; the profile has tens of thousands.
  const Outcome outcome = run("--backend fake --quick -o " + path, "trap '' XFSZ; ulimit -f 1;");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_NE(outcome.err.find("cannot write " + path), std::string::npos) << outcome.err;
  EXPECT_EQ(content(path), "old");
}

#ifdef HEADWAY_WITH_CUDA
TEST(CudaBackend, WithoutADeviceSaysSoInOneLineAndIsExitCodeThree) {
  const Outcome outcome = run("--backend cuda", "CUDA_VISIBLE_DEVICES=");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_EQ(outcome.err.rfind("error: ", 0), 0U) << outcome.err;
}
#endif

#ifdef HEADWAY_WITH_CPU
/// Starts the program, sends it a signal once it has written its first checkpoint.
TEST(CpuBackend, KeepsWhatItMeasuredWhenItIsInterrupted) {
  const ScratchFolder folder;
  const std::string path = (folder.path() / "here.json").string();
  const pid_t child = fork();
  if (child == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDERR_FILENO);
    execl(HEADWAY_CALIBRATE, HEADWAY_CALIBRATE, "--backend", "cpu", "--quick", "--ranks", "1",
          "--passes", "1", "-o", path.c_str(), nullptr);
    _exit(127);
  }
  // The first checkpoint comes after the products: some seconds, a minute on a crowded machine.
  for (int i = 0; i < 1200 && !std::filesystem::exists(path); ++i) usleep(100000);
  ASSERT_TRUE(std::filesystem::exists(path));
  kill(child, SIGINT);
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  // It may have been through already; either way the file is whole.
  EXPECT_TRUE(WIFEXITED(status) && (WEXITSTATUS(status) == 130 || WEXITSTATUS(status) == 0));
  EXPECT_EQ(problems(path), rendered(std::vector<Diagnostic>(), ""));
  if (WEXITSTATUS(status) == 130) {
    EXPECT_NE(content(path).find("\"verdict\": \"aborted\""), std::string::npos);
    EXPECT_NE(content(path).find("interrupted by SIGINT"), std::string::npos);
  }
}
#endif

}  // namespace
}  // namespace headway

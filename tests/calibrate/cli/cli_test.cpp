// The program as a user runs it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "tests/calibrate/cli/run_program.h"

namespace headway {
namespace {

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
                                "--name ''", "--only gemms", "--net '8 Mb/s'", "--block"}) {
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

TEST(FakeBackend, RepeatsOneProductForAsLongAsAskedFor) {
  const Outcome outcome = run("--backend fake --quick --jitter '2 s'");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("\"jitter\": \"gemm bf16 nn 4096 x 2048 x 2048 for 2 s: "),
            std::string::npos);
  EXPECT_NE(outcome.out.find("measured: one product for 2 s"), std::string::npos);
  EXPECT_EQ(run("--backend fake --jitter '5 ms'").code, 2);
}

TEST(FakeBackend, MeasuresTheShapesOfAScenario) {
  const ScratchFolder folder;
  const std::string shapes = folder.write("shapes", "bf16 1234 777 555\n");
  const Outcome outcome = run("--backend fake --quick --shapes " + shapes);
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.out.find("\"m\":1234,\"n\":777,\"k\":555"), std::string::npos);
}

TEST(FakeBackend, MeasuresTheAttentionOfAScenarioAndNamesWhatItRefuses) {
  const ScratchFolder folder;
  const std::string shapes = folder.write(
      "shapes", "attention 3 777 8 2 96 causal  # wanted\nattention 1 64 4 4 512 full\n");
  const std::string path = (folder.path() / "fake.json").string();
  const Outcome outcome =
      run("--backend fake --quick --only attention --shapes " + shapes + " -o " + path);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("refused: 2 points: the fake device has no heads of more than 256 "
                             "(attention backward 1 x 64, 4 heads of 512, 4 of keys, full, "
                             "attention forward 1 x 64, 4 heads of 512, 4 of keys, full)"),
            std::string::npos)
      << outcome.err;
  const std::string profile = content(path);
  for (const char* pass : {"forward", "backward"}) {
    EXPECT_NE(profile.find(std::string("\"pass\":\"") + pass +
                           "\",\"sequences\":3,\"length\":777,\"query_heads\":8,\"key_heads\":2,"
                           "\"head_size\":96,\"causal\":true"),
              std::string::npos)
        << pass;
  }
  EXPECT_EQ(problems(path), rendered(std::vector<Diagnostic>(), ""));
}

TEST(FakeBackend, MeasuresTheShapesThatTheSimulatorLists) {
  const std::string listed =
      R"(printf 'bf16 4096 12288 4096  # qkv forward, qkv data gradient\n' |)";
  const Outcome outcome =
      run_line(listed + " " HEADWAY_CALIBRATE " --backend fake --quick --only memory --shapes -");
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("\"m\":4096,\"n\":12288,\"k\":4096"), std::string::npos);
}

#if defined(HEADWAY_WITH_CPU) && defined(HEADWAY_WITH_MPI)
TEST(CpuBackend, GivesRanksBehindLimitedLinksCoresOfTheirOwn) {
  if (sysconf(_SC_NPROCESSORS_ONLN) < 2) GTEST_SKIP() << "a machine of one core";
  const Outcome outcome = run("--net '100 Mb/s' --ranks 2 --quick --passes 1 --only launch");
  if (outcome.err.find("cannot give the ranks links") != std::string::npos) {
    GTEST_SKIP() << outcome.err;
  }
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("\"cores\": \"by rank 0, 1\""), std::string::npos) << outcome.err;
}
#endif

#ifdef HEADWAY_WITH_CUDA
TEST(CudaBackend, WithoutADeviceSaysSoInOneLineAndIsExitCodeThree) {
  const Outcome outcome = run("--backend cuda", "CUDA_VISIBLE_DEVICES=");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << outcome.err;
  EXPECT_EQ(outcome.err.rfind("error: ", 0), 0U) << outcome.err;
}
#endif

}  // namespace
}  // namespace headway

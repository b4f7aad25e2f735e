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

TEST(Refit, GivesTheProfileOfTheRunAndTellsOfItself) {
  const ScratchFolder folder;
  const std::string profile = (folder.path() / "fake.json").string();
  const std::string points = (folder.path() / "points.json").string();
  const std::string shapes = folder.write("shapes", "attention 1 64 4 4 512 full  # refused\n");
  const Outcome measured = run("--backend fake --quick --ranks 4 --jitter '1 s' --shapes " +
                               shapes + " -o " + profile + " --points " + points);
  EXPECT_EQ(measured.code, 0) << measured.err;
  EXPECT_NE(measured.err.find("wrote " + points + "\n"), std::string::npos) << measured.err;
  const Outcome again = refit(points);
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.out, content(profile));

  const Outcome told = run("--from " + points + " --name other", "SOURCE_DATE_EPOCH=0");
  EXPECT_NE(told.out.find("\"name\": \"other\""), std::string::npos);
  EXPECT_NE(told.out.find("\"refitted\": \"1970-01-01T00:00:00Z by headway-calibrate"),
            std::string::npos);
  EXPECT_NE(told.out.find(": headway-calibrate --from " + points + " --name other\""),
            std::string::npos);
}

TEST(Refit, OfPointsWithoutAProfileWritesNothingElseMeanwhile) {
  const ScratchFolder folder;
  const std::string points = (folder.path() / "points.json").string();
  const Outcome measured = run("--backend fake --quick --points " + points);
  EXPECT_EQ(measured.code, 0) << measured.err;
  EXPECT_EQ(refit(points).out, measured.out);  // one profile, none of the checkpoints'
}

TEST(Refit, OfACalibrationThatEndedEarlyIsExitCodeThreeAndKeepsTheVerdict) {
  const ScratchFolder folder;
  const std::string points = (folder.path() / "points.json").string();
  (void)run("--backend fake --quick --only launch --points " + points);
  std::string text = content(points);
  const std::string ended = "\"aborted\": false";
  text.replace(text.find(ended), ended.size(), "\"aborted\": true");
  const Outcome outcome = refit(folder.write("early.json", text));
  EXPECT_EQ(outcome.code, 3) << outcome.err;
  EXPECT_NE(outcome.out.find("\"verdict\": \"aborted\""), std::string::npos);
  EXPECT_EQ(outcome.err.rfind("aborted: ", 0), 0U) << outcome.err;
}

TEST(Refit, MeasuresNothingAndTakesNoOptionThatWould) {
  const ScratchFolder folder;
  const std::string points = folder.write("points.json", "{}");
  for (const char* option :
       {"--backend cpu", "--quick", "--shapes -", "--only memory", "--ranks 2", "--net '8 Mb/s'",
        "--block", "--jitter '1 s'", "--passes 2", "--seed 2", "--deadline '9 s'", "--steps x",
        "--single-process", "--noise 0", "--points x"}) {
    const Outcome outcome = refit(points, option);
    EXPECT_EQ(outcome.code, 2) << option;
    EXPECT_NE(outcome.err.find("  help: "), std::string::npos) << option << outcome.err;
    EXPECT_EQ(outcome.err.find("schema"), std::string::npos) << option;  // nothing was read
  }
  EXPECT_EQ(run("--from " + points + " --quick").err,
            "error: --quick is about measuring, and --from measures nothing\n"
            "  --> command line\n"
            "  help: leave --quick out, or measure without --from\n"
            "\n"
            "1 problem in 1 file; nothing was measured.\n");
  EXPECT_EQ(refit(points, "-o " + points).code, 2);
  EXPECT_EQ(content(points), "{}");
  EXPECT_EQ(run("--backend fake --points x -o x").code, 2);
  EXPECT_EQ(refit(points).code, 2);  // no measurements
  EXPECT_EQ(refit("/nonexistent").code, 2);
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

// What becomes of a calibration that is not let through.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <csignal>
#include <optional>
#include <thread>
#include <vector>

#include "tests/calibrate/cli/run_program.h"

namespace headway {
namespace {

TEST(Failure, AFullDiskIsExitCodeThreeAndLeavesTheOldProfile) {
  const ScratchFolder folder;
  const std::string path = folder.write("old.json", "old");
  // ulimit counts blocks of 512 or 1024 bytes; the profile has tens of thousands.
  const Outcome outcome = run("--backend fake --quick -o " + path, "trap '' XFSZ; ulimit -f 1;");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_NE(outcome.err.find("cannot write " + path), std::string::npos) << outcome.err;
  EXPECT_EQ(content(path), "old");
}

TEST(Failure, AProfileThatStandardOutputDoesNotTakeIsExitCodeThree) {
  const Outcome outcome = run_line(HEADWAY_CALIBRATE " --backend fake --quick > /dev/full");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_NE(outcome.err.find("cannot write the profile to standard output"), std::string::npos);
}

TEST(Failure, AFullFilesystemHoldsNoHalfOfAProfile) {
  const std::string mounts = "unshare --user --map-root-user --mount sh -e -c ";
  const ScratchFolder folder;
  const std::string path = folder.path().string();
  if (run_line(mounts + "'mount -t tmpfs -o size=4k none " + path + "'").code != 0) {
    GTEST_SKIP() << "this machine lets nobody mount a small filesystem";
  }
  const Outcome outcome = run_line(mounts + "'mount -t tmpfs -o size=4k none " + path +
                                   "; code=0; " HEADWAY_CALIBRATE + " --backend fake --quick -o " +
                                   path + "/p.json || code=$?; ls " + path + "; exit $code'");
  EXPECT_EQ(outcome.code, 3) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_NE(outcome.err.find("No space left on device"), std::string::npos) << outcome.err;
}

#ifdef HEADWAY_WITH_CPU
/// Starts the program, sends it a signal once it has written its first checkpoint.
TEST(Failure, AnInterruptionKeepsWhatWasMeasured) {
  const ScratchFolder folder;
  const std::string path = (folder.path() / "here.json").string();
  const std::string points = (folder.path() / "points.json").string();
  const pid_t child = fork();
  if (child == 0) {
    const int nowhere = open("/dev/null", O_WRONLY);
    dup2(nowhere, STDERR_FILENO);
    execl(HEADWAY_CALIBRATE, HEADWAY_CALIBRATE, "--backend", "cpu", "--quick", "--ranks", "1",
          "--passes", "1", "-o", path.c_str(), "--points", points.c_str(), nullptr);
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
  const Outcome again = refit(points);
  EXPECT_EQ(again.code, WEXITSTATUS(status) == 130 ? 3 : 0) << again.err;
  EXPECT_EQ(again.out, content(path));
}

#endif

#if defined(HEADWAY_WITH_CPU) && defined(HEADWAY_WITH_MPI)
bool contains(const std::filesystem::path& path, const std::string& part) {
  return content(path).find(part) != std::string::npos;
}

/// The process of rank 1 that writes to `profile`, or nothing for a minute.
std::optional<pid_t> second_rank(const std::string& profile) {
  for (int i = 0; i < 600; ++i) {
    std::error_code ignored;
    for (const auto& process : std::filesystem::directory_iterator("/proc", ignored)) {
      if (!contains(process.path() / "cmdline", profile) ||
          !contains(process.path() / "environ", "OMPI_COMM_WORLD_RANK=1")) {
        continue;
      }
      return std::stoi(process.path().filename());
    }
    usleep(100000);
  }
  return std::nullopt;
}

/// Does `harm` to rank 1 while collectives are measured, and expects a whole profile that tells.
void expect_a_partial_profile(const std::string& options, void (*harm)(pid_t)) {
  const ScratchFolder folder;
  const std::string path = (folder.path() / "here.json").string();
  Outcome outcome;
  std::thread program([&] {
    outcome =
        run("--backend cpu --quick --passes 1 --only collectives --ranks 2 --deadline '10 s' " +
            options + " -o " + path);
  });
  // The first checkpoint comes after the products.
  for (int i = 0; i < 1200 && !std::filesystem::exists(path); ++i) usleep(100000);
  const auto rank = second_rank(path);
  if (rank) harm(*rank);
  program.join();
  ASSERT_TRUE(rank.has_value()) << outcome.err;
  EXPECT_EQ(outcome.code, 3) << outcome.err;
  EXPECT_EQ(problems(path), rendered(std::vector<Diagnostic>(), ""));
  EXPECT_TRUE(contains(path, "\"verdict\": \"aborted\""));
  EXPECT_TRUE(contains(path, "collectives"));
  EXPECT_TRUE(contains(path, "\"gemm_table\""));
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
    EXPECT_EQ(entry.path(), path);  // nothing half-written beside it
  }
}

TEST(Failure, ARankThatIsKilledEndsTheOthersWhoKeepWhatTheyMeasured) {
  expect_a_partial_profile("", [](pid_t rank) { kill(rank, SIGKILL); });
}

TEST(Failure, ANetworkThatIsCutEndsWithinTheDeadline) {
  if (geteuid() != 0) GTEST_SKIP() << "only root may cut another process's network";
  if (run_line("unshare --net ip link set lo up").code != 0) {
    GTEST_SKIP() << "this machine lets nobody make network namespaces";
  }
  expect_a_partial_profile("--net '100 Mb/s'", [](pid_t rank) {
    const std::string cut = "nsenter -t " + std::to_string(rank) + " -n ip link set cable down";
    EXPECT_EQ(std::system(cut.c_str()), 0);
  });
}
#endif

}  // namespace
}  // namespace headway

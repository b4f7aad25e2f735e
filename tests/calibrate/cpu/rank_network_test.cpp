#include "calibrate/cpu/rank_network.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

TEST(RankNetwork, BucketsHoldTwoAndAHalfMillisecondsOfTheRate) {
  EXPECT_EQ((RankNetwork{2, 400_Mbps}.burst()), 125_KB);  // 50 MB/s * 2.5 ms
  EXPECT_EQ((RankNetwork{2, 8_Mbps}.burst()), 32_KiB);    // room for two packets at least
}

TEST(RankNetwork, RunsTheCommandWithRanksBitsAndBurst) {
  const auto words = inside({4, 200_Mbps}, {"mpirun", "-np", "4"});
  EXPECT_EQ(words.front(), "unshare");
  const auto name = std::find(words.begin(), words.end(), "rank-network");
  ASSERT_NE(name, words.end());
  EXPECT_EQ(std::vector<std::string>(name + 1, words.end()),
            (std::vector<std::string>{"4", "200000000", "62500", "mpirun", "-np", "4"}));
}

TEST(RankNetwork, SaysInTheKernelsWordsWhyItIsForbidden) {
  const RunCommand forbidden = [](const std::vector<std::string>&) {
    return Ended{1, "first\nunshare: unshare failed: Operation not permitted\n"};
  };
  try {
    check_rank_network({2, 400_Mbps}, forbidden);
    FAIL() << "accepted";
  } catch (const EnvironmentError& error) {
    EXPECT_EQ(std::string(error.what()),
              "--net cannot give the ranks links of their own here: unshare: unshare failed: "
              "Operation not permitted; it needs unshare, ip and tc (Debian: util-linux, iproute2) "
              "and a kernel that lets this user make network namespaces");
  }
}

TEST(RankNetwork, IsTriedBeforeItIsUsed) {
  std::vector<std::string> tried;
  const RunCommand allowed = [&tried](const std::vector<std::string>& command) {
    tried = command;
    return Ended{0, ""};
  };
  EXPECT_NO_THROW(check_rank_network({2, 400_Mbps}, allowed));
  EXPECT_EQ(tried, inside({2, 400_Mbps}, {"true"}));
}

TEST(RunCommand, TellsExitCodeSignalAndErrors) {
  const Ended failed = run_command({"sh", "-c", "echo wrong >&2; exit 3"});
  EXPECT_EQ(failed.code, 3);
  EXPECT_EQ(failed.errors, "wrong\n");
  EXPECT_EQ(run_command({"sh", "-c", "kill -9 $$"}).code, 128 + 9);
  EXPECT_EQ(run_command({"/nonexistent/program"}).code, 127);
}

TEST(RankNetwork, LimitsTheRateBetweenRanksWhereTheKernelAllowsIt) {
  const RankNetwork network{2, 8_Mbps};
  try {
    check_rank_network(network);
  } catch (const EnvironmentError& error) {
    GTEST_SKIP() << error.what();
  }
  // Each rank has one cable, a token bucket and short packets at both of its ends, and reaches the
  // other.
  const Ended ended = run_command(inside(
      network, {"sh", "-e", "-c",
                "test $(tc qdisc show dev cable1 | grep -c 'tbf.*rate 8Mbit burst 32Kb') = 1\n"
                "test $(tc -n r1 qdisc show dev cable | grep -c 'tbf.*rate 8Mbit burst 32Kb') = 1\n"
                "test $(ip -d link show cable1 | grep -c 'gso_max_size 16384') = 1\n"
                "test $(ip -n r1 -d link show cable | grep -c 'gso_max_size 16384') = 1\n"
                "test $(ip -n r0 route get 10.99.0.2 | grep -c 'dev cable') = 1\n"
                "test \"$(/run/headway-rank-shell r1 hostname)\" = r1"}));
  EXPECT_EQ(ended.code, 0) << ended.errors;
}

}  // namespace
}  // namespace headway

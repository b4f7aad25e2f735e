#include "calibrate/cpu/processor_load.h"

#include <gtest/gtest.h>

#include <sstream>

#include "calibrate/cpu/strided_transport.h"
#include "calibrate/cpu/thread_clock.h"
#include "calibrate/cpu/transport_rendezvous.h"
#include "tests/calibrate/cpu/thread_transport.h"

namespace headway {
namespace {

TEST(MachineTime, CountsProgramsAndTheirKernelWork) {
  // user 100 + nice 20 + system 30 ticks of 10 ms; idle, waiting and interrupts are not busy
  std::istringstream text("cpu  100 20 30 4000 50 6 7 80 0 0\ncpu0 1 2 3\n");
  const auto time = machine_time(text, 100.0);
  ASSERT_TRUE(time.has_value());
  EXPECT_NEAR(time->busy.count(), 1.5, 1e-12);
  EXPECT_NEAR(time->stolen.count(), 0.8, 1e-12);
  std::istringstream other("intr 1 2 3");
  EXPECT_FALSE(machine_time(other, 100.0).has_value());
}

TEST(WaitedTime, IsTheSecondNumberInNanoseconds) {
  std::istringstream text("123456 2000000 17\n");
  EXPECT_EQ(waited_time(text), 2.0_ms);
  std::istringstream nothing("");
  EXPECT_FALSE(waited_time(nothing).has_value());
}

/// 10 s on two processors, of which the machine was busy for `busy` processor seconds.
RankLoad rank_load(double own, double waited, double busy, double machine = 1.0) {
  return {10.0, own, waited, busy, 0.0, 2.0, machine};
}

TEST(ContaminatedShare, DoesNotCountOurOwnThreadsAndRanks) {
  // Ranks wait for each other 40 % of the time, but use all that is used.
  EXPECT_NEAR(contaminated_share({rank_load(8.0, 4.0, 16.0), rank_load(8.0, 4.0, 16.0)}), 0.0,
              1e-12);
}

TEST(ContaminatedShare, IsWhatOthersUseAsFarAsRanksWaitForIt) {
  // Others use 20 - 12 of 20 processor seconds; a rank waits 30 % of the time.
  EXPECT_NEAR(contaminated_share({rank_load(6.0, 3.0, 20.0), rank_load(6.0, 1.0, 20.0)}), 0.3,
              1e-12);
  // Others use 2 of 20.
  EXPECT_NEAR(contaminated_share({rank_load(9.0, 3.0, 20.0), rank_load(9.0, 3.0, 20.0)}), 0.1,
              1e-12);
  // Ranks that sleep do not mind.
  EXPECT_NEAR(contaminated_share({rank_load(1.0, 0.1, 20.0)}), 0.01, 1e-12);
}

TEST(ContaminatedShare, IsThatOfTheWorstMachineAndCountsWhatIsStolen) {
  RankLoad stolen = rank_load(10.0, 0.0, 10.0, 2.0);
  stolen.stolen = 1.0;
  EXPECT_NEAR(contaminated_share({rank_load(10.0, 0.0, 10.0), stolen}), 0.05, 1e-12);
}

TEST(LoadWatch, SeesThisProcessAtWork) {
  const LoadWatch watch;
  const Seconds start = steady_now();
  while (steady_now() - start < 50.0_ms) {
  }
  const RankLoad load = watch.load();
  EXPECT_GE(load.elapsed, 0.05);
  EXPECT_GT(load.own, 0.0);
  EXPECT_GE(load.waited, 0.0);
  EXPECT_GE(load.processors, 1.0);
}

TEST(RankOnMachine, CountsTheRanksOfOneMachine) {
  EXPECT_TRUE(run_on_ranks(4, [](Transport& all) {
    TransportRendezvous rendezvous(all);
    EXPECT_EQ(rank_on_machine(rendezvous), all.rank());
  }));
}

TEST(StridedTransport, ConnectsEveryOtherRank) {
  EXPECT_TRUE(run_on_ranks(4, [](Transport& all) {
    StridedTransport group(all, 2);
    EXPECT_EQ(group.size(), 2);
    EXPECT_EQ(group.rank(), all.rank() / 2);
    int mine = all.rank();
    int other = -1;
    group.exchange(std::as_bytes(std::span(&mine, 1)), 1 - group.rank(),
                   std::as_writable_bytes(std::span(&other, 1)), 1 - group.rank());
    EXPECT_EQ(other, (all.rank() + 2) % 4);
  }));
}

}  // namespace
}  // namespace headway

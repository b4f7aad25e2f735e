#include <gtest/gtest.h>

#include <set>

#include "calibrate/cuda/device_collectives.h"
#include "calibrate/cuda/nccl/nccl_check.h"
#include "calibrate/cuda/nccl/nccl_implementation.h"
#include "calibrate/suite/rendezvous.h"
#include "tests/calibrate/cuda/has_device.h"

namespace headway {
namespace {

TEST(NcclCheck, TakesWhatIsInProgressForNoError) {
  EXPECT_THROW(HEADWAY_CUDA(ncclInternalError), EnvironmentError);
  EXPECT_NO_THROW(HEADWAY_CUDA(ncclSuccess));
  EXPECT_NO_THROW(HEADWAY_CUDA(ncclInProgress));
}

TEST(NcclImplementations, BeginWithWhatMostTrainingDoesAndDifferInName) {
  const auto& all = nccl_implementations();
  EXPECT_EQ(all.front().name, "nccl");
  EXPECT_EQ(all.front().registration, BufferRegistration::none);
  EXPECT_FALSE(all.front().concurrent);
  std::set<std::string> names;
  for (const NcclImplementation& one : all) {
    EXPECT_TRUE(names.insert(one.name).second);
    EXPECT_EQ(&nccl_implementation(one.name), &one);
  }
}

TEST(DeviceCollectives, AreThoseOfNccl) {
  EXPECT_EQ(DeviceCollectives::lacks(), "");
  EXPECT_NE(DeviceCollectives::version(), "");
  const auto offered = DeviceCollectives::implementations();
  ASSERT_EQ(offered.size(), nccl_implementations().size());
  EXPECT_EQ(offered.front().name, "nccl");
}

TEST(DeviceCollectives, RunBesideOtherWorkUntilTheyAreTold) {
  int devices = 0;
  if (!has_device() || cudaGetDeviceCount(&devices) != cudaSuccess || devices < 2) {
    GTEST_SKIP() << "a collective needs two CUDA devices";
  }
  SingleRendezvous alone;
  DeviceCollectives collectives(alone, devices, 0);
  const CollectivePoint point{CollectiveKind::all_reduce, "nccl", 1U << 20U, devices};
  EXPECT_GT(collectives.prepare(point, {})->repeat().time, 0.0_s);
  const auto work = collectives.work(point, 1.0_ms, {});
  EXPECT_GE(work->expected_time(), 1.0_ms);
  work->launch(nullptr);
  EXPECT_GT(work->finish(), 0.0_s);
  EXPECT_TRUE(work->has_ended());
}

}  // namespace
}  // namespace headway

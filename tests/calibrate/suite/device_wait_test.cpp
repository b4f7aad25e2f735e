#include "calibrate/suite/device_wait.h"

#include <gtest/gtest.h>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

TEST(DeviceWait, EndsWhenTheStateIsDone) {
  int asked = 0;
  wait_until([&asked] { return ++asked == 5 ? WaitState::done : WaitState::waiting; }, 60.0_s,
             "an operation");
  EXPECT_EQ(asked, 5);
}

TEST(DeviceWait, GivesUpAtTheDeadlineAndPassesErrorsOn) {
  EXPECT_THROW(wait_until([] { return WaitState::waiting; }, 0.0_s, "a collective"),
               EnvironmentError);
  EXPECT_THROW(wait_until([]() -> WaitState { throw EnvironmentError("a peer is gone"); }, 60.0_s,
                          "a collective"),
               EnvironmentError);
}

}  // namespace
}  // namespace headway

#include "sim/programs/cause.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

TEST(Cause, HasANameOfItsOwnForFilesAndOneForPeople) {
  std::set<std::string_view> names;
  std::set<std::string_view> titles;
  for (std::size_t i = 0; i < kCauses; ++i) {
    names.insert(cause_name(static_cast<Cause>(i)));
    titles.insert(cause_title(static_cast<Cause>(i)));
  }
  EXPECT_EQ(names.size(), kCauses);
  EXPECT_EQ(titles.size(), kCauses);
  EXPECT_EQ(cause_name(Cause::compute), "compute");
  EXPECT_EQ(cause_name(Cause::data_parallel_exposed), "data_parallel_exposed");
  EXPECT_EQ(cause_name(Cause::other), "other");
  EXPECT_EQ(cause_title(Cause::straggler_wait), "lost to slower ranks");
  EXPECT_EQ(cause_name(Cause::server_wait), "server_wait");
  EXPECT_THROW(static_cast<void>(cause_name(static_cast<Cause>(kCauses))), InternalError);
}

TEST(TimeByCause, AddsUpCauseByCause) {
  TimeByCause a;
  a[Cause::compute] = 2_s;
  a[Cause::optimizer] = 1_s;
  TimeByCause b;
  b[Cause::compute] = 3_s;
  const TimeByCause sum = a + 2.0 * b;
  EXPECT_EQ(sum[Cause::compute], 8_s);
  EXPECT_EQ(sum[Cause::optimizer], 1_s);
  EXPECT_EQ(sum[Cause::other], 0_s);
  EXPECT_EQ(sum.total(), 9_s);
}

}  // namespace
}  // namespace headway

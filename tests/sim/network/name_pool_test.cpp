#include "sim/network/name_pool.h"

#include <gtest/gtest.h>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

TEST(NamePool, NumbersNamesInTheOrderTheyCome) {
  NamePool pool;
  EXPECT_EQ(pool.add("leaf"), 0);
  EXPECT_EQ(pool.add(""), 1);
  EXPECT_EQ(pool.add("spine"), 2);
  EXPECT_EQ(pool.size(), 3);
  EXPECT_EQ(pool.name(0), "leaf");
  EXPECT_EQ(pool.name(1), "");
  EXPECT_EQ(pool.name(2), "spine");
}

TEST(NamePool, FindsEveryNameAgainAfterGrowing) {
  NamePool pool;
  for (int i = 0; i < 5000; ++i) EXPECT_EQ(pool.add("node" + std::to_string(i)), i);
  for (int i = 0; i < 5000; ++i) EXPECT_EQ(pool.find("node" + std::to_string(i)), i);
  EXPECT_EQ(pool.find("node5000"), -1);
  EXPECT_EQ(pool.find("node"), -1);
}

TEST(NamePool, AnEmptyPoolFindsNothing) { EXPECT_EQ(NamePool().find("a"), -1); }

TEST(NamePool, ANameIsAddedOnce) {
  NamePool pool;
  pool.reserve(10);
  pool.add("leaf");
  EXPECT_THROW(pool.add("leaf"), InternalError);
}

}  // namespace
}  // namespace headway

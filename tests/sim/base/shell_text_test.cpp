#include "sim/base/shell_text.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

TEST(ShellQuoted, PlainWordsStayAsTheyAre) {
  EXPECT_EQ(shell_quoted("/a/b=1.5,x"), "/a/b=1.5,x");
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("$HOME"), "'$HOME'");
}

}  // namespace
}  // namespace headway

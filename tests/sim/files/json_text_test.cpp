#include "sim/files/json_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace headway {
namespace {

TEST(JsonText, ArraysOfScalarsStandOnOneLine) {
  const nlohmann::json document = {{"a", {1.5, "x", nullptr}},
                                   {"b", {{1, 2}, {3}}},
                                   {"c", nlohmann::json::object()},
                                   {"d", {{"e", true}}}};
  EXPECT_EQ(json_text(document), R"({
  "a": [1.5, "x", null],
  "b": [
    [1, 2],
    [3]
  ],
  "c": {},
  "d": {
    "e": true
  }
}
)");
  EXPECT_EQ(nlohmann::json::parse(json_text(document)), document);
}

TEST(JsonText, StrayBytesBecomeReplacementCharacters) {
  EXPECT_EQ(json_text("a\xFF\"b"), "\"a\uFFFD\\\"b\"\n");
}

}  // namespace
}  // namespace headway

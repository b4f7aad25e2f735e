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

TEST(JsonText, CompactIsOneLineAndOrderedKeepsItsOrder) {
  EXPECT_EQ(compact_json(nlohmann::json{{"b", {1, 2.5}}, {"a", "x\xFF"}}),
            "{\"a\":\"x\uFFFD\",\"b\":[1,2.5]}");
  EXPECT_EQ(compact_json(parsed_ordered_json(R"({"b": 1, "a": null})")), R"({"b":1,"a":null})");
}

TEST(JsonText, TextsGoWithoutQuotes) {
  EXPECT_EQ(unquoted_json(nlohmann::json("a b")), "a b");
  EXPECT_EQ(unquoted_json(nlohmann::json(1.5)), "1.5");
  EXPECT_EQ(unquoted_json(nlohmann::ordered_json({"a", 1})), R"(["a",1])");
}

TEST(JsonText, ReadsItsOwnTextsBack) {
  const nlohmann::json value = {{"a", {1, "b", true}}};
  EXPECT_EQ(parsed_json(compact_json(value)), value);
  EXPECT_THROW((void)parsed_json("{"), nlohmann::json::parse_error);
  EXPECT_TRUE(is_json("1e3"));
  EXPECT_FALSE(is_json("one"));
}

}  // namespace
}  // namespace headway

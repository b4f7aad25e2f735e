#include "sim/files/json_value.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace headway {
namespace {

using nlohmann::json;

TEST(JsonValue, ItsTextIsThatOfWhatItHoldsNow) {
  JsonValue value(json{{"b", 1}, {"a", "x"}});
  EXPECT_EQ(value.text(), R"({"a":"x","b":1})");
  (*value)["b"] = 2;
  EXPECT_EQ(value.text(), R"({"a":"x","b":2})");
  value->erase("a");
  EXPECT_EQ(value.text(), R"({"b":2})");
  EXPECT_EQ(JsonValue().text(), "null");
}

TEST(JsonValue, ChangingACopyLeavesTheTextOfTheOther) {
  const JsonValue value(json{{"a", 1}});
  EXPECT_EQ(value.text(), R"({"a":1})");
  JsonValue copy = value;
  EXPECT_EQ(&copy.text(), &value.text());  // written once for both
  (*copy)["a"] = 2;
  EXPECT_EQ(value.text(), R"({"a":1})");
  EXPECT_EQ(copy.text(), R"({"a":2})");
}

TEST(JsonValue, WhatIsNoUtf8IsReplacedInItsText) {
  const JsonValue value(json("\xff"));
  EXPECT_EQ(value.text(), "\"\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace headway

#include "reports/document/csv_text.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace headway {
namespace {

using nlohmann::json;

TEST(CsvText, HasARowARecordWithTheColumnsAskedFor) {
  const json records = {{{"time_s", 0.1}, {"count", 3}, {"of", {{"name", "a"}}}},
                        {{"time_s", nullptr}, {"count", 12345678901}, {"of", {{"name", "b,c"}}}}};
  EXPECT_EQ(csv_of(records, {"of/name", "time_s", "n=count"}),
            "name,time_s,n\na,0.1,3\n\"b,c\",,12345678901\n");
}

TEST(CsvText, WhatARecordLacksIsEmptyAndListsAreOneCell) {
  const json records = json::parse(R"([{"ends": [1.5, 2], "is": true}, {}])");
  EXPECT_EQ(csv_of(records, {"low=ends/0", "ends", "is", "not"}),
            "low,ends,is,not\n1.5,1.5 2,true,\n,,,\n");
  EXPECT_EQ(csv_of(json::array(), {"a"}), "a\n");
}

TEST(CsvText, NumbersAreNoFormulasAndNamesAreNone) {
  EXPECT_EQ(csv_of(json::parse(R"([{"a": -1, "b": "-1", "c": "say \"x\""}])"), {"a", "b", "c"}),
            "a,b,c\n-1,'-1,\"say \"\"x\"\"\"\n");
}

}  // namespace
}  // namespace headway

#include "sim/sweep/stored_axes.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace headway {
namespace {

using nlohmann::json;

TEST(StoredAxes, NewValuesComeAfterThoseThatWereThere) {
  const json stored = json::parse(R"([{"name": "a", "values": [2, "x", {"b": 1}, 0.5]}])");
  const json asked =
      json::parse(R"([{"name": "a", "values": ["y", 2.0, {"b": 1}, "2", 0.5, "x"]}])");
  EXPECT_EQ(joined_axes(stored, asked).dump(),
            R"([{"name":"a","values":[2,"x",{"b":1},0.5,"y","2"]}])");
}

TEST(StoredAxes, PointsAreInTheOrderOfTheFirstAxisThenTheNext) {
  const json axes =
      json::parse(R"([{"name": "a", "values": [10, 2]}, {"name": "b", "values": ["z", "y"]}])");
  std::vector<SweepPoint> points;
  for (const auto& [a, b] : {std::pair{2, "y"}, {10, "y"}, {2, "z"}, {10, "z"}}) {
    points.push_back({.key = {}, .axes = nlohmann::ordered_json({{"a", a}, {"b", b}})});
  }
  put_in_order(points, axes);
  std::string order;
  for (const SweepPoint& point : points) order += point.axes->dump();
  EXPECT_EQ(order, R"({"a":10,"b":"z"}{"a":10,"b":"y"}{"a":2,"b":"z"}{"a":2,"b":"y"})");
}

TEST(StoredAxes, APointWithoutAnAxisIsDamage) {
  std::vector<SweepPoint> points{{.key = {}, .axes = nlohmann::ordered_json::object()}};
  EXPECT_THROW(put_in_order(points, json::parse(R"([{"name": "a", "values": [1]}])")),
               json::exception);
}

}  // namespace
}  // namespace headway

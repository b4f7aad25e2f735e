#include "sim/sweep/stored_axes.h"

#include <gtest/gtest.h>

#include <map>
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
  const PointOrder order(axes);
  std::map<std::string, std::string> points;
  for (const auto& [a, b] : {std::pair{2, "y"}, {10, "y"}, {2, "z"}, {10, "z"}}) {
    const nlohmann::ordered_json point{{"a", a}, {"b", b}};
    points.emplace(order.place_of(point), point.dump());
  }
  std::string text;
  for (const auto& [unused, point] : points) text += point;
  EXPECT_EQ(text, R"({"a":10,"b":"z"}{"a":10,"b":"y"}{"a":2,"b":"z"}{"a":2,"b":"y"})");
}

TEST(StoredAxes, AValueThatIsNoneOfAnAxisComesLast) {
  const json axes = json::parse(R"([{"name": "a", "values": [300, "x", 1, 300.0, 1.0, 2]}])");
  const ValuePlaces places(axes[0]["values"]);
  EXPECT_EQ(places.of(300), 0u);
  EXPECT_EQ(places.of(300.0), 0u);
  EXPECT_EQ(places.of("x"), 1u);
  EXPECT_EQ(places.of(1.0), 2u);
  EXPECT_EQ(places.of(2), 5u);
  EXPECT_EQ(places.of("300"), 6u);
}

TEST(StoredAxes, APointWithoutAnAxisIsDamage) {
  const json axes = json::parse(R"([{"name": "a", "values": [1]}])");
  EXPECT_THROW(static_cast<void>(PointOrder(axes).place_of(nlohmann::ordered_json::object())),
               json::exception);
}

}  // namespace
}  // namespace headway

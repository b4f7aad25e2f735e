#include "sim/sweep/stored_axes.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/files/json_text.h"

namespace headway {
namespace {

using nlohmann::json;

/// The same for equal values, 1 and 1.0 among them.
std::string value_key(const json& value) {
  constexpr double kWhole = 9e15;  // up to here a double tells whole numbers apart
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (number == std::floor(number) && std::abs(number) < kWhole) {
      return std::to_string(static_cast<std::int64_t>(number));
    }
  }
  return compact_json(value);
}

/// Place by value of an axis.
using Places = std::map<std::string, std::size_t>;

Places places_of(const json& values) {
  Places places;
  for (const json& value : values) places.try_emplace(value_key(value), places.size());
  return places;
}

}  // namespace

bool are_axes(const json& axes) {
  return axes.is_array() && std::ranges::all_of(axes, [](const json& axis) {
           return axis.is_object() && axis.contains("name") && axis["name"].is_string() &&
                  axis.contains("values") && axis["values"].is_array();
         });
}

std::vector<std::string> axis_names(const json& axes) {
  std::vector<std::string> names;
  for (const json& axis : axes) names.push_back(axis.at("name").get<std::string>());
  return names;
}

json joined_axes(const json& stored, const json& asked) {
  json joined = stored;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    json& values = joined[i]["values"];
    Places known = places_of(values);
    for (const json& value : asked[i]["values"]) {
      if (known.try_emplace(value_key(value), known.size()).second) values.push_back(value);
    }
  }
  return joined;
}

void put_in_order(std::vector<SweepPoint>& points, const json& axes) {
  std::vector<std::pair<std::string, Places>> places;
  for (const json& axis : axes) {
    places.emplace_back(axis.at("name").get<std::string>(), places_of(axis.at("values")));
  }
  std::vector<std::pair<std::vector<std::size_t>, std::size_t>> order;
  for (const SweepPoint& point : points) {
    auto& [of_point, index] = order.emplace_back();
    index = order.size() - 1;
    for (const auto& [name, known] : places) {
      const auto place = known.find(value_key(point.axes->at(name)));
      of_point.push_back(place == known.end() ? known.size() : place->second);
    }
  }
  std::ranges::sort(order);
  std::vector<SweepPoint> sorted;
  sorted.reserve(points.size());
  for (const auto& [unused, index] : order) sorted.push_back(std::move(points[index]));
  points = std::move(sorted);
}

}  // namespace headway

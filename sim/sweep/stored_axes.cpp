#include "sim/sweep/stored_axes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>
#include <set>

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
    const json& known = stored[i]["values"];
    const ValuePlaces places(known);
    std::set<std::string> added;
    for (const json& value : asked[i]["values"]) {
      if (places.of(value) < known.size() || !added.insert(value_key(value)).second) continue;
      joined[i]["values"].push_back(value);
    }
  }
  return joined;
}

ValuePlaces::ValuePlaces(const json& values)
    : values_(values), slots_(std::bit_ceil(2 * values.size() + 1), kFree) {
  for (std::size_t place = 0; place < values.size(); ++place) {
    std::uint32_t& slot = slots_[slot_of(value_key(values[place]))];
    if (slot == kFree) slot = static_cast<std::uint32_t>(place);
  }
}

std::size_t ValuePlaces::of(const json& value) const {
  const std::uint32_t place = slots_[slot_of(value_key(value))];
  return place == kFree ? values_.size() : place;
}

std::size_t ValuePlaces::slot_of(const std::string& key) const {
  std::size_t slot = std::hash<std::string>()(key) & (slots_.size() - 1);
  while (slots_[slot] != kFree && value_key(values_[slots_[slot]]) != key) {
    slot = (slot + 1) & (slots_.size() - 1);
  }
  return slot;
}

PointOrder::PointOrder(const json& axes) {
  for (const json& axis : axes) {
    axes_.emplace_back(axis.at("name").get<std::string>(), ValuePlaces(axis.at("values")));
  }
}

std::string PointOrder::place_of(const nlohmann::ordered_json& axes) const {
  std::string place;
  for (const auto& [name, places] : axes_) {
    const std::size_t of_axis = places.of(axes.at(name));
    for (int bit = 24; bit >= 0; bit -= 8) place += static_cast<char>(of_axis >> bit & 0xff);
  }
  return place;
}

}  // namespace headway

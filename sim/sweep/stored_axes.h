#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <utility>
#include <vector>

namespace headway {

/// Whether it is [{"name", "values"}], as a store has its axes. The others require that.
[[nodiscard]] bool are_axes(const nlohmann::json& axes);

[[nodiscard]] std::vector<std::string> axis_names(const nlohmann::json& axes);

/// Values of the same axes added up over the runs that filled a store, in the order of their
/// naming.
[[nodiscard]] nlohmann::json joined_axes(const nlohmann::json& stored, const nlohmann::json& asked);

/// Places of an axis's values, the first of equal ones: 1 and 1.0 are. Of a million it takes eight
/// megabytes.
class ValuePlaces {
 public:
  /// The values outlive this.
  explicit ValuePlaces(const nlohmann::json& values);
  /// As many as there are values for what is none of them.
  [[nodiscard]] std::size_t of(const nlohmann::json& value) const;

 private:
  static constexpr auto kFree = std::numeric_limits<std::uint32_t>::max();

  /// Where the value with that key is, or would be.
  [[nodiscard]] std::size_t slot_of(const std::string& key) const;

  const nlohmann::json& values_;
  std::vector<std::uint32_t> slots_;  ///< places, by hash; at most half are taken
};

/// The order of points: by the place of their value in the first axis, then in the next.
class PointOrder {
 public:
  /// The axes outlive this.
  explicit PointOrder(const nlohmann::json& axes);
  /// Bytes by which a point stands before or behind others. Throws nlohmann::json::exception where
  /// it lacks an axis.
  [[nodiscard]] std::string place_of(const nlohmann::ordered_json& axes) const;

 private:
  std::vector<std::pair<std::string, ValuePlaces>> axes_;  ///< by name
};

}  // namespace headway

#include "sim/result/power.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace headway {
namespace {

using Unit = std::pair<std::string_view, double>;
constexpr std::array<Unit, 3> kPowers = {{{"W", 1.0}, {"kW", 1e3}, {"MW", 1e6}}};
constexpr std::array<Unit, 6> kEnergies = {
    {{"TWh", 3.6e15}, {"GWh", 3.6e12}, {"MWh", 3.6e9}, {"kWh", 3.6e6}, {"Wh", 3.6e3}, {"J", 1.0}}};

}  // namespace

std::optional<Watts> parse_power(std::string_view text) {
  double number = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number)) return std::nullopt;
  std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (unit.starts_with(' ')) unit.remove_prefix(1);
  for (const auto& [symbol, watts] : kPowers) {
    if (unit == symbol) return Watts(number * watts);
  }
  return std::nullopt;
}

std::string exact_text(Watts power) { return fmt::format("{} W", power.count()); }

std::string short_text(Watts power) {
  for (auto unit = kPowers.rbegin(); unit != kPowers.rend(); ++unit) {
    if (power.count() < unit->second && unit + 1 != kPowers.rend()) continue;
    return fmt::format("{:.3g} {}", power.count() / unit->second, unit->first);
  }
  return "0 W";
}

std::string short_text(Joules energy) {
  for (const auto& [symbol, joules] : kEnergies) {
    if (energy.count() >= joules || joules == 1.0) {
      return fmt::format("{:.3g} {}", energy.count() / joules, symbol);
    }
  }
  return "0 J";
}

}  // namespace headway

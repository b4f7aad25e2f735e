#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/base/units.h"

namespace headway {

using Watts = Quantity<struct WattsTag>;
using Joules = Quantity<struct JoulesTag>;

constexpr Joules operator*(Watts power, Seconds time) {
  return Joules(power.count() * time.count());
}

/// Reads "700 W", "2.5 kW" or "1.2 MW"; nothing if the text is no power of that form. Space between
/// number and unit is optional.
[[nodiscard]] std::optional<Watts> parse_power(std::string_view text);

/// "1433.25 W": reads back as the same power.
[[nodiscard]] std::string exact_text(Watts power);

/// "1.43 MW", "351 W": three digits and a fitting unit, for people.
[[nodiscard]] std::string short_text(Watts power);

/// "4.2 MWh", "351 J": three digits and a fitting unit, for people; as a meter has it from a
/// watt-hour on.
[[nodiscard]] std::string short_text(Joules energy);

}  // namespace headway

#include "sim/network/fabrics/clos_widths.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace headway {

namespace {

constexpr int kMostUplinks = 1 << 16;
constexpr int kUnknown = 0;

/// The nearest whole number, if `value` is one up to rounding; else kUnknown.
int whole(double value) {
  const double nearest = std::round(value);
  const bool is_whole = std::abs(value - nearest) <= 1e-9 * nearest;
  return is_whole && nearest >= 1 && nearest <= kMostUplinks ? static_cast<int>(nearest) : kUnknown;
}

/// "write \"uplinks\": 10 (3.2:1) or 11 (2.909:1)".
std::string uplinks_help(double exact, double bandwidth_ratio) {
  const auto offer = [&](double uplinks) {
    return fmt::format("{:.0f} ({:.4g}:1)", uplinks, bandwidth_ratio / uplinks);
  };
  const double less = std::floor(exact);
  const std::string more = offer(less + 1);
  return "write \"uplinks\": " + (less >= 1 ? offer(less) + " or " + more : more);
}

int uplinks_from_oversubscription(ObjectReader& tier, const DownwardPorts& down) {
  const double oversubscription = tier.number("oversubscription", positive(), 1.0);
  if (down.ports == kUnknown) return kUnknown;
  const double bandwidth_ratio = down.ports * (down.below / down.above);
  const double exact = bandwidth_ratio / oversubscription;
  const int uplinks = whole(exact);
  if (uplinks == kUnknown) {
    tier.report("oversubscription",
                exact > kMostUplinks ? "too many uplinks"
                                     : "the oversubscription leaves a fraction of an uplink",
                fmt::format("{} ports down at {}:1 need {:.4g} uplinks", down.ports,
                            oversubscription, exact),
                uplinks_help(exact, bandwidth_ratio));
  }
  return uplinks;
}

}  // namespace

int largest_divisor(int number, int most) {
  int divisor = std::min(number, most);
  while (number % divisor != 0) --divisor;
  return divisor;
}

int read_uplinks(ObjectReader& tier, const DownwardPorts& down) {
  if (!tier.has("uplinks")) {
    const int uplinks = uplinks_from_oversubscription(tier, down);
    static_cast<void>(tier.part("uplinks"));
    tier.resolve("uplinks", uplinks);
    return uplinks;
  }
  const int uplinks = static_cast<int>(tier.integer("uplinks", between(1, kMostUplinks)));
  if (!tier.has("oversubscription")) {
    static_cast<void>(tier.part("oversubscription"));
    return uplinks;
  }
  const double given = tier.number("oversubscription", positive());
  const double is = down.ports * (down.below / down.above) / uplinks;
  if (down.ports != kUnknown && std::abs(given - is) > 1e-9 * is) {
    tier.report("oversubscription", "the oversubscription is not what the uplinks make",
                fmt::format("{} ports down and {} uplinks make {:.4g}:1", down.ports, uplinks, is),
                "leave one of the two out");
  }
  return uplinks;
}

int read_cables_per_pair(ObjectReader& tier, int uplinks, std::string_view below) {
  const Range range = between(1, kMostUplinks);
  const auto divides = [&](std::string_view key, int divisor) {
    if (uplinks % divisor == 0) return true;
    tier.report(
        key, fmt::format("the uplinks of a {} do not divide evenly", below),
        fmt::format("{} does not divide {}", divisor, uplinks),
        fmt::format("use {}, or another number of uplinks", largest_divisor(uplinks, divisor)));
    return false;
  };
  if (!tier.has("cables_per_pair") && tier.has("switches")) {
    const int switches = static_cast<int>(tier.integer("switches", range));
    const int cables = divides("switches", switches) ? std::max(uplinks / switches, 1) : 1;
    static_cast<void>(tier.part("cables_per_pair"));
    tier.resolve("cables_per_pair", cables);
    return cables;
  }
  const int cables = static_cast<int>(tier.integer("cables_per_pair", range, 1));
  if (!divides("cables_per_pair", cables)) return 1;
  const int switches = uplinks / cables;
  const auto given = tier.integer("switches", range, std::max(switches, 1));
  if (uplinks != kUnknown && given != switches) {
    tier.report("switches", "the number of switches is not what the cables make",
                fmt::format("{} uplinks, {} to a switch, lead to {}", uplinks, cables, switches),
                "leave \"switches\" or \"cables_per_pair\" out");
  }
  return cables;
}

bool read_planes(ObjectReader& core, int spine_uplinks, ClosShape& shape) {
  const int cables = static_cast<int>(core.integer("cables_per_pair", between(1, kMostUplinks), 1));
  if (spine_uplinks % cables != 0) {
    core.report("cables_per_pair", "the uplinks of a spine do not divide evenly",
                fmt::format("{} does not divide {}", cables, spine_uplinks),
                fmt::format("use {}, or another number of uplinks",
                            largest_divisor(spine_uplinks, cables)));
    static_cast<void>(core.part("switches"));
    return false;
  }
  shape.core_cables = cables;
  shape.cores = spine_uplinks / cables;
  const std::int64_t every = static_cast<std::int64_t>(shape.cores) * shape.spines;
  const std::int64_t switches =
      core.integer("switches", at_least(1), std::max<std::int64_t>(every, 1));
  if (every == kUnknown) return false;
  const std::int64_t planes = switches / shape.cores;
  if (planes * shape.cores != switches || planes == 0 || shape.spines % planes != 0) {
    core.report("switches", "the core switches do not make planes",
                fmt::format("not {} (cores that a spine leads to) times a divisor of {} (spines)",
                            shape.cores, shape.spines));
    return false;
  }
  shape.planes = static_cast<int>(planes);
  return true;
}

}  // namespace headway

#include "sim/network/fabrics/clos_widths.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

namespace headway {

namespace {

constexpr int kMostUplinks = 1 << 16;
constexpr int kMostTierPorts = 1 << 20;
constexpr Word<bool> kGroupWords[] = {{"rail", true}, {"pod", false}};
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

int uplinks_from_oversubscription(ObjectReader& tier, double oversubscription,
                                  const DownwardPorts& down) {
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

using TierFields = ClosTierFields;
using TierRows = std::vector<Field<TierFields>>;

ClosTier defaults_of(ClosLevel level) {
  return level == ClosLevel::leaf ? ClosTier{} : level == ClosLevel::spine ? kSpineTier : kCoreTier;
}

TierRows tier_cable_rows() {
  return {{"bandwidth", within(&TierFields::tier, quantity(&ClosTier::bandwidth, positive())),
           R"(Of a cable to what is below, each way.
default: that of the tier below, the NIC's of a leaf)"},
          {"cable_latency",
           within(&TierFields::tier, quantity(&ClosTier::cable_latency, at_least(0.0))),
           kFabricCableLatencyNotes},
          {"switch_latency",
           within(&TierFields::tier, quantity(&ClosTier::switch_latency, at_least(0.0))),
           kFabricSwitchLatencyNotes}};
}

TierRows uplink_rows() {
  return {
      {"uplinks", whole(&TierFields::uplinks, between(1, kMostUplinks)),
       R"(Cables of a switch to the next tier, all together. Of a spine with a core only.
default: by oversubscription)"},
      {"oversubscription",
       number(&TierFields::oversubscription, positive()).where([](const TierFields& tier) {
         return !tier.uplinks;
       }),
       R"(Bandwidth below a switch over bandwidth above it. 1 is non-blocking; another way to say
uplinks.
limits: leaves whole uplinks)"}};
}

TierRows spine_rows() {
  return {{"group", word(&TierFields::spines_by_rail, kGroupWords),
           R"(Which leaves share spines: all of a pod, or those of one rail of a pod.
limits: rail needs rail attachment; without a core the rails are apart)"},
          {"switches", whole(&TierFields::switches, between(1, kMostUplinks)),
           R"(Spines of a group.
limits: divides the uplinks of a leaf
default: uplinks / cables_per_pair)"},
          {"cables_per_pair",
           whole(&TierFields::cables_per_pair, between(1, kMostUplinks))
               .where([](const TierFields& tier) { return !tier.switches; }),
           R"(Cables between a leaf and each spine.
limits: divides the uplinks of a leaf)"}};
}

TierRows core_rows() {
  return {{"cables_per_pair", whole(&TierFields::cables_per_pair, between(1, kMostUplinks)),
           R"(Cables between a spine and each core of its plane.
limits: divides the uplinks of a spine)"},
          {"switches", whole(&TierFields::switches, between(1, 1 << 30)),
           R"(Cores of all planes together. Spines with the same number share a plane of cores.
limits: whole planes: the cores a spine leads to, times a divisor of the spines
default: one plane for each spine)"}};
}

FieldTable<TierFields> made_table(ClosLevel level) {
  TierRows rows = tier_cable_rows();
  const auto add = [&](TierRows more) { std::ranges::move(more, std::back_inserter(rows)); };
  if (level == ClosLevel::spine) add(spine_rows());
  add(level == ClosLevel::core ? core_rows() : uplink_rows());
  add({{"ports", whole(&TierFields::ports, between(1, kMostTierPorts)),
        R"(Of a switch: a guard against slips.
limits: enough for all cables of the full design)"}});
  return FieldTable<TierFields>(std::move(rows));
}

}  // namespace

const FieldTable<ClosTierFields>& clos_tier_fields(ClosLevel level) {
  static const FieldTable<TierFields> kTables[] = {
      made_table(ClosLevel::leaf), made_table(ClosLevel::spine), made_table(ClosLevel::core)};
  return kTables[static_cast<std::size_t>(level)];
}

std::vector<FieldDescription> clos_tier_descriptions(ClosLevel level) {
  return clos_tier_fields(level).described({.tier = defaults_of(level)});
}

int largest_divisor(int number, int most) {
  int divisor = std::min(number, most);
  while (number % divisor != 0) --divisor;
  return divisor;
}

int settled_uplinks(ObjectReader& tier, const ClosTierFields& given, const DownwardPorts& down) {
  if (!given.uplinks) {
    const int uplinks = uplinks_from_oversubscription(tier, given.oversubscription, down);
    tier.resolve("uplinks", uplinks);
    return uplinks;
  }
  const int uplinks = *given.uplinks;
  const double is = down.ports * (down.below / down.above) / uplinks;
  const bool agree = std::abs(given.oversubscription - is) <= 1e-9 * is;
  if (tier.has("oversubscription") && down.ports != kUnknown && !agree) {
    tier.report("oversubscription", "the oversubscription is not what the uplinks make",
                fmt::format("{} ports down and {} uplinks make {:.4g}:1", down.ports, uplinks, is),
                "leave one of the two out");
  }
  return uplinks;
}

int settled_cables_per_pair(ObjectReader& spine, const ClosTierFields& given, int uplinks) {
  const auto divides = [&](std::string_view key, int divisor) {
    if (uplinks % divisor == 0) return true;
    spine.report(
        key, "the uplinks of a leaf do not divide evenly",
        fmt::format("{} does not divide {}", divisor, uplinks),
        fmt::format("use {}, or another number of uplinks", largest_divisor(uplinks, divisor)));
    return false;
  };
  if (given.switches && !spine.has("cables_per_pair")) {
    const int cables =
        divides("switches", *given.switches) ? std::max(uplinks / *given.switches, 1) : 1;
    spine.resolve("cables_per_pair", cables);
    return cables;
  }
  const int cables = given.cables_per_pair;
  if (!divides("cables_per_pair", cables)) return 1;
  const int switches = uplinks / cables;
  if (!given.switches) {
    spine.resolve("switches", std::max(switches, 1));
  } else if (uplinks != kUnknown && *given.switches != switches) {
    spine.report("switches", "the number of switches is not what the cables make",
                 fmt::format("{} uplinks, {} to a switch, lead to {}", uplinks, cables, switches),
                 "leave \"switches\" or \"cables_per_pair\" out");
  }
  return cables;
}

bool settle_planes(ObjectReader& core, const ClosTierFields& given, int spine_uplinks,
                   ClosShape& shape) {
  const int cables = given.cables_per_pair;
  if (spine_uplinks % cables != 0) {
    core.report("cables_per_pair", "the uplinks of a spine do not divide evenly",
                fmt::format("{} does not divide {}", cables, spine_uplinks),
                fmt::format("use {}, or another number of uplinks",
                            largest_divisor(spine_uplinks, cables)));
    return false;
  }
  shape.core_cables = cables;
  shape.cores = spine_uplinks / cables;
  const std::int64_t every = static_cast<std::int64_t>(shape.cores) * shape.spines;
  const std::int64_t switches = given.switches ? *given.switches : std::max<std::int64_t>(every, 1);
  core.resolve("switches", switches);
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

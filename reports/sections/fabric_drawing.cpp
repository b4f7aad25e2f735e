#include "reports/sections/fabric_drawing.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "reports/document/html_page.h"
#include "sim/base/quantity_text.h"
#include "sim/result/number_text.h"

namespace headway {
namespace {

struct Direction {
  std::string_view name;
  std::string_view arrow;
  FabricUse::Load FabricUse::Cables::*load;
};
constexpr Direction kUp{"up", "\u2191", &FabricUse::Cables::up};
constexpr Direction kDown{"down", "\u2193", &FabricUse::Cables::down};

bool is_inside_tier(const FabricUse::Cables& cables) { return cables.lower == cables.upper; }

std::string tier_html(const FabricUse::Tier& tier) {
  return fmt::format("<div class=\"fabric-tier\">{} {}</div>\n", whole_number(tier.count),
                     escaped_html(tier.name));
}

/// A bar for the mean and a mark where the fullest cable is, of a track that is the capacity.
std::string load_html(std::string_view arrow, const FabricUse::Load& load) {
  const double mean = std::min(100.0, 100.0 * load.utilisation);
  const double highest = std::min(100.0, 100.0 * load.highest);
  return fmt::format(
      "<div class=\"fabric-load\"><span>{0} {1} %</span><svg viewBox=\"0 0 100 10\" "
      "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"{1} % used, {2} % of the fullest\">"
      "<rect class=\"band\" width=\"100\" height=\"10\"/><rect class=\"series-7\" "
      "width=\"{3:.2f}\" "
      "height=\"10\"/><rect class=\"critical\" x=\"{4:.2f}\" width=\"0.6\" height=\"10\"/></svg>"
      "<span>fullest {2} %</span></div>\n",
      arrow, percent(load.utilisation), percent(load.highest), mean, std::min(highest, 99.4));
}

std::string cables_html(const FabricUse::Cables& cables) {
  std::string text = "<div class=\"fabric-cables\">";
  if (is_inside_tier(cables)) {
    text += load_html("\u2194", cables.up);
  } else {
    text += load_html(kUp.arrow, cables.up) + load_html(kDown.arrow, cables.down);
  }
  return text + fmt::format("<small>{} cables{}</small></div>\n", whole_number(cables.cables),
                            is_inside_tier(cables) ? " among them" : "");
}

std::string drawing(const FabricUse& use) {
  std::string text = "<div class=\"fabric\">\n";
  for (std::size_t i = use.tiers.size(); i-- > 0;) {
    if (use.tiers[i].count == 0) continue;
    text += tier_html(use.tiers[i]);
    // Below a tier stand the cables to the next lower ones, after those of the tier itself.
    for (auto cables = use.cables.rbegin(); cables != use.cables.rend(); ++cables) {
      if (cables->upper == static_cast<int>(i) && is_inside_tier(*cables)) {
        text += cables_html(*cables);
      }
    }
    for (auto cables = use.cables.rbegin(); cables != use.cables.rend(); ++cables) {
      if (cables->upper == static_cast<int>(i) && !is_inside_tier(*cables)) {
        text += cables_html(*cables);
      }
    }
  }
  return text + "</div>\n";
}

TextTable table_of(const FabricUse& use) {
  TextTable table({{"from"},
                   {"to"},
                   {"cables", kRight},
                   {"capacity", kRight},
                   {"carried", kRight},
                   {"% used", kRight},
                   {"% of the fullest", kRight}});
  for (const FabricUse::Cables& cables : use.cables) {
    const std::string& lower = use.tiers[static_cast<std::size_t>(cables.lower)].name;
    const std::string& upper = use.tiers[static_cast<std::size_t>(cables.upper)].name;
    for (const Direction& direction : {kUp, kDown}) {
      if (is_inside_tier(cables) && direction.name == kDown.name) continue;
      const FabricUse::Load& load = cables.*direction.load;
      const bool is_up = direction.name == kUp.name;
      table.add_row({is_up ? lower : upper, is_up ? upper : lower, whole_number(cables.cables),
                     short_text(load.capacity), short_text(load.carried), percent(load.utilisation),
                     percent(load.highest)});
    }
  }
  return table;
}

}  // namespace

Figure fabric_figure(const FabricUse& use) {
  return {.title = "The fabric by tiers",
          .caption =
              "Bars: what was used of the cables' capacity over the iteration, up and down. "
              "The line marks the fullest cable.",
          .picture = Drawing{drawing(use)},
          .table = table_of(use)};
}

}  // namespace headway

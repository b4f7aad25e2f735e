#include "sim/network/link_rate.h"

#include <fmt/format.h>

#include <algorithm>

namespace headway {
namespace {

struct Speed {
  std::string_view name;
  double gigabits;  ///< of data a lane, one way
};

/// The signalling rate less its line code: 8b/10b to QDR, 64b/66b above; from HDR on the names say
/// the data rate itself.
constexpr Speed kSpeeds[] = {{"SDR", 2.0},    {"DDR", 4.0},     {"QDR", 8.0},
                             {"FDR10", 10.0}, {"FDR", 13.6364}, {"EDR", 25.0},
                             {"HDR", 50.0},   {"NDR", 100.0},   {"XDR", 200.0}};
constexpr int kWidths[] = {1, 2, 4, 8, 12};

}  // namespace

BytesPerSecond LinkRate::bandwidth() const {
  const auto* found = std::ranges::find(kSpeeds, speed, &Speed::name);
  return BytesPerSecond(width * found->gigabits * 1e9 / 8.0);
}

std::string LinkRate::text() const { return fmt::format("{}x{}", width, speed); }

std::optional<LinkRate> parse_link_rate(std::string_view text) {
  const std::size_t cross = text.find('x');
  if (cross == std::string_view::npos) return std::nullopt;
  const std::string_view lanes = text.substr(0, cross);
  std::string_view name = text.substr(cross + 1);
  while (name.starts_with(' ')) name.remove_prefix(1);
  for (const int width : kWidths) {
    if (lanes != std::to_string(width)) continue;
    const auto* speed = std::ranges::find(kSpeeds, name, &Speed::name);
    if (speed != std::end(kSpeeds)) return LinkRate{.width = width, .speed = speed->name};
  }
  return std::nullopt;
}

}  // namespace headway

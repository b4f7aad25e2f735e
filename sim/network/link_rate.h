#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "sim/base/units.h"

namespace headway {

/// What an InfiniBand link is set to: how many lanes at which speed.
struct LinkRate {
  int width = 0;           ///< lanes
  std::string_view speed;  ///< "HDR"; of a table that lives as long as the program

  /// What the lanes carry of data, one way.
  [[nodiscard]] BytesPerSecond bandwidth() const;
  [[nodiscard]] std::string text() const;  ///< "4xHDR"
  friend bool operator==(const LinkRate&, const LinkRate&) = default;
};

/// Reads "4xHDR" or "4x HDR"; nothing for a width or a speed that does not exist ("4x???").
[[nodiscard]] std::optional<LinkRate> parse_link_rate(std::string_view text);

}  // namespace headway

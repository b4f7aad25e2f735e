#pragma once

#include <cstddef>

namespace headway {

/// What a transformer block works on.
struct BlockShape {
  int sequences = 1;
  int sequence = 1024;  ///< positions
  int hidden = 1024;
  int heads = 16;  ///< divides `hidden`

  [[nodiscard]] std::size_t tokens() const {
    return static_cast<std::size_t>(sequences) * static_cast<std::size_t>(sequence);
  }
};

}  // namespace headway

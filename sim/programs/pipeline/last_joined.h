#pragma once

#include <array>
#include <cstdint>

namespace headway {

/// The last collectives about gradients that were joined, to be waited for.
struct LastJoined {
  std::array<std::int32_t, 2> reduces{-1, -1};  ///< of the first chunk's copy, of the other
  std::int32_t compressed_gather = -1;
  std::array<std::int32_t, 2> expert_reduces{-1, -1};

  void update(const LastJoined& later) {
    const auto take = [](std::int32_t& slot, std::int32_t joined) {
      if (joined >= 0) slot = joined;
    };
    take(reduces[0], later.reduces[0]);
    take(reduces[1], later.reduces[1]);
    take(compressed_gather, later.compressed_gather);
    take(expert_reduces[0], later.expert_reduces[0]);
    take(expert_reduces[1], later.expert_reduces[1]);
  }
};

}  // namespace headway

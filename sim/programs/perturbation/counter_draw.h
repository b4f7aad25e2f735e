#pragma once

#include <cstdint>

namespace headway {

/// A number in (0, 1) that depends on the seed and two counters only, never on the order of draws.
[[nodiscard]] double counter_draw(std::uint64_t seed, std::uint64_t a, std::uint64_t b);

/// What all draws of a seed and a first counter have in common, for those that draw often.
[[nodiscard]] std::uint64_t counter_stream(std::uint64_t seed, std::uint64_t a);
/// counter_draw(seed, a, b) of their stream.
[[nodiscard]] double counter_draw(std::uint64_t stream, std::uint64_t b);

}  // namespace headway

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace headway {

/// The numbers below `count` in an order that depends on nothing but its arguments, the same on
/// every rank and platform. Measuring in random order keeps a slow drift of the machine from
/// looking like an effect of size.
[[nodiscard]] std::vector<std::size_t> shuffled_order(std::size_t count, std::uint64_t seed);

}  // namespace headway

#pragma once

#include <cstddef>
#include <cstdint>

namespace headway {

/// The subscript of an id, which is never negative.
constexpr std::size_t index(int id) { return static_cast<std::size_t>(id); }

/// The element of a vector or span at a signed index.
template <class Items>
decltype(auto) at(Items&& items, std::int64_t i) {
  return items[static_cast<std::size_t>(i)];
}

}  // namespace headway

#pragma once

#include <cstddef>
#include <cstdint>

namespace headway {

/// The element of a vector or span at a signed index.
template <class Items>
decltype(auto) at(Items&& items, std::int64_t i) {
  return items[static_cast<std::size_t>(i)];
}

}  // namespace headway

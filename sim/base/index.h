#pragma once

#include <cstddef>

namespace headway {

/// The subscript of an id, which is never negative.
constexpr std::size_t index(int id) { return static_cast<std::size_t>(id); }

}  // namespace headway

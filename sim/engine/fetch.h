#pragma once

#include <cstddef>

namespace headway {

/// Asks for the memory of `count` objects without waiting for it: a run over gigabytes that looks a
/// little ahead waits for many pieces of memory at once instead of one after the other. Inlined
/// always, as g++ takes a call that does nothing else for one without any effect.
template <class T>
[[gnu::always_inline]] inline void fetch(const T* objects, std::ptrdiff_t count = 1) {
  constexpr std::ptrdiff_t kLine = 64;
  const char* bytes = reinterpret_cast<const char*>(objects);
  const std::ptrdiff_t size = count * static_cast<std::ptrdiff_t>(sizeof(T));
  for (std::ptrdiff_t at = 0; at < size; at += kLine) __builtin_prefetch(bytes + at);
}

}  // namespace headway

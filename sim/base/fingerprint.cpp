#include "sim/base/fingerprint.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace headway {

std::uint64_t fingerprint(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  return hash;
}

std::string fingerprint_text(std::string_view text) {
  return fmt::format("{:016x}", fingerprint(text));
}

FingerprintSet::FingerprintSet(std::vector<std::uint64_t> of_texts)
    : ordered_(std::move(of_texts)) {
  std::ranges::sort(ordered_);
}

bool FingerprintSet::contains(std::string_view text) const {
  return std::ranges::binary_search(ordered_, fingerprint(text));
}

}  // namespace headway

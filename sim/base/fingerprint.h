#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headway {

/// 64-bit FNV-1a of a text: names a resolved scenario or a file's content in results. Not for
/// anything that must resist an adversary.
[[nodiscard]] std::uint64_t fingerprint(std::string_view text);
[[nodiscard]] std::string fingerprint_text(std::string_view text);  ///< 16 hexadecimal digits

/// Texts by their fingerprints: eight bytes each, however long they are.
class FingerprintSet {
 public:
  FingerprintSet() = default;
  explicit FingerprintSet(std::vector<std::uint64_t> of_texts);

  [[nodiscard]] bool contains(std::string_view text) const;
  [[nodiscard]] std::size_t size() const { return ordered_.size(); }

 private:
  std::vector<std::uint64_t> ordered_;
};

}  // namespace headway

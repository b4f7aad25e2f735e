#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace headway {

/// Numbers keys from 0 on in the order in which they are first asked for. For millions of keys in
/// loops that do little else: no memory is asked for after it was made.
class Numbering {
 public:
  /// Has room for `most` different keys.
  explicit Numbering(std::size_t most)
      : slots_(std::bit_ceil(2 * most + 1)), shift_(64 - std::countr_zero(slots_.size())) {}

  [[nodiscard]] std::size_t number_of(std::int32_t key) {
    // Keys in a row, or the same step apart, are spread evenly by the golden ratio (Knuth, volume
    // 3, section 6.4).
    constexpr std::uint64_t kGolden = 0x9e3779b97f4a7c15ULL;
    std::size_t at =
        (static_cast<std::uint64_t>(static_cast<std::uint32_t>(key)) * kGolden) >> shift_;
    while (slots_[at].number != kNone && slots_[at].key != key) at = (at + 1) % slots_.size();
    if (slots_[at].number == kNone) slots_[at] = {key, size_++};
    return slots_[at].number;
  }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  static constexpr std::uint32_t kNone = 0xffffffff;
  struct Slot {
    std::int32_t key = 0;
    std::uint32_t number = kNone;
  };
  std::vector<Slot> slots_;  ///< a power of two of them, half of them empty at least
  int shift_;
  std::uint32_t size_ = 0;
};

}  // namespace headway

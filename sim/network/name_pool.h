#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace headway {

/// Distinct names, numbered from 0 in the order they were added, and found again by name. All
/// stand in one text: a hundred thousand of them cost one growing buffer, not as many strings.
class NamePool {
 public:
  void reserve(int names);

  /// Requires that the name is not in the pool yet.
  int add(std::string_view name);

  [[nodiscard]] int size() const { return static_cast<int>(ends_.size()); }
  /// Valid until the next `add`.
  [[nodiscard]] std::string_view name(int index) const;
  [[nodiscard]] int find(std::string_view name) const;  ///< -1 if it is not in the pool

 private:
  /// Where `name` stands in `slots_`, or the empty slot where it would.
  [[nodiscard]] std::size_t slot_of(std::string_view name) const;
  void grow_slots(std::size_t slots);

  std::string text_;
  std::vector<std::uint32_t> ends_;  ///< of each name in `text_`
  std::vector<std::int32_t> slots_;  ///< a hash table with linear probing; -1 is empty
};

}  // namespace headway

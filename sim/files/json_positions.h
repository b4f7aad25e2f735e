#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace headway {

/// Where each value and key of a valid JSON text stands, by JSON pointer. Made only when a message
/// is to be written: reading a good file does not pay for it. Kept as a tree, because the pointers
/// of all values written out can be any number of times as long as the text.
class JsonPositions {
 public:
  /// Bytes [begin, end) of the text.
  struct Span {
    std::size_t begin = 0;
    std::size_t end = 0;
  };
  struct Entry {
    Span value;  ///< of an object or array: its opening bracket
    Span key;    ///< with its quotes; empty for the root and for array elements
  };
  struct Duplicate {
    std::uint32_t entry;  ///< for pointer_to, token_of
    Span first_key;
    Span second_key;
  };

  /// `text` must be valid JSON, nested as deep as the call stack bears.
  explicit JsonPositions(std::string_view text);

  [[nodiscard]] std::optional<Entry> find(const std::string& pointer) const;
  [[nodiscard]] const std::vector<Duplicate>& duplicates() const { return duplicates_; }
  [[nodiscard]] std::string pointer_to(std::uint32_t entry) const;
  /// The last token of its pointer. Requires that it is not the root.
  [[nodiscard]] const std::string& token_of(std::uint32_t entry) const {
    return steps_[entry - 1]->first.second;
  }

 private:
  using Step = std::pair<std::uint32_t, std::string>;  ///< a parent and the token of a child
  static constexpr std::uint32_t kRoot = 0;

  void scan_value(std::uint32_t parent, std::string token, Span key);
  void scan_object(std::uint32_t entry);
  void scan_array(std::uint32_t entry);
  Span scan_string();
  void skip_blanks();
  std::uint32_t added(std::uint32_t parent, std::string token, Span key);
  [[nodiscard]] char here() const;

  std::string_view text_;
  std::size_t position_ = 0;
  std::vector<Entry> entries_;
  std::vector<std::map<Step, std::uint32_t>::const_iterator> steps_;  ///< to each but the root
  std::map<Step, std::uint32_t> children_;
  std::vector<Duplicate> duplicates_;
};

}  // namespace headway

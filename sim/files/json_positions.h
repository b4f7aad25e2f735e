#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace headway {

/// Where each value and key of a valid JSON text stands, by JSON pointer. Made only when a message
/// is to be written: reading a good file does not pay for it.
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
    std::string pointer;
    Span first_key;
    Span second_key;
  };

  /// `text` must be valid JSON, nested as deep as the call stack bears.
  explicit JsonPositions(std::string_view text);

  [[nodiscard]] std::optional<Entry> find(const std::string& pointer) const;
  [[nodiscard]] const std::vector<Duplicate>& duplicates() const { return duplicates_; }

 private:
  void scan_value(Span key);
  void scan_object();
  void scan_array();
  Span scan_string();
  void skip_blanks();
  void record(Entry entry);
  [[nodiscard]] char here() const;

  std::string_view text_;
  std::size_t position_ = 0;
  std::string pointer_;  ///< of the value being scanned
  std::unordered_map<std::string, Entry> entries_;
  std::vector<Duplicate> duplicates_;
};

}  // namespace headway

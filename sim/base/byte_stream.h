#pragma once

#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "sim/base/diagnostic.h"

namespace headway {

// Values as bytes on their way to another process of this very program: numbers as they lie in
// memory, nothing said of what they are. What is read has to be what was written, in its order.

class ByteWriter {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void put(const T& value) { bytes_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void put(const std::string& text) {
    put(text.size());
    bytes_ += text;
  }

  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

class ByteReader {
 public:
  /// The bytes have to outlive this.
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  template <class T>
  requires std::is_trivially_copyable_v<T>
  void get(T& value) { next(sizeof value).copy(reinterpret_cast<char*>(&value), sizeof value); }
  void get(std::string& text) {
    std::size_t size = 0;
    get(size);
    text = next(size);
  }

 private:
  std::string_view next(std::size_t size) {
    HEADWAY_CHECK(size <= rest_.size(), "fewer bytes than were written");
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }

  std::string_view rest_;
};

}  // namespace headway

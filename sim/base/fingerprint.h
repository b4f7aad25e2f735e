#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace headway {

/// 64-bit FNV-1a of a text: names a resolved scenario or a file's content in results. Not for
/// anything that must resist an adversary.
[[nodiscard]] std::uint64_t fingerprint(std::string_view text);
[[nodiscard]] std::string fingerprint_text(std::string_view text);  ///< 16 hexadecimal digits

}  // namespace headway

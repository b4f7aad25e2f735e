#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace headway {

/// A text packed against another one that is like it, as documents of one sweep are: for each
/// 16 KiB of the text a zlib stream (RFC 1950) whose dictionary is the other one from 8 KiB before
/// the same place to 24 KiB after it. Equal texts take about a hundredth of what they hold.
[[nodiscard]] std::string packed(std::string_view text, std::string_view like);

/// The text again; nothing where the bytes are not those of `packed` with the same other text.
[[nodiscard]] std::optional<std::string> unpacked(std::string_view bytes, std::string_view like);

}  // namespace headway

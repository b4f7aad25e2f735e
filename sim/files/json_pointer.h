#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headway {

/// JSON pointers (RFC 6901): "/a/b~1c/0" is member "b/c" of member "a", element 0 of it.

[[nodiscard]] std::string escaped_token(std::string_view token);  ///< ~ is ~0, / is ~1
/// Appends "/" and the escaped token.
void append_token(std::string& pointer, std::string_view token);
/// The parts of a pointer, unescaped. "" has none.
[[nodiscard]] std::vector<std::string> pointer_tokens(std::string_view pointer);
/// The last part, unescaped; empty for "".
[[nodiscard]] std::string last_token(std::string_view pointer);
/// Whether `pointer` is `prefix` or leads below it.
[[nodiscard]] bool is_at_or_below(std::string_view pointer, std::string_view prefix);

}  // namespace headway

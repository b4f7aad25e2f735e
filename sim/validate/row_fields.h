#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace headway {

// Fields of a published row, which may be null or absent: then empty, false, or the fallback.

[[nodiscard]] std::string word(const nlohmann::json& object, const char* key);
[[nodiscard]] bool is_true(const nlohmann::json& object, const char* key);
[[nodiscard]] std::int64_t whole(const nlohmann::json& object, const char* key,
                                 std::int64_t fallback);
/// Neither absent nor null.
[[nodiscard]] bool is_given(const nlohmann::json& object, const char* key);

}  // namespace headway

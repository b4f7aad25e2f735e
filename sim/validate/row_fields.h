#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "sim/base/diagnostic.h"
#include "sim/files/json_document.h"

namespace headway {

/// The two parts of a row that say what ran.
struct RowParts {
  JsonCursor model;
  JsonCursor train;
};

// Fields of a published row, which may be null or absent: then empty, false, or the fallback.

[[nodiscard]] std::string word(const nlohmann::json& object, const char* key);
[[nodiscard]] bool is_true(const nlohmann::json& object, const char* key);
/// Requires that what is there has passed check_whole_numbers.
[[nodiscard]] std::int64_t whole(const nlohmann::json& object, const char* key,
                                 std::int64_t fallback);
/// Reports each of these members of a row's `model` and `train` that is a number and no whole one
/// that can be reckoned with: the degrees from 1 on, the rest from 0 on, up to 1e9, so that the
/// product of two still is one. `parts` are where they were written.
void check_whole_numbers(const nlohmann::json& model, const nlohmann::json& train,
                         const RowParts& parts, Diagnostics& diagnostics);

/// Neither absent nor null.
[[nodiscard]] bool is_given(const nlohmann::json& object, const char* key);

}  // namespace headway

#pragma once

#include <string>
#include <string_view>

namespace headway {

/// What a file of ours is by its schema, as messages say it: "a topology" of "headway/topology/1".
/// Empty for what is not of ours.
[[nodiscard]] std::string file_kind_words(std::string_view schema);

/// What a file of this schema is good for, where another kind is needed; may be empty.
[[nodiscard]] std::string_view file_kind_use(std::string_view schema);

/// Whether both are of one kind, be it in different versions.
[[nodiscard]] bool are_of_one_kind(std::string_view schema, std::string_view other);

}  // namespace headway

#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace headway {

/// More names than this are surely a slip.
inline constexpr std::size_t kMostListedHosts = 1 << 20;

/// The names that a Slurm host list stands for: "r[1-2]n[01-03],login" is r1n01, r1n02, ... Ranges
/// keep their leading zeros. Nothing if the text is none, or stands for more than
/// kMostListedHosts.
[[nodiscard]] std::optional<std::vector<std::string>> expanded_hostlist(std::string_view text);

}  // namespace headway

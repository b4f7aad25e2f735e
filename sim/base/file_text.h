#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostic.h"

namespace headway {

/// The content of a file ("-" is standard input). Missing, unreadable, a folder, over 1 GiB: a
/// diagnostic and nothing.
[[nodiscard]] std::optional<std::string> file_text(const std::string& path,
                                                   Diagnostics& diagnostics);

/// Names of the .json files in `folder` and the folders in it, relative to it, sorted; empty if
/// there is no such folder.
[[nodiscard]] std::vector<std::string> json_files_below(const std::filesystem::path& folder);

/// "did you mean ...", "there are ..." or nothing: help for a name that is none of `names`.
[[nodiscard]] std::string name_help(std::string_view name, const std::vector<std::string>& names);

}  // namespace headway

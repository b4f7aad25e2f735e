#pragma once

#include <string>
#include <string_view>

namespace headway {

/// Writes a file whole or not at all: into a temporary file beside it, to the disk, then renamed
/// over it. Throws EnvironmentError, leaving whatever stood there before, if any of it fails.
void write_atomically(const std::string& path, std::string_view text);

}  // namespace headway

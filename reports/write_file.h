#pragma once

#include <filesystem>
#include <functional>
#include <ostream>
#include <string>

namespace headway {

/// Writes a file whole or not at all: into a new file in the same folder, which then takes the
/// name. A reader sees the old content or the new one, also if this process is killed in between (a
/// loss of power is not guarded against). A symbolic link to a file stays one; what is no plain
/// file (a pipe, /dev/stdout) is written to directly. Throws EnvironmentError, saying what was
/// attempted, if the folder is missing, the target is a folder, or the system refuses.
void write_file(const std::filesystem::path& path, const std::string& content);

/// The same for content too large to hold: `write` is given a stream.
void write_file(const std::filesystem::path& path, const std::function<void(std::ostream&)>& write);

/// Whether both paths lead to one file, whether it exists or not. What is no plain file (/dev/null)
/// takes several outputs, and is not the same as itself.
[[nodiscard]] bool is_same_file(const std::string& a, const std::string& b);

}  // namespace headway

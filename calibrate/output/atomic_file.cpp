#include "calibrate/output/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include "sim/base/diagnostic.h"

namespace headway {
namespace {

bool write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(file, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

void write_atomically(const std::string& path, std::string_view text) {
  std::error_code ignored;
  if (std::filesystem::exists(path, ignored) && !std::filesystem::is_regular_file(path, ignored)) {
    throw EnvironmentError(fmt::format("cannot write {}: it is not a regular file", path));
  }
  const std::string temporary = fmt::format("{}.{}.part", path, getpid());
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (file < 0) {
    throw EnvironmentError(fmt::format("cannot write {}: {}", path, std::strerror(errno)));
  }
  int problem = write_all(file, text) && fsync(file) == 0 ? 0 : errno;
  if (close(file) != 0 && problem == 0) problem = errno;
  if (problem == 0 && std::rename(temporary.c_str(), path.c_str()) != 0) problem = errno;
  if (problem != 0) {
    unlink(temporary.c_str());
    throw EnvironmentError(fmt::format("cannot write {}: {}", path, std::strerror(problem)));
  }
}

}  // namespace headway

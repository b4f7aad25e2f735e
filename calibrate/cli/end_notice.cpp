#include "calibrate/cli/end_notice.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>

#include "sim/base/diagnostic.h"

namespace headway {

EndNotice::EndNotice() {
  std::string name = std::filesystem::temp_directory_path() / "headway-end-XXXXXX";
  const int file = mkstemp(name.data());
  if (file < 0) {
    throw EnvironmentError(fmt::format("cannot make {}: {}", name, std::strerror(errno)));
  }
  close(file);
  path_ = name;
  setenv(kVariable, path_.c_str(), 1);
}

EndNotice::~EndNotice() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
  unsetenv(kVariable);
}

std::optional<int> EndNotice::code() const {
  std::ifstream file(path_);
  int code = 0;
  return file >> code ? std::optional(code) : std::nullopt;
}

void EndNotice::give(int code) {
  const char* path = std::getenv(kVariable);
  if (path == nullptr) return;
  std::ofstream(path) << code << '\n';
}

}  // namespace headway

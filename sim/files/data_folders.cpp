#include <cstdlib>
#include <utility>

#include "sim/files/input_files.h"

namespace headway {

namespace fs = std::filesystem;

namespace {

fs::path& carried() {
  static fs::path folder;
  return folder;
}

}  // namespace

void carry_data(fs::path folder) { carried() = std::move(folder); }

std::vector<fs::path> data_folders() {
  std::vector<fs::path> candidates;
  if (const char* folder = std::getenv("HEADWAY_DATA_DIR"); folder != nullptr && *folder != '\0') {
    candidates.emplace_back(folder);
  }
  std::error_code error;
  if (!carried().empty()) {
    candidates.push_back(carried());
  } else {
    const fs::path executable = fs::read_symlink("/proc/self/exe", error);
    if (!error) {
      const fs::path prefix = executable.parent_path().parent_path();
      candidates.push_back(prefix / HEADWAY_INSTALLED_DATA_DIR);
    }
    candidates.emplace_back(HEADWAY_SOURCE_DATA_DIR);
  }

  std::vector<fs::path> folders;
  for (const fs::path& candidate : candidates) {
    if (fs::is_directory(candidate, error)) folders.push_back(candidate);
  }
  return folders;
}

}  // namespace headway

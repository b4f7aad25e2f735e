#include <cstdlib>
#include <map>
#include <utility>

#include "sim/files/input_files.h"

namespace headway {

namespace fs = std::filesystem;

namespace {

fs::path& carried() {
  static fs::path folder;
  return folder;
}

/// As far as they exist.
std::vector<fs::path> found_folders(const fs::path& asked_for, const fs::path& with_library) {
  std::vector<fs::path> candidates;
  if (!asked_for.empty()) candidates.push_back(asked_for);
  std::error_code error;
  if (!with_library.empty()) {
    candidates.push_back(with_library);
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

}  // namespace

void carry_data(fs::path folder) { carried() = std::move(folder); }

const std::vector<fs::path>& data_folders() {
  const char* const folder = std::getenv("HEADWAY_DATA_DIR");
  using Key = std::pair<fs::path, fs::path>;
  Key key(folder == nullptr ? "" : folder, carried());
  static std::map<Key, std::vector<fs::path>> known;  // a sweep asks at every point
  auto found = known.find(key);
  if (found == known.end()) found = known.emplace(key, found_folders(key.first, key.second)).first;
  return found->second;
}

}  // namespace headway

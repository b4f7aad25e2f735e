#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace {

namespace fs = std::filesystem;

const fs::path kRoot = HEADWAY_TEST_SOURCE_DIR;

/// What each folder may include besides itself. A folder that is not named here has no business
/// with the others.
const std::map<std::string, std::set<std::string>> kMayInclude = {
    {"sim/base", {}},
    {"sim/model", {"sim/base"}},
    {"sim/cluster", {"sim/base"}},
    {"sim/profile", {"sim/base"}},
    {"sim/strategy", {"sim/base", "sim/model", "sim/cluster", "sim/profile"}},
    {"sim/workload", {"sim/base", "sim/model", "sim/cluster", "sim/profile", "sim/strategy"}},
    {"sim/result",
     {"sim/base", "sim/model", "sim/cluster", "sim/profile", "sim/strategy", "sim/workload"}},
    {"sim/engine",
     {"sim/base", "sim/model", "sim/cluster", "sim/profile", "sim/strategy", "sim/workload",
      "sim/result"}},
    {"reports/document", {"sim/base"}},
    {"reports",
     {"reports/document", "sim/base", "sim/model", "sim/cluster", "sim/profile", "sim/strategy",
      "sim/workload", "sim/result"}},
    {"sim/study",
     {"sim/base", "sim/model", "sim/cluster", "sim/profile", "sim/strategy", "sim/workload",
      "sim/result", "sim/engine", "reports/document", "reports"}},
    {"sim/cli",
     {"sim/base", "sim/model", "sim/cluster", "sim/profile", "sim/strategy", "sim/workload",
      "sim/result", "sim/engine", "reports/document", "reports", "sim/study"}},
    {"kernels", {"sim/base"}},
    {"calibrate", {"sim/base", "sim/profile", "kernels"}},
};

/// System headers that only some folders may include.
struct Fence {
  std::regex header;
  std::set<std::string> folders;
};
const std::vector<Fence> kFences = {
    {std::regex("^simgrid/.*"), {"sim/engine"}},
    {std::regex("^(cuda|nccl|cublas|cudnn|nvml).*"), {"calibrate", "kernels"}},
    {std::regex("^boost/program_options.*"), {"sim/cli", "calibrate"}},
    {std::regex("^mpi\\.h$"), {"calibrate", "sim/study"}},
    {std::regex("^sqlite3\\.h$"), {"sim/study"}},
};

std::string layer_of(const fs::path& relative) {
  const std::string text = relative.generic_string();
  std::string longest;  // a folder inside another one may be a layer of its own
  for (const auto& [layer, unused] : kMayInclude) {
    if (text.starts_with(layer + "/") && layer.size() > longest.size()) longest = layer;
  }
  return longest;
}

std::vector<fs::path> files_under(std::initializer_list<const char*> tops) {
  std::vector<fs::path> found;
  for (const char* top : tops) {
    for (const auto& entry : fs::recursive_directory_iterator(kRoot / top)) {
      const std::string suffix = entry.path().extension().string();
      if (suffix == ".h" || suffix == ".cpp" || suffix == ".cu" || suffix == ".cuh") {
        found.push_back(entry.path());
      }
    }
  }
  return found;
}

std::vector<fs::path> sources() { return files_under({"sim", "reports", "calibrate", "kernels"}); }

std::vector<std::string> includes_of(const fs::path& path) {
  static const std::regex kInclude(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
  std::vector<std::string> found;
  std::ifstream stream(path);
  std::smatch match;
  for (std::string line; std::getline(stream, line);) {
    if (std::regex_search(line, match, kInclude)) found.push_back(match[1]);
  }
  return found;
}

TEST(Layers, EveryFileStandsInOne) {
  for (const fs::path& path : sources()) {
    EXPECT_NE(layer_of(fs::relative(path, kRoot)), "") << path;
  }
}

TEST(Layers, IncludesOnlyWhatStandsBelow) {
  std::size_t checked = 0;
  for (const fs::path& path : sources()) {
    const std::string layer = layer_of(fs::relative(path, kRoot));
    if (layer.empty()) continue;
    for (const std::string& include : includes_of(path)) {
      const std::string included = layer_of(include);
      if (included.empty() || included == layer) continue;
      ++checked;
      EXPECT_TRUE(kMayInclude.at(layer).contains(included))
          << path << " includes " << include << ", which stands above " << layer;
    }
  }
  EXPECT_GT(checked, 100U) << "the sources were not found";
}

TEST(Layers, KeepsLibrariesBehindTheirFences) {
  for (const fs::path& path : sources()) {
    const std::string layer = layer_of(fs::relative(path, kRoot));
    for (const std::string& include : includes_of(path)) {
      for (const Fence& fence : kFences) {
        if (!std::regex_match(include, fence.header)) continue;
        EXPECT_TRUE(fence.folders.contains(layer)) << path << " includes " << include;
      }
    }
  }
}

TEST(Layers, FilesHoldOneIdea) {
  constexpr int kMostLines = 400;
  for (const fs::path& path : files_under({"sim", "reports", "calibrate", "kernels", "tests"})) {
    std::ifstream stream(path);
    int lines = 0;
    for (std::string line; std::getline(stream, line);) ++lines;
    EXPECT_LE(lines, kMostLines) << path;
  }
}

TEST(Layers, HeadersGuardThemselves) {
  for (const fs::path& path : sources()) {
    if (path.extension() != ".h" && path.extension() != ".cuh") continue;
    std::ifstream stream(path);
    std::string first;
    std::getline(stream, first);
    EXPECT_EQ(first, "#pragma once") << path;
  }
}

}  // namespace

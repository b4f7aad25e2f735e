#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/support/source_folder.h"

namespace {

namespace fs = std::filesystem;

const fs::path kRoot = headway::source_folder();

/// The rooms of the house, lowest first: each includes itself and what stands below it.
const std::vector<std::string> kRooms = {
    "sim/base",     "sim/files",   "sim/network",   "sim/layers",   "sim/models", "sim/costs",
    "sim/import",   "sim/jobs",    "sim/launch",    "sim/programs", "sim/result", "sim/engine",
    "sim/scenario", "sim/predict", "sim/reference", "sim/sweep",    "sim/plan",   "sim/replay",
    "sim/validate", "reports",     "sim/cli",
};

/// What stands beside them, and what of the house it may include.
const std::map<std::string, std::set<std::string>> kBeside = {
    {"reports/document", {"sim/base", "sim/files"}},
    {"sim/python",
     {"sim/base", "sim/files", "sim/network", "sim/scenario", "sim/predict", "sim/sweep",
      "sim/plan", "reports"}},
    {"kernels", {"sim/base"}},
    {"calibrate", {"sim/base", "sim/files", "sim/layers", "sim/costs", "kernels"}},
};

/// System headers that only some folders may include.
struct Fence {
  std::regex header;
  std::set<std::string> folders;
};
const std::vector<Fence> kFences = {
    {std::regex("^simgrid/.*"), {"sim/engine"}},
    {std::regex("^(cuda|nccl|cublas|cudnn|nvml|hip|rccl).*"), {"calibrate", "kernels"}},
    {std::regex("^boost/program_options.*"), {"sim/cli", "calibrate"}},
    {std::regex("^mpi\\.h$"), {"calibrate", "sim/sweep"}},
    {std::regex("^sqlite3\\.h$"), {"sim/sweep"}},
    {std::regex("^(pybind11/.*|Python\\.h)$"), {"sim/python"}},
};

/// The room that a file or an included header stands in; empty for none. A folder inside another
/// one may be a room of its own.
std::string room_of(const fs::path& relative) {
  const std::string text = relative.generic_string();
  std::string longest;
  const auto consider = [&](const std::string& room) {
    if (text.starts_with(room + "/") && room.size() > longest.size()) longest = room;
  };
  for (const std::string& room : kRooms) consider(room);
  for (const auto& [room, unused] : kBeside) consider(room);
  return longest;
}

bool may_include(const std::string& room, const std::string& other) {
  const auto beside = kBeside.find(room);
  if (beside != kBeside.end()) return beside->second.contains(other);
  const auto floor = std::ranges::find(kRooms, room);
  if (std::find(kRooms.begin(), floor, other) != floor) return true;
  return other == "reports/document" && floor >= std::ranges::find(kRooms, "reports");
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

TEST(Rooms, EveryFileStandsInOne) {
  for (const fs::path& path : sources()) {
    EXPECT_NE(room_of(fs::relative(path, kRoot)), "") << path;
  }
}

TEST(Rooms, IncludeOnlyWhatStandsBelow) {
  std::size_t checked = 0;
  for (const fs::path& path : sources()) {
    const std::string room = room_of(fs::relative(path, kRoot));
    if (room.empty()) continue;
    for (const std::string& include : includes_of(path)) {
      const std::string included = room_of(include);
      if (included.empty() || included == room) continue;
      ++checked;
      EXPECT_TRUE(may_include(room, included))
          << path << " includes " << include << ", which stands above " << room;
    }
  }
  EXPECT_GT(checked, 100U) << "the sources were not found";
}

TEST(Rooms, KeepLibrariesBehindTheirFences) {
  for (const fs::path& path : sources()) {
    const std::string room = room_of(fs::relative(path, kRoot));
    for (const std::string& include : includes_of(path)) {
      for (const Fence& fence : kFences) {
        if (!std::regex_match(include, fence.header)) continue;
        EXPECT_TRUE(fence.folders.contains(room)) << path << " includes " << include;
      }
    }
  }
}

TEST(Rooms, AreSmallEnoughToBeKnown) {
  constexpr int kMostFiles = 40;
  std::map<std::string, int> files;
  for (const fs::path& path : sources()) ++files[path.parent_path().string()];
  for (const auto& [folder, count] : files) EXPECT_LE(count, kMostFiles) << folder;
}

TEST(Headers, LeaveTheJsonLibraryToSources) {
  for (const fs::path& path : sources()) {
    if (path.extension() != ".h") continue;
    for (const std::string& include : includes_of(path)) {
      EXPECT_NE(include, "nlohmann/json.hpp") << path << "; include nlohmann/json_fwd.hpp";
    }
  }
}

TEST(Files, HoldOneIdea) {
  constexpr int kMostLines = 400;
  for (const fs::path& path : files_under({"sim", "reports", "calibrate", "kernels", "tests"})) {
    std::ifstream stream(path);
    int lines = 0;
    for (std::string line; std::getline(stream, line);) ++lines;
    EXPECT_LE(lines, kMostLines) << path;
  }
}

/// Types that headers define outside of others. Specialisations are no types of their own.
std::vector<std::string> types_of(const fs::path& path) {
  static const std::regex kType(
      R"(^(?:class|struct|enum|enum class) (\w+)(?: final)?(?: :.*)? \{)");
  std::vector<std::string> found;
  std::ifstream stream(path);
  std::smatch match;
  for (std::string line; std::getline(stream, line);) {
    if (std::regex_search(line, match, kType)) found.push_back(match[1]);
  }
  return found;
}

/// Two of one name in one program are one to its linker, whether a source sees both or not.
TEST(Headers, OfOneProgramDefineATypeOnce) {
  const auto is_of_calibrator = [](const std::string& room) {
    return room == "calibrate" || kBeside.at("calibrate").contains(room);
  };
  const auto is_of_simulator = [](const std::string& room) {
    return room != "calibrate" && room != "kernels";
  };
  std::map<std::string, fs::path> of_calibrator;
  std::map<std::string, fs::path> of_simulator;
  const auto add = [](std::map<std::string, fs::path>& program, const std::string& type,
                      const fs::path& path) {
    const auto [known, is_new] = program.emplace(type, path);
    EXPECT_TRUE(is_new) << known->second << " and " << path << " define " << type;
  };
  for (const fs::path& path : sources()) {
    if (path.extension() != ".h") continue;
    const std::string room = room_of(fs::relative(path, kRoot));
    for (const std::string& type : types_of(path)) {
      if (is_of_calibrator(room)) add(of_calibrator, type, path);
      if (is_of_simulator(room)) add(of_simulator, type, path);
    }
  }
  EXPECT_GT(of_calibrator.size(), 100U) << "the types were not found";
  EXPECT_GT(of_simulator.size(), 300U) << "the types were not found";
}

TEST(Headers, GuardThemselves) {
  for (const fs::path& path : sources()) {
    if (path.extension() != ".h" && path.extension() != ".cuh") continue;
    std::ifstream stream(path);
    std::string first;
    std::getline(stream, first);
    EXPECT_EQ(first, "#pragma once") << path;
  }
}

}  // namespace

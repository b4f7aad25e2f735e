#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>

#include "tests/support/source_folder.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

/// A source that begins so, and goes on with nothing, a comma, a semicolon or a bracket.
const std::regex kTakenOver(
    R"(^(?:estimate|assumption|assumed): that of ([a-z0-9_]+)(?:$|[,;]| \())");

nlohmann::json file(const fs::path& path) { return nlohmann::json::parse(std::ifstream(path)); }

/// By the names of their files, with what the software's adds to each.
std::map<std::string, nlohmann::json> shipped_profiles() {
  const fs::path folder = fs::path(source_folder()) / "calibrate/profiles";
  std::map<std::string, nlohmann::json> profiles;
  for (const auto& entry : fs::directory_iterator(folder / "accelerators")) {
    nlohmann::json whole = file(folder / "software/published.json");
    whole.merge_patch(file(entry.path()));
    profiles.emplace(entry.path().stem().string(), std::move(whole));
  }
  return profiles;
}

TEST(TakenOver, NumbersThatAreSaidToBeAnothersAreAsThatOneHasThem) {
  const auto profiles = shipped_profiles();
  int found = 0;
  for (const auto& [name, profile] : profiles) {
    const nlohmann::json flat = profile.flatten();
    for (const auto& [place, source] : flat.items()) {
      std::smatch match;
      if (!place.ends_with("/source") || !source.is_string()) continue;
      const std::string text = source.get<std::string>();
      if (!std::regex_search(text, match, kTakenOver)) continue;
      const auto other = profiles.find(match[1]);
      if (other == profiles.end()) continue;  // "that of bf16": of the same profile
      const nlohmann::json::json_pointer value(place.substr(0, place.rfind('/')) + "/value");
      ASSERT_TRUE(other->second.contains(value)) << name << value << " is not in " << match[1];
      EXPECT_EQ(profile.at(value), other->second.at(value)) << name << value << ": " << text;
      ++found;
    }
  }
  EXPECT_GT(found, 200);
}

}  // namespace
}  // namespace headway

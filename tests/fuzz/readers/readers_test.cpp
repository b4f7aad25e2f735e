#include "tests/fuzz/readers/readers.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/fuzz/mutation.h"
#include "tests/fuzz/settings.h"
#include "tests/support/source_folder.h"

namespace headway {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Folders of what ships, for readers that it is for; the others have seeds.
const std::map<std::string_view, std::string_view> kShipped = {
    {"scenario", "scenarios"},      {"model", "scenarios/models"},
    {"topology", "topologies"},     {"profile", "calibrate/profiles/accelerators"},
    {"lldp", "tests/samples/lldp"},
};

std::vector<std::string> texts_for(const Reader& reader) {
  if (reader.name == "road") return road_texts();
  constexpr std::uintmax_t kMostBytes = 100'000;
  std::vector<fs::path> paths;
  const auto add_from = [&](const fs::path& folder, const std::string& prefix) {
    for (const auto& entry : fs::directory_iterator(fs::path(source_folder()) / folder)) {
      const bool is_seed = entry.path().filename().string().starts_with(prefix);
      if (is_seed && entry.is_regular_file() && entry.file_size() < kMostBytes) {
        paths.push_back(entry.path());
      }
    }
  };
  add_from("tests/fuzz/seeds", std::string(reader.name) + "_");
  if (const auto shipped = kShipped.find(reader.name); shipped != kShipped.end()) {
    add_from(shipped->second, "");
  }
  std::ranges::sort(paths);
  std::vector<std::string> texts;
  for (const fs::path& path : paths) texts.push_back(content_of(path));
  return texts;
}

/// Some of another text in its place, or bytes.
std::string mixed(std::string text, const std::string& other, RandomNumbers& random) {
  for (int i = random.below(4); i >= 0; --i) {
    const auto at = static_cast<std::size_t>(random.below(static_cast<int>(text.size()) + 1));
    const auto size = static_cast<std::size_t>(random.below(40));
    const auto from = static_cast<std::size_t>(random.below(static_cast<int>(other.size()) + 1));
    switch (random.below(4)) {
      case 0:
        text.insert(at, other, from, size);
        break;
      case 1:
        text.erase(at, size);
        break;
      case 2:
        text.insert(at, text, std::min(from, text.size()), size * 20);
        break;
      default:
        if (at < text.size()) text[at] = "0123456789-.,:;=[]{}/\"\n\0 \xff"[random.below(26)];
    }
  }
  return text;
}

std::string broken(const Reader& reader, const std::vector<std::string>& texts,
                   RandomNumbers& random) {
  const auto any = [&]() -> const std::string& {
    return texts[static_cast<std::size_t>(random.below(static_cast<int>(texts.size())))];
  };
  std::string text = any();
  json document = reader.is_json && random.chance(0.8) ? json::parse(text, nullptr, false) : json();
  if (reader.name == "road" && document.is_object() && random.chance(0.5)) {
    nudge(document, random);
    return document.dump(1, ' ', false, json::error_handler_t::replace);
  }
  if (document.is_object() || document.is_array()) {
    for (int i = random.below(3); i >= 0; --i) mutate(document, random);
    text = document.dump(1, ' ', false, json::error_handler_t::replace);
    return random.chance(0.1) ? mixed(text, any(), random) : text;
  }
  return mixed(text, any(), random);
}

/// Every text that a reader once took badly. The first word of its name is the reader.
TEST(Readers, EndWithAValueOrAReasonForWhatOnceEndedBadly) {
  int files = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(HEADWAY_REGRESSIONS) / "readers")) {
    const std::string name = entry.path().filename().string();
    SCOPED_TRACE(name);
    const Reader& reader = reader_named(name.substr(0, name.find('_')));
    EXPECT_NO_THROW(read_within_limits(reader, content_of(entry.path())));
    ++files;
  }
  EXPECT_GT(files, 0);
}

/// HEADWAY_READER_INPUTS takes more of them, HEADWAY_SEED begins elsewhere, HEADWAY_READER names
/// the only reader. HEADWAY_KEEP is a folder that keeps the text under way, which a crash leaves
/// behind, and those that end badly.
TEST(Readers, TakeOrRefuseWhateverBecomesOfSeeds) {
  const int inputs = number_from("HEADWAY_READER_INPUTS", 100);
  const int first = number_from("HEADWAY_SEED", 1);
  const char* const only = std::getenv("HEADWAY_READER");
  const char* const keep = std::getenv("HEADWAY_KEEP");
  for (const Reader& reader : readers()) {
    if (only != nullptr && only != reader.name) continue;
    const std::vector<std::string> texts = texts_for(reader);
    if (texts.empty()) continue;
    int taken = 0;
    double longest = 0.0;
    const auto begin = Clock::now();
    for (int seed = first; seed < first + inputs; ++seed) {
      RandomNumbers random(static_cast<std::uint64_t>(seed));
      const std::string text = broken(reader, texts, random);
      if (keep != nullptr) {
        std::ofstream(fs::path(keep) / fmt::format("{}_now", reader.name), std::ios::binary)
            << text;
      }
      const auto before = Clock::now();
      try {
        taken += read_within_limits(reader, text) ? 1 : 0;
      } catch (const std::exception& error) {
        ADD_FAILURE() << reader.name << ", seed " << seed << ": " << error.what();
        if (keep == nullptr) continue;
        std::ofstream(fs::path(keep) / fmt::format("{}_{}", reader.name, seed), std::ios::binary)
            << text;
      }
      longest = std::max(longest, seconds_since(before));
    }
    std::cout << fmt::format("{:14} {:9} inputs, {:9} taken, {:7.1f} s, the longest {:.2f} s\n",
                             reader.name, inputs, taken, seconds_since(begin), longest);
  }
}

TEST(Readers, RefuseWhatIsNothing) {
  for (const Reader& reader : readers()) {
    SCOPED_TRACE(reader.name);
    for (const char* text : {"", " ", "{}", "[]", "\xff\xfe", "null"}) {
      EXPECT_NO_THROW(read_within_limits(reader, text));
    }
  }
}

}  // namespace
}  // namespace headway

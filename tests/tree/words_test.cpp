#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <string>
#include <vector>

#include "tests/support/source_folder.h"

namespace {

namespace fs = std::filesystem;

const fs::path kHouse = headway::source_folder();

struct WordTable {
  fs::path home;
  std::vector<std::string> words;
};

std::string text_of(const fs::path& path) {
  std::ifstream stream(path);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::vector<std::string> literals_of(const std::string& text) {
  static const std::regex kLiteral(R"re("([^"\\\n]*)")re");
  std::vector<std::string> found;
  for (std::sregex_iterator it(text.begin(), text.end(), kLiteral), end; it != end; ++it) {
    found.push_back((*it)[1]);
  }
  return found;
}

/// Every source by its path. Published rows have words of their own, many of them equal.
const std::map<fs::path, std::string>& texts_of_sources() {
  static const std::map<fs::path, std::string> kSources = [] {
    std::map<fs::path, std::string> texts;
    for (const char* top : {"sim", "reports", "calibrate", "kernels"}) {
      for (const auto& entry : fs::recursive_directory_iterator(kHouse / top)) {
        const fs::path& path = entry.path();
        const bool is_source = path.extension() == ".h" || path.extension() == ".cpp";
        const bool is_of_rows = path.parent_path() == kHouse / "sim/validate";
        if (is_source && !is_of_rows) texts[path] = text_of(path);
      }
    }
    return texts;
  }();
  return kSources;
}

std::map<std::string, WordTable> word_tables() {
  static const std::regex kTable(R"(kWords<(\w+)>\[\] = \{([^;]*)\};)");
  std::map<std::string, WordTable> tables;
  for (const auto& [path, text] : texts_of_sources()) {
    for (std::sregex_iterator it(text.begin(), text.end(), kTable), end; it != end; ++it) {
      const std::string name = (*it)[1];
      EXPECT_FALSE(tables.contains(name)) << name << " has words in " << path << " too";
      tables[name] = {path, literals_of((*it)[2])};
    }
  }
  return tables;
}

/// Some words mean something else elsewhere; all of an enum in one file are a second list.
TEST(Words, OfAnEnumStandBesideItAndNowhereElse) {
  const std::map<std::string, WordTable> tables = word_tables();
  EXPECT_GT(tables.size(), 8U) << "the tables were not found";
  for (const auto& [path, text] : texts_of_sources()) {
    const std::vector<std::string> literals = literals_of(text);
    const std::set<std::string> said(literals.begin(), literals.end());
    for (const auto& [name, table] : tables) {
      if (path == table.home || table.words.size() < 3) continue;
      EXPECT_FALSE(std::ranges::all_of(
          table.words, [&](const std::string& word) { return said.contains(word); }))
          << path << " lists the words of " << name << "; word_of and kWords have them";
    }
  }
}

}  // namespace

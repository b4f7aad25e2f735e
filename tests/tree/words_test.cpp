#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
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

/// Comments may quote what they like.
std::vector<std::string> literals_of(const std::string& source) {
  static const std::regex kComment(R"(///?[^\n]*)");
  const std::string text = std::regex_replace(source, kComment, "");
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
  static const std::regex kTable(R"(kWords<([\w:]+)>\[\] = \{([^;]*)\};)");
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

/// The calibrator knows nothing of the simulator's upper rooms, and cannot take their words.
bool is_apart(const fs::path& path, const fs::path& home) {
  const auto is_below = [](const fs::path& file, std::initializer_list<const char*> rooms) {
    const std::string relative = file.lexically_relative(kHouse).generic_string();
    return std::ranges::any_of(rooms, [&](const char* room) { return relative.starts_with(room); });
  };
  return is_below(path, {"calibrate/", "kernels/"}) &&
         !is_below(home, {"calibrate/", "kernels/", "sim/base/", "sim/files/", "sim/layers/",
                          "sim/costs/"});
}

/// Some words mean something else elsewhere; all of an enum in one file are a second list.
TEST(Words, OfAnEnumStandBesideItAndNowhereElse) {
  const std::map<std::string, WordTable> tables = word_tables();
  EXPECT_GT(tables.size(), 30U) << "the tables were not found";
  for (const auto& [path, text] : texts_of_sources()) {
    const std::vector<std::string> literals = literals_of(text);
    const std::set<std::string> said(literals.begin(), literals.end());
    for (const auto& [name, table] : tables) {
      if (path == table.home || table.words.size() < 3 || is_apart(path, table.home)) continue;
      EXPECT_FALSE(std::ranges::all_of(
          table.words, [&](const std::string& word) { return said.contains(word); }))
          << path << " lists the words of " << name << "; word_of and kWords have them";
    }
  }
}

/// Ways of which each is a file, and which the rest of the house does not know by name; the first
/// of them may be, as what there is without any.
std::vector<std::string> listed_modules(const fs::path& table, const std::string& type) {
  const std::regex declaration("\n" + type + R"( (\w+)\(\);)");
  const std::string text = text_of(kHouse / table);
  std::vector<std::string> names;
  for (std::sregex_iterator it(text.begin(), text.end(), declaration), end; it != end; ++it) {
    names.push_back((*it)[1]);
  }
  EXPECT_GT(names.size(), 2U) << table << ": the modules were not found";
  if (!names.empty()) names.erase(names.begin());
  return names;
}

bool says(const std::string& text, const std::string& word) {
  const auto goes_on = [&](std::size_t at) {
    return at < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[at])) != 0 || text[at] == '_');
  };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    if (!goes_on(at + word.size()) && (at == 0 || !goes_on(at - 1))) return true;
  }
  return false;
}

/// Published rows are scenarios, and say what somebody used.
TEST(Modules, OfSynchronisationAreKnownByNameInTheirOwnFilesOnly) {
  const fs::path folder = "sim/jobs/synchronisation";
  const fs::path table = folder / "synchronisation.cpp";
  for (const std::string& name : listed_modules(table, "SynchronisationPointer")) {
    const fs::path home = folder / (name + ".cpp");
    EXPECT_TRUE(fs::exists(kHouse / home)) << name;
    for (const auto& [path, text] : texts_of_sources()) {
      const fs::path relative = path.lexically_relative(kHouse);
      const bool is_of_rows = relative.generic_string().starts_with("sim/validate/");
      if (relative == table || relative == home || is_of_rows) continue;
      EXPECT_FALSE(says(text, name)) << relative << " knows " << name;
    }
  }
}

/// Families of models, and kinds of operators that layers are listed of.
std::set<std::string> names_of_models() {
  std::set<std::string> names;
  const auto add = [&](const std::string& text, const std::regex& declaration) {
    for (std::sregex_iterator it(text.begin(), text.end(), declaration), end; it != end; ++it) {
      names.insert((*it)[1]);
    }
  };
  add(text_of(kHouse / "sim/models/families.cpp"), std::regex(R"(\nModelFamily (\w+)\(\);)"));
  EXPECT_GT(names.size(), 8U) << "the families were not found";
  const std::size_t families = names.size();
  for (const auto& entry : fs::directory_iterator(kHouse / "sim/models/listed")) {
    add(text_of(entry.path()), std::regex(R"re(operator_of\(\s*\{\.name = "(\w+)")re"));
  }
  EXPECT_GT(names.size(), families + 10U) << "the operators were not found";
  return names;
}

/// What stands below them has their layers, not their names; published rows say what somebody used.
TEST(Modules, OfModelsAreKnownByNameInTheirRoomOnly) {
  std::set<std::string> names = names_of_models();
  // Also fields of a job, and parts of a transformer.
  for (const char* word : {"attention", "activation", "normalization"}) {
    EXPECT_EQ(names.erase(word), 1U) << word;
  }
  for (const auto& [path, text] : texts_of_sources()) {
    const std::string relative = path.lexically_relative(kHouse).generic_string();
    if (relative.starts_with("sim/models/") || relative.starts_with("sim/validate/")) continue;
    for (const std::string& literal : literals_of(text)) {
      EXPECT_FALSE(names.contains(literal)) << relative << " knows " << literal;
    }
  }
}

}  // namespace

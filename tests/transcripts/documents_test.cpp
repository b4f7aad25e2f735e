#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <fstream>
#include <optional>
#include <regex>
#include <set>
#include <sstream>

#include "tests/support/scratch_folder.h"
#include "tests/support/source_folder.h"
#include "tests/transcripts/transcript.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

/// Documents whose command lines a stranger copies.
constexpr std::array<const char*, 4> kDocuments = {
    "README.md", "scenarios/TUTORIAL.md", "calibrate/profiles/DATA_SHEET.md", "reports/READING.md"};

/// What builds or measures, takes long, or needs what nobody here has: who runs it instead.
struct Elsewhere {
  std::string_view part;  ///< of the command line
  std::string_view by;    ///< a file of the tree
};
constexpr std::array<Elsewhere, 12> kElsewhere = {{
    {"git clone", "scripts/package.sh"},
    {"scripts/quickstart.sh", "scripts/prove_readme.sh"},
    {"scripts/test.sh", ".ci/run"},
    {"cmake --preset", "scripts/lib_setup.sh"},
    {"cmake --install", "scripts/prove_readme.sh"},
    {"pip install", "tests/sim/python/CMakeLists.txt"},
    {"headway-calibrate", "scripts/prove_readme.sh"},
    {"scripts/calibrate_gpu.sh", "tests/scripts/calibrate_gpu_test.cpp"},
    {"--profile gpu.json", "tests/scripts/calibrate_gpu_test.cpp"},
    {"headway validate", "scripts/publish_reports.sh"},
    {"headway plan buy_70b_90_days", "tests/transcripts/plan.transcript"},
    {"headway import", "tests/sim/import/import_slurm_test.cpp"},
}};

/// What stands for something of the reader's own.
const std::vector<std::pair<std::string, std::string>> kReadersOwn = {
    {"SCENARIO", "llama3_8b_64"},  {"TOPOLOGY", "dgx_h100_superpod --nodes 4"},
    {"TRACE", "trace.csv"},        {"FILE", "tiny.json"},
    {"NAME", "strategy"},          {"DIR", "points"},
    {"A B", "tiny.json tiny.json"}};

struct ShownCommand {
  int line = 0;
  std::string command;
  std::string output;  ///< "..." stands for any number of lines
  bool shows_output = false;
};

struct Shown {
  std::vector<ShownCommand> blocks;  ///< one after the other in one folder
  std::vector<ShownCommand> spans;   ///< `headway ...` in a sentence or a table
};

/// Without the remark behind it.
std::string without_remark(const std::string& line) {
  const std::size_t remark = line.find(" # ");
  std::string command = line.substr(0, remark);
  command.erase(command.find_last_not_of(' ') + 1);
  return command;
}

Shown shown_in(const fs::path& document) {
  static const std::regex kSpan("`(headway [^`]+)`");
  static const std::regex kSaved("[Ss]ave this as `([^`]+)`");
  std::ifstream stream(document);
  EXPECT_TRUE(stream) << document;
  Shown shown;
  std::string fence;  // "```sh"; empty outside
  std::string saved;  // what the next JSON is to be saved as
  int number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    if (line.starts_with("```")) {
      if (fence == "```saved") shown.blocks.back().command += "END";
      fence = fence.empty() ? line : "";
      if (fence != "```json" || saved.empty()) continue;
      shown.blocks.push_back({number, "cat > " + saved + " <<'END'\n"});
      saved.clear();
      fence = "```saved";
    } else if (fence == "```saved") {
      shown.blocks.back().command += line + "\n";
    } else if (fence.empty()) {
      std::smatch named;
      if (std::regex_search(line, named, kSaved)) saved = named[1];
      for (std::sregex_iterator at(line.begin(), line.end(), kSpan), end; at != end; ++at) {
        shown.spans.push_back({number, (*at)[1]});
      }
    } else if (fence == "```sh" && !line.empty()) {
      shown.blocks.push_back({number, without_remark(line)});
    } else if (line.starts_with("$ ")) {
      shown.blocks.push_back({number, line.substr(2), "", true});
      fence = "```$";
    } else if (fence == "```$") {
      shown.blocks.back().output += line + "\n";
    }
  }
  return shown;
}

const Elsewhere* run_elsewhere(const std::string& command) {
  const auto row = std::ranges::find_if(kElsewhere, [&](const Elsewhere& elsewhere) {
    return command.find(elsewhere.part) != std::string::npos;
  });
  return row == kElsewhere.end() ? nullptr : row;
}

/// A folder as somebody has it who has cloned and built.
fs::path cloned_folder(const ScratchFolder& scratch) {
  const fs::path source(source_folder());
  const fs::path folder = scratch.path() / "headway";
  fs::copy(source / "tests/transcripts/files", folder);
  for (const char* part : {"scenarios", "topologies", "calibrate"}) {
    fs::create_directory_symlink(source / part, folder / part);
  }
  fs::create_directories(folder / "build/release/sim/cli");
  fs::create_symlink(HEADWAY_PROGRAM, folder / "build/release/sim/cli/headway");
  return folder;
}

using Lines = std::vector<std::string>;

Lines lines_of(const std::string& text) {
  Lines lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

using AreAlike = bool (*)(const std::string&, const std::string&);

/// `pattern` with the lines that it stands for, "..." for any number of them; nothing if `lines`
/// are not of it.
std::optional<Lines> filled(const Lines& pattern, const Lines& lines, AreAlike are_alike,
                            std::size_t p = 0, std::size_t l = 0) {
  if (p == pattern.size()) return l == lines.size() ? std::optional<Lines>(Lines{}) : std::nullopt;
  const bool is_gap = pattern[p] == "...";
  for (std::size_t next = l; next <= lines.size(); ++next) {
    if (!is_gap && (next == lines.size() || !are_alike(pattern[p], lines[next]))) break;
    if (auto rest = filled(pattern, lines, are_alike, p + 1, is_gap ? next : next + 1)) {
      rest->insert(rest->begin(), is_gap ? pattern[p] : lines[next]);
      return rest;
    }
    if (!is_gap) break;
  }
  return std::nullopt;
}

bool are_equal(const std::string& a, const std::string& b) { return a == b; }

/// But for their numbers and blanks.
bool say_the_same(const std::string& a, const std::string& b) {
  static const std::regex kNumbers("[-+]?[0-9][0-9.,]*|#");
  static const std::regex kBlanks("[ #]+");
  const auto said = [](const std::string& line) {
    return std::regex_replace(std::regex_replace(line, kNumbers, "#"), kBlanks, " ");
  };
  return said(a) == said(b);
}

/// Puts the numbers that a command prints now into a document.
void write_output(const fs::path& document, int first, const Lines& output) {
  std::ifstream before(document);
  std::ostringstream text;
  text << before.rdbuf();
  Lines lines = lines_of(text.str());
  std::ranges::copy(output, lines.begin() + first);
  std::ofstream after(document);
  for (const std::string& line : lines) after << line << '\n';
}

/// What the command prints in a transcript; nothing if it is not run there.
Lines lines_in_transcript(const fs::path& transcript, const std::string& command) {
  std::ifstream stream(transcript);
  std::vector<std::string> lines;
  bool is_there = false;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("$ ")) {
      is_there = line == "$ " + command;
    } else if (is_there && line.starts_with("|")) {
      lines.push_back(line.substr(std::min<std::size_t>(line.size(), 2)));
    }
  }
  return lines;
}

class Documents : public testing::TestWithParam<const char*> {};

/// Whether `printed` is what a document shows. HEADWAY_UPDATE_TRANSCRIPTS=1 writes other numbers
/// down, and leaves to the reader what has other words.
bool shows(const fs::path& document, const ShownCommand& shown, const Lines& printed) {
  const Lines pattern = lines_of(shown.output);
  if (filled(pattern, printed, are_equal)) return true;
  const char* const update = std::getenv("HEADWAY_UPDATE_TRANSCRIPTS");
  if (update == nullptr || std::string_view(update) != "1") return false;
  const auto output = filled(pattern, printed, say_the_same);
  if (output) write_output(document, shown.line, *output);
  return output.has_value();
}

TEST_P(Documents, ShowWhatTheirCommandsPrint) {
  const ScratchFolder scratch;
  const fs::path folder = cloned_folder(scratch);
  const fs::path document = fs::path(source_folder()) / GetParam();
  for (const ShownCommand& shown : shown_in(document).blocks) {
    if (const Elsewhere* const elsewhere = run_elsewhere(shown.command)) {
      if (!shown.shows_output || !elsewhere->by.ends_with(".transcript")) continue;
      const auto printed =
          lines_in_transcript(fs::path(source_folder()) / elsewhere->by, shown.command);
      EXPECT_TRUE(shows(document, shown, printed))
          << GetParam() << ":" << shown.line << ": " << shown.command << "\nprints otherwise in "
          << elsewhere->by;
      continue;
    }
    const TranscriptStep step = run_step("{ " + shown.command + "\n} 2>&1", folder);
    EXPECT_TRUE(shown.shows_output ? shows(document, shown, lines_of(step.output))
                                   : step.exit_code == 0)
        << GetParam() << ":" << shown.line << ": " << shown.command << "\nprints\n"
        << step.output;
  }
}

TEST_P(Documents, NameCommandsThatRun) {
  const ScratchFolder scratch;
  const fs::path folder = cloned_folder(scratch);
  std::set<std::string> done;
  for (const ShownCommand& shown : shown_in(fs::path(source_folder()) / GetParam()).spans) {
    if (run_elsewhere(shown.command) != nullptr) continue;
    std::string command = shown.command;
    for (const auto& [own, taken] : kReadersOwn) {
      const std::size_t at = command.find(" " + own);
      if (at == std::string::npos) continue;
      // A line has a store of its own.
      const std::string line = own == "DIR" ? std::to_string(shown.line) : "";
      command.replace(at + 1, own.size(), taken + line);
    }
    const bool is_only_named = std::ranges::count(command, ' ') == 1;
    if (is_only_named) command += " --help";
    if (!done.insert(command).second) continue;
    const TranscriptStep step = run_step(command, folder);
    EXPECT_LE(step.exit_code, 1) << GetParam() << ":" << shown.line << ": " << command << "\n"
                                 << step.errors;
  }
}

INSTANTIATE_TEST_SUITE_P(Shown, Documents, testing::ValuesIn(kDocuments), [](const auto& document) {
  return fs::path(document.param).stem().string();
});

TEST(DocumentsElsewhere, SomebodyRunsThem) {
  for (const Elsewhere& row : kElsewhere) {
    EXPECT_TRUE(fs::exists(fs::path(source_folder()) / row.by)) << row.part << ": " << row.by;
  }
}

}  // namespace
}  // namespace headway

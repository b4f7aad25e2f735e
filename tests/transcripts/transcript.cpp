#include "tests/transcripts/transcript.h"

#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace headway {
namespace {

namespace fs = std::filesystem;

std::string file_content(const fs::path& path) {
  std::ifstream stream(path, std::ios::binary);
  std::ostringstream content;
  content << stream.rdbuf();
  return content.str();
}

/// Each line behind `mark`.
std::string marked(const std::string& text, const std::string& mark) {
  std::string lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) {
    lines += mark;
    if (!line.empty()) lines.append(" ").append(line);
    lines += stream.eof() ? "\\\n" : "\n";
  }
  return lines;
}

/// What takes a while takes another while each time: the rest of a line behind "done in".
std::string without_durations(const std::string& text) {
  constexpr std::string_view kBefore = ": done in ";
  std::string result;
  std::size_t from = 0;
  while (true) {
    const std::size_t at = text.find(kBefore, from);
    if (at == std::string::npos) return result + text.substr(from);
    result.append(text, from, at + kBefore.size() - from).append("TIME");
    from = std::min(text.find('\n', at), text.size());
  }
}

}  // namespace

std::vector<TranscriptStep> parse_transcript(std::string_view text) {
  std::vector<TranscriptStep> steps;
  std::string comment;
  std::istringstream stream{std::string(text)};
  for (std::string line; std::getline(stream, line);) {
    const std::string rest = line.size() > 2 ? line.substr(2) : "";
    if (line.starts_with("$ ")) {
      steps.push_back({.comment = comment, .command = rest});
      comment.clear();
    } else if (line.empty() || line.starts_with("#")) {
      comment += line + "\n";
    } else if (steps.empty()) {
      throw std::runtime_error("a transcript begins with a command, not with: " + line);
    } else if (line.starts_with("[")) {
      steps.back().exit_code = std::atoi(line.c_str() + 1);
    } else if (line.starts_with("|") || line.starts_with("!")) {
      std::string& output = line.front() == '|' ? steps.back().output : steps.back().errors;
      output += rest.ends_with("\\") ? rest.substr(0, rest.size() - 1) : rest + "\n";
    } else {
      throw std::runtime_error("this line of a transcript has no mark: " + line);
    }
  }
  return steps;
}

std::string transcript_text(const std::vector<TranscriptStep>& steps) {
  std::string text;
  for (const TranscriptStep& step : steps) {
    text += step.comment + "$ " + step.command + "\n";
    text += marked(step.output, "|") + marked(step.errors, "!");
    text += "[" + std::to_string(step.exit_code) + "]\n";
  }
  return text;
}

TranscriptStep run_step(const std::string& command, const fs::path& folder) {
  for (const char* name :
       {"COLUMNS", "HEADWAY_COLOR", "HEADWAY_JOBS", "HEADWAY_DATA_DIR", "NO_COLOR"}) {
    unsetenv(name);
  }
  const std::string programs = fs::path(HEADWAY_PROGRAM).parent_path().string();
  if (const std::string path = std::getenv("PATH"); !path.starts_with(programs + ":")) {
    setenv("PATH", (programs + ":" + path).c_str(), 1);
  }
  const fs::path results = folder.parent_path();
  const fs::path output = results / (folder.filename().string() + ".out");
  const fs::path errors = results / (folder.filename().string() + ".err");
  const std::string line = "cd '" + folder.string() + "' && {\n" + command + "\n} > '" +
                           output.string() + "' 2> '" + errors.string() + "' < /dev/null";
  const int status = std::system(line.c_str());
  TranscriptStep step{.command = command,
                      .output = file_content(output),
                      .errors = without_durations(file_content(errors)),
                      .exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1};
  fs::remove(output);
  fs::remove(errors);
  return step;
}

}  // namespace headway

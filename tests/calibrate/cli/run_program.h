#pragma once

#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "sim/costs/read_profile.h"
#include "sim/files/input_files.h"
#include "tests/support/scratch_folder.h"

namespace headway {

struct Outcome {
  int code = -1;
  std::string out;
  std::string err;
};

inline std::string content(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

inline Outcome run_line(const std::string& line) {
  const ScratchFolder folder;
  const std::string out = (folder.path() / "out").string();
  const std::string err = (folder.path() / "err").string();
  const int status = std::system(("{ " + line + "; } >" + out + " 2>" + err).c_str());
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, content(out), content(err)};
}

inline Outcome run(const std::string& arguments, const std::string& before = "") {
  return run_line(before + " " HEADWAY_CALIBRATE " " + arguments + " </dev/null");
}

/// What --from makes of such a file, its profile without the line that tells of it.
inline Outcome refit(const std::string& points, const std::string& options = "") {
  Outcome outcome = run("--from " + points + " " + options);
  const std::size_t line = outcome.out.find("    \"refitted\": ");
  if (line != std::string::npos) outcome.out.erase(line, outcome.out.find('\n', line) + 1 - line);
  return outcome;
}

/// The errors that read_profile finds, none in a profile that can be used. How the calibration went
/// it warns of.
inline std::string problems(const std::string& path) {
  Diagnostics diagnostics;
  InputFiles files({}, {}, diagnostics);
  const auto cursor = files.open(path, "");
  if (cursor) (void)read_profile(*cursor, files);
  std::vector<Diagnostic> errors = diagnostics.all();
  std::erase_if(errors, [](const Diagnostic& one) { return one.severity != Severity::error; });
  return rendered(errors, "nothing was read.");
}

}  // namespace headway

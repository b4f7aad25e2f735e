#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace headway {

/// One command of a transcript and what became of it.
struct TranscriptStep {
  std::string comment;  ///< lines that begin with "#", and blank ones, before the command
  std::string command;  ///< for sh
  std::string output;
  std::string errors;
  int exit_code = 0;
};

/// A transcript is a text of steps:
///
///     # why this is here
///     $ headway simulate nothing.json
///     ! error: there is no file "nothing.json"
///     [2]
///
/// "$" a command, "|" a line of standard output, "!" a line of standard error, "[2]" the exit code.
/// A last line without a newline ends in "\".
[[nodiscard]] std::vector<TranscriptStep> parse_transcript(std::string_view text);
[[nodiscard]] std::string transcript_text(const std::vector<TranscriptStep>& steps);

/// Runs a command by sh in `folder`, `headway` being the program that was built, with none of the
/// variables that change what it prints. Durations are written as TIME.
[[nodiscard]] TranscriptStep run_step(const std::string& command,
                                      const std::filesystem::path& folder);

}  // namespace headway

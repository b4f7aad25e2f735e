#pragma once

#include <functional>
#include <string>
#include <vector>

#include "reports/answers/answer.h"
#include "sim/base/diagnostic.h"
#include "sim/cli/invocation.h"

namespace headway {

/// A file that the command line asks for.
struct OutputFile {
  std::string option;  ///< "-o", "--trace"
  std::string path;
};

/// Reports every output that could not be written, before hours are spent on what it is to hold:
/// a folder that is missing or closed to us, a folder in the file's place, two outputs in one file.
void check_outputs(const std::vector<OutputFile>& outputs, Diagnostics& diagnostics);

/// Reports every output that would overwrite one of `inputs` (paths; "-" is none).
void check_outputs_spare(const std::vector<OutputFile>& outputs,
                         const std::vector<std::string>& inputs, Diagnostics& diagnostics);

/// ".json", in small letters; empty if there is none.
[[nodiscard]] std::string suffix_of(const std::string& path);

/// The files of `-o`, with a problem for each whose suffix is none of `suffixes`.
[[nodiscard]] std::vector<OutputFile> report_files(const std::vector<std::string>& paths,
                                                   const std::vector<std::string>& suffixes,
                                                   Diagnostics& diagnostics);

/// Runs `write`, then `print`. Where `write` threw an EnvironmentError, it is thrown again after
/// `print`: an answer that may have taken hours is shown even where it cannot be written.
void write_then_print(const std::function<void()>& write, const std::function<void()>& print);

/// The files of -o. Reports each that no answer is written as, that cannot be written, and that
/// would overwrite one of `inputs`.
[[nodiscard]] std::vector<OutputFile> answer_files(const Arguments& arguments,
                                                   const std::vector<std::string>& inputs,
                                                   Diagnostics& diagnostics);

/// Writes the answer to a file, by its suffix.
void write_answer(const Answer& answer, const std::string& path, Terminal& terminal);

/// Writes the answer to the files and prints it: with --json as one document, else as text.
void give(const Answer& answer, const std::vector<OutputFile>& files, const Invocation& invocation);

}  // namespace headway

#include "sim/cli/outputs.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <exception>
#include <filesystem>
#include <system_error>

#include "reports/write_file.h"
#include "sim/base/join_words.h"
#include "sim/base/letter_case.h"
#include "sim/base/utf8.h"

namespace headway {
namespace {

namespace fs = std::filesystem;

std::string shown(const OutputFile& output) {
  return fmt::format("{} {}", output.option, printable(output.path));
}

void check_place(const OutputFile& output, Diagnostics& diagnostics) {
  std::error_code error;
  const fs::path path(output.path);
  if (path.empty())
    return diagnostics.add({.message = output.option + " needs the name of a file"});
  if (fs::is_directory(path, error)) {
    return diagnostics.add(
        {.message = shown(output) + " is a folder", .help = "name a file in it"});
  }
  if (fs::exists(path, error) && !fs::is_regular_file(path, error)) return;
  const fs::path folder = path.has_parent_path() ? path.parent_path() : fs::path(".");
  const std::string name = in_quotes(folder.string());
  if (!fs::exists(folder, error)) {
    return diagnostics.add(
        {.message = fmt::format("{}: there is no folder {}", shown(output), name),
         .help = "create it, or name a file in another one"});
  }
  if (!fs::is_directory(folder, error)) {
    return diagnostics.add({.message = fmt::format("{}: {} is no folder", shown(output), name)});
  }
  if (access(folder.c_str(), W_OK | X_OK) != 0) {
    const std::string reason = std::error_code(errno, std::generic_category()).message();
    diagnostics.add(
        {.message = fmt::format("{}: cannot write in {}: {}", shown(output), name, reason)});
  }
}

/// Reports a suffix that is none of `known`.
void check_suffix(const OutputFile& output, const std::vector<std::string>& known,
                  Diagnostics& diagnostics) {
  const std::string suffix = suffix_of(output.path);
  if (std::ranges::find(known, suffix) != known.end()) return;
  diagnostics.add(
      {.message = fmt::format("{}: {}", shown(output),
                              suffix.empty()
                                  ? "a report's format is told by its suffix, and there is none"
                                  : fmt::format("no report is written as {}", in_quotes(suffix))),
       .help = fmt::format("use {}", join_words(known, " or "))});
}

}  // namespace

void check_outputs(const std::vector<OutputFile>& outputs, Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    check_place(outputs[i], diagnostics);
    for (std::size_t earlier = 0; earlier < i; ++earlier) {
      if (!is_same_file(outputs[earlier].path, outputs[i].path)) continue;
      diagnostics.add({.message = fmt::format("{} and {} are the same file",
                                              shown(outputs[earlier]), shown(outputs[i])),
                       .help = "give each output a file of its own"});
      break;
    }
  }
}

void check_outputs_spare(const std::vector<OutputFile>& outputs,
                         const std::vector<std::string>& inputs, Diagnostics& diagnostics) {
  for (const OutputFile& output : outputs) {
    const bool is_input = std::ranges::any_of(inputs, [&](const std::string& input) {
      return input != "-" && is_same_file(input, output.path);
    });
    if (is_input) {
      diagnostics.add({.message = shown(output) + " would overwrite an input",
                       .help = "give the output another name"});
    }
  }
}

std::string suffix_of(const std::string& path) {
  return lower_case(fs::path(path).extension().string());
}

std::vector<OutputFile> report_files(const std::vector<std::string>& paths,
                                     const std::vector<std::string>& suffixes,
                                     Diagnostics& diagnostics) {
  std::vector<OutputFile> files;
  files.reserve(paths.size());
  for (const std::string& path : paths) {
    files.push_back({"-o", path});
    check_suffix(files.back(), suffixes, diagnostics);
  }
  return files;
}

void write_then_print(const std::function<void()>& write, const std::function<void()>& print) {
  std::exception_ptr failure;
  try {
    write();
  } catch (const EnvironmentError&) {
    failure = std::current_exception();
  }
  print();
  if (failure) std::rethrow_exception(failure);
}

std::vector<OutputFile> answer_files(const Arguments& arguments,
                                     const std::vector<std::string>& inputs,
                                     Diagnostics& diagnostics) {
  std::vector<OutputFile> files =
      report_files(arguments.values("output"), answer_suffixes(), diagnostics);
  check_outputs(files, diagnostics);
  check_outputs_spare(files, inputs, diagnostics);
  return files;
}

void write_answer(const Answer& answer, const std::string& path, Terminal& terminal) {
  write_file(path, [&](std::ostream& out) { write_answer_as(suffix_of(path), answer, out); });
  terminal.remark(fmt::format("wrote {}\n", path));
}

void give(const Answer& answer, const std::vector<OutputFile>& files,
          const Invocation& invocation) {
  Terminal& terminal = invocation.terminal;
  const auto write = [&] {
    for (const OutputFile& file : files) write_answer(answer, file.path, terminal);
  };
  write_then_print(write, [&] {
    if (invocation.arguments.has("json")) {
      terminal.print([&](std::ostream& out) { answer.json.write_to(out); });
    } else {
      terminal.print(answer.text({terminal.colours_output(), terminal.columns()}));
    }
  });
}

}  // namespace headway

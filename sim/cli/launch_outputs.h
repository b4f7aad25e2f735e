#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/cli/invocation.h"
#include "sim/cli/outputs.h"
#include "sim/files/json_value.h"
#include "sim/launch/launch_files.h"

namespace headway {

/// How files that start a job are to be written.
struct LaunchOptions {
  std::optional<LaunchFramework> framework;  ///< unsaid: the preset's
  std::optional<JobManifest> manifest;       ///< unsaid: the usual one
};

/// What --framework and --manifest say. Reports a manifest without a file that it is for.
[[nodiscard]] LaunchOptions launch_options_of(const Arguments& arguments, Diagnostics& diagnostics);

/// Whether a file of that name starts a job: .sh, .yaml, .yml.
[[nodiscard]] bool is_launch_file(const std::string& path);

/// The files of -o, where such may be among them; with the problems of `answer_files`.
[[nodiscard]] std::vector<OutputFile> plan_files(const Arguments& arguments,
                                                 const std::string& input,
                                                 Diagnostics& diagnostics);

/// Throws InputError if one of the files is to start jobs of a scenario of which nobody knows how,
/// before an answer is sought for hours. `scenario` is resolved.
void check_launch(const JsonValue& scenario, const LaunchOptions& options,
                  const std::vector<OutputFile>& files);

/// Writes what starts the job of a resolved scenario, and says what it leaves to others. Requires
/// options that were checked.
void write_launch_file(const JsonValue& scenario, const LaunchOptions& options,
                       const std::string& path, Terminal& terminal);

}  // namespace headway

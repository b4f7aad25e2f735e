#pragma once

#include <string>
#include <vector>

#include "sim/base/diagnostic.h"

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

/// Reports a suffix that is none of `known`.
void check_suffix(const OutputFile& output, const std::vector<std::string>& known,
                  Diagnostics& diagnostics);

}  // namespace headway

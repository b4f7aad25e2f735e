#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/base/diagnostic.h"

namespace headway {

/// A text that stands for a file of this process under a name, for as long as this object lives: a
/// scenario that a program made and never wrote. What it refers to is looked for from the folder in
/// which the process runs. The name is nobody's file ("<scenario>"); one object has it at a time.
class HeldFile {
 public:
  HeldFile(std::string name, std::string text);
  ~HeldFile();
  HeldFile(const HeldFile&) = delete;
  HeldFile& operator=(const HeldFile&) = delete;

  [[nodiscard]] static bool is_held(const std::string& name);

 private:
  std::map<std::string, std::string>::iterator place_;
};

/// The content of a file ("-" is standard input), or of a held one. Missing, unreadable, a folder,
/// over 1 GiB: a diagnostic and nothing.
[[nodiscard]] std::optional<std::string> file_text(const std::string& path,
                                                   Diagnostics& diagnostics);

/// Names of the .json files in `folder` and the folders in it, relative to it, sorted; empty if
/// there is no such folder.
[[nodiscard]] std::vector<std::string> json_files_below(const std::filesystem::path& folder);

/// "did you mean ...", "there are ..." or nothing: help for a name that is none of `names`.
[[nodiscard]] std::string name_help(std::string_view name, const std::vector<std::string>& names);

}  // namespace headway

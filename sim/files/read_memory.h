#pragma once

#include <any>
#include <deque>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "sim/files/json_document.h"

namespace headway {

/// What one process has read, for whoever reads the same again with a few fields changed: points of
/// a sweep. A file counts as it was when it was read first.
///
/// It holds each file once, and of each part the last few that were made of it.
class ReadMemory {
 public:
  /// JsonDocument::read, from memory the second time. Standard input is read each time.
  [[nodiscard]] std::shared_ptr<const JsonDocument> document(const std::string& path,
                                                             Diagnostics& diagnostics);
  /// The fingerprint of a file's content, to tell it from another one. Standard input's is that of
  /// nothing.
  [[nodiscard]] std::string file_fingerprint(const std::filesystem::path& path);

  /// A part that was read without a word, and what reading it did to the files (InputFiles::once).
  struct Part {
    std::string key;  ///< of all that it depends on
    std::any value;
    std::vector<std::filesystem::path> read_paths;
    std::vector<bool> used_overrides;  ///< of those that concern it
  };
  /// The part of that key among those at `place`; nullptr if it is not known (any more).
  [[nodiscard]] const Part* part(const std::string& place, const std::string& key) const;
  void remember(const std::string& place, Part part);

 private:
  std::map<std::string, std::shared_ptr<const JsonDocument>> documents_;
  std::map<std::filesystem::path, std::string> fingerprints_;
  std::map<std::string, std::deque<Part>> parts_;
};

}  // namespace headway

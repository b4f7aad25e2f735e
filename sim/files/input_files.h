#pragma once

#include <any>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <typeinfo>
#include <vector>

#include "sim/base/source_text.h"
#include "sim/files/json_document.h"
#include "sim/files/read_memory.h"

namespace headway {

/// Finds and reads the JSON files of a run and applies `--set` to them, also where the pointer
/// leads through a reference: `--set /model/layers=8` works on the file that "model" names.
class InputFiles {
 public:
  /// `data_folders` are searched, in order, for names that the referring file's own folder does
  /// not have. `diagnostics` outlives this object. What `memory` knows is not read again; null is
  /// a memory of its own.
  InputFiles(std::vector<Override> overrides, std::vector<std::filesystem::path> data_folders,
             Diagnostics& diagnostics, std::shared_ptr<ReadMemory> memory = nullptr);

  /// The document that everything starts from; "-" is standard input. A name that is no file as
  /// given is looked for in the data folders, under `folder` too ("scenarios"), or under each of
  /// several folders.
  [[nodiscard]] std::optional<JsonCursor> open(const std::string& path, const std::string& folder);
  [[nodiscard]] std::optional<JsonCursor> open(const std::string& path,
                                               const std::vector<std::string>& folders);

  /// A part that is either an object in place (returned as it is) or a text naming a file: looked
  /// for relative to the referring file (a pipe or a device is none; one outside of that file's
  /// folder is read with a warning), then as `folder`/NAME and `folder`/NAME.json in the data
  /// folders ("llama3_405b" for a model), then as NAME.json beside the referring file. Unknown
  /// names are diagnostics with did-you-mean.
  [[nodiscard]] std::optional<JsonCursor> follow(const JsonCursor& part, const std::string& folder);
  [[nodiscard]] std::optional<JsonCursor> follow(const JsonCursor& part,
                                                 const std::vector<std::string>& folders);

  /// The text of a file of another kind than JSON that `part` names, looked for in the same places.
  [[nodiscard]] std::optional<SourceText> follow_text(const JsonCursor& part,
                                                      const std::string& folder);

  /// What `read` makes of a part, or what the memory has of it. `read` may depend on the part, on
  /// files it follows from there, on overrides that concern it and on `given`; nothing is
  /// remembered where it had anything to tell.
  template <class Value, class Read>
  [[nodiscard]] std::optional<Value> once(const JsonCursor& part, const std::string& given,
                                          Read read) {
    const std::any value = once(part, given + typeid(Value).name(), [&]() -> std::any {
      std::optional<Value> made = read();
      return made ? std::any(std::move(*made)) : std::any();
    });
    return value.has_value() ? std::optional(std::any_cast<Value>(value)) : std::nullopt;
  }

  /// Reports each override that leads into a text which nobody followed as a reference
  /// ("/name/x=1"). Call once, after everything is read; without it such overrides go unnoticed.
  void report_unused_overrides();

  /// Paths of all files read so far, in order, for provenance.
  [[nodiscard]] const std::vector<std::filesystem::path>& read_paths() const { return read_paths_; }
  /// Of the content of one of these.
  [[nodiscard]] std::string fingerprint(const std::filesystem::path& path) const {
    return memory_->file_fingerprint(path);
  }

  [[nodiscard]] Diagnostics& diagnostics() { return diagnostics_; }

 private:
  [[nodiscard]] std::any once(const JsonCursor& part, const std::string& given,
                              const std::function<std::any()>& read);
  void tell_if_it_left(const JsonCursor& part, const std::string& path);
  [[nodiscard]] std::optional<JsonCursor> load(const std::string& path,
                                               const std::string& pointer_prefix);
  [[nodiscard]] std::optional<std::string> resolve(const JsonCursor& part,
                                                   const std::vector<std::string>& folders) const;
  /// The same; reports a name that is no file.
  [[nodiscard]] std::optional<std::string> found(const JsonCursor& part,
                                                 const std::vector<std::string>& folders);

  std::vector<Override> overrides_;
  std::vector<bool> used_;  ///< of each override: it reached a document
  std::vector<std::filesystem::path> data_folders_;
  Diagnostics& diagnostics_;
  std::shared_ptr<ReadMemory> memory_;
  std::vector<std::filesystem::path> read_paths_;
};

/// Where the installed data (scenarios/, topologies/, calibrate/profiles/) stands, as far as the
/// folders exist: $HEADWAY_DATA_DIR, then the folder installed beside the executable
/// (../share/headway), then the source tree it was built from; in place of these two what
/// `carry_data` named. Looked for once.
[[nodiscard]] const std::vector<std::filesystem::path>& data_folders();

/// For a library that another program loads and that has its data beside itself: said once, before
/// anything is read.
void carry_data(std::filesystem::path folder);

}  // namespace headway

#pragma once

#include <string>
#include <string_view>

#include "sim/base/diagnostic.h"

namespace headway {

/// What an importer has to say while it works: problems of the dump, and what it had to assume.
class ImportNotes {
 public:
  explicit ImportNotes(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  /// Warns, and keeps the text for the object's "source".
  void assume(std::string message);
  void fail(std::string message, SourceLocation location = {}, std::string help = "");
  [[nodiscard]] bool has_failed() const { return diagnostics_.has_errors(); }

  /// The "source" of what is imported: where it comes from and what was assumed.
  [[nodiscard]] std::string source(std::string_view from) const;

 private:
  Diagnostics& diagnostics_;
  std::string assumptions_;
};

}  // namespace headway

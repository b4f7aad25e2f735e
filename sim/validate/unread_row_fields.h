#pragma once

#include <map>
#include <string>
#include <utility>

#include "sim/files/json_document.h"

namespace headway {

/// Members of published rows that nothing reads, each told once for all rows of a file. Whoever
/// wrote "cpp" for "cp" else has a job predicted that is not the published one.
class UnreadRowFields {
 public:
  /// `part` is a row's "model" or "train" (else nothing is looked for), as `name` says.
  void look_at(const char* name, const JsonCursor& part);
  /// A warning for each, where it stands first.
  void warn(Diagnostics& diagnostics) const;

 private:
  struct Found {
    JsonCursor first;
    int rows = 0;
  };
  std::map<std::pair<std::string, std::string>, Found> found_;  ///< by part and name
};

}  // namespace headway

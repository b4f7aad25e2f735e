#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/base/diagnostic.h"
#include "sim/files/json_value.h"
#include "sim/scenario/scenario.h"

namespace headway {

/// What a file holds.
struct ExplainedFile {
  std::string kind;    ///< "scenario", "topology", "node", "profile", "model"
  std::string about;   ///< one line, for lists
  JsonValue resolved;  ///< the explicit form, every default written out
};

/// Reads a file by what its "schema" says it is, with everything it refers to; "-" is standard
/// input and a scenario. A name that is no file is looked for in the data folders. Nothing, with
/// every problem in the diagnostics, if anything is wrong.
[[nodiscard]] std::optional<ExplainedFile> explained_file(const std::string& path,
                                                          const ScenarioOptions& options,
                                                          Diagnostics& diagnostics);

/// The values of "schema" that files may have.
[[nodiscard]] const std::vector<std::string>& known_schemas();

/// Problems of many files: what they share, a topology or a model, has its problems told once.
class ProblemsOnce {
 public:
  void append(const Diagnostics& found);
  [[nodiscard]] const std::vector<Diagnostic>& all() const { return all_; }

 private:
  std::vector<Diagnostic> all_;
  std::set<std::string> known_;
};

}  // namespace headway

#include "sim/import/import_notes.h"

#include <utility>

#include "sim/base/utf8.h"

namespace headway {

void ImportNotes::assume(std::string message) {
  assumptions_ += "; " + message;
  Diagnostic warning;
  warning.severity = Severity::warning;
  warning.message = std::move(message);
  diagnostics_.add(std::move(warning));
}

void ImportNotes::fail(std::string message, SourceLocation location, std::string help) {
  Diagnostic problem;
  problem.message = std::move(message);
  problem.location = std::move(location);
  problem.help = std::move(help);
  diagnostics_.add(std::move(problem));
}

std::string ImportNotes::source(std::string_view from) const {
  return printable(from) + assumptions_;
}

}  // namespace headway

#include "sim/base/diagnostic.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/base/limits.h"

namespace headway {
namespace {

/// What `what()` says: the first error in one line, for places that show no more than that.
std::string summary(const std::vector<Diagnostic>& diagnostics) {
  const auto error = std::find_if(
      diagnostics.begin(), diagnostics.end(),
      [](const Diagnostic& diagnostic) { return diagnostic.severity == Severity::error; });
  if (error == diagnostics.end()) return "the input is wrong";
  std::string text;
  const SourceLocation& location = error->location;
  if (!location.file.empty()) text += location.file + ":";
  if (location.line > 0) text += fmt::format("{}:{}:", location.line, location.column);
  if (!text.empty()) text += " ";
  text += error->message;
  const auto errors = std::count_if(
      diagnostics.begin(), diagnostics.end(),
      [](const Diagnostic& diagnostic) { return diagnostic.severity == Severity::error; });
  if (errors > 1) text += fmt::format(" (and {} more)", errors - 1);
  return text;
}

}  // namespace

void Diagnostics::add(Diagnostic diagnostic) {
  // What will only be counted need not keep its excerpt: a file may have a million problems.
  if (std::ssize(all_) >= limits().problems) {
    diagnostic = {.severity = diagnostic.severity,
                  .message = std::move(diagnostic.message),
                  .location = {.file = std::move(diagnostic.location.file),
                               .line = diagnostic.location.line,
                               .column = diagnostic.location.column}};
  }
  all_.push_back(std::move(diagnostic));
}

void Diagnostics::append(const Diagnostics& others) {
  const std::vector<Diagnostic> copies = others.all_;  // `others` may be this
  all_.insert(all_.end(), copies.begin(), copies.end());
}

std::size_t Diagnostics::errors() const {
  return static_cast<std::size_t>(std::ranges::count(all_, Severity::error, &Diagnostic::severity));
}

void Diagnostics::throw_if_errors() const {
  if (has_errors()) throw InputError(all_);
}

InputError::InputError(std::vector<Diagnostic> diagnostics)
    : std::runtime_error(summary(diagnostics)), diagnostics_(std::move(diagnostics)) {}

InputError::InputError(Diagnostic diagnostic)
    : InputError(std::vector<Diagnostic>{std::move(diagnostic)}) {}

namespace internal {

void check_failed(const char* condition, const char* file, int line, const std::string& message) {
  throw InternalError(fmt::format("{}:{}: {} ({} does not hold)", file, line, message, condition));
}

}  // namespace internal
}  // namespace headway

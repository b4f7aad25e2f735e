#pragma once

#include <string>
#include <utility>

#include "sim/base/diagnostic.h"

namespace headway {

/// Throws an InputError with one problem of what stands in no file: a command line, an argument, a
/// store.
[[noreturn]] inline void refuse(std::string message, std::string help = "") {
  Diagnostic problem;
  problem.message = std::move(message);
  problem.help = std::move(help);
  throw InputError(std::move(problem));
}

}  // namespace headway

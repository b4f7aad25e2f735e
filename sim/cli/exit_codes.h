#pragma once

#include <span>
#include <string_view>

namespace headway {

enum ExitCode : int {
  kExitDone = 0,
  kExitNegative = 1,
  kExitInput = 2,
  kExitEnvironment = 3,
  kExitBug = 70,           // EX_SOFTWARE of sysexits.h
  kExitInterrupted = 130,  // 128 + SIGINT, as shells have it
};

struct ExitCodeText {
  ExitCode code;
  std::string_view name;
  std::string_view meaning;
};

/// All of them, for help and `headway explain`.
[[nodiscard]] std::span<const ExitCodeText> exit_codes();

}  // namespace headway

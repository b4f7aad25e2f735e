#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "sim/base/units.h"

namespace headway {

/// This program's file and its command line, byte for byte.
[[nodiscard]] std::vector<std::string> own_command();

/// Starts a command, with variables added to its environment, that gets `end_signal` when this
/// process is gone. `input`, where it is a file, is its standard input from the beginning;
/// `inherited` stays open in it. Throws EnvironmentError.
struct ChildFiles {
  int input = -1;
  int inherited = -1;
};
[[nodiscard]] pid_t started(std::vector<std::string> command, int end_signal,
                            const std::vector<std::pair<std::string, std::string>>& variables = {},
                            ChildFiles files = {});

/// Runs this very command line once more as each of `count` ranks of this machine, and returns what
/// they end with: 0 where all do, else the code of the first that did not.
///
/// They meet at a port of the loopback interface that is open before any of them runs, and take for
/// one of theirs only who knows the secret of this run: 128 random bits that stand in their
/// environment. `input` is standard input to each of them. Signals are passed on to them. When one
/// has failed, the others have `deadline` and ten seconds to find out by themselves; then they are
/// killed.
[[nodiscard]] int run_as_ranks(int count, const std::string& input, Seconds deadline);

}  // namespace headway

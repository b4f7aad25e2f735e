#include "sim/cli/exit_codes.h"

namespace headway {
namespace {

constexpr ExitCodeText kExitCodes[] = {
    {kExitDone, "done", "the answer is on standard output"},
    {kExitNegative, "a negative answer",
     "does not fit in memory, goal not met, tolerance exceeded; the result says why"},
    {kExitInput, "wrong command line or input",
     "every problem is on standard error with its place; nothing ran"},
    {kExitEnvironment, "environment", "the machine refused something (no such device, disk full)"},
    {kExitBug, "a bug in Headway", "please report it with what was printed"},
    {kExitInterrupted, "interrupted", "by Ctrl-C; standard error names the command to start again"},
};

}  // namespace

std::span<const ExitCodeText> exit_codes() { return kExitCodes; }

}  // namespace headway

#pragma once

#include <string>

#include "sim/base/diagnostic.h"
#include "sim/result/replay.h"

namespace headway {

/// Runs the trace in a file again. Throws InputError with every problem of it.
[[nodiscard]] ReplayResult replay(const std::string& path);

}  // namespace headway

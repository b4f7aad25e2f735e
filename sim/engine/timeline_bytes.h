#pragma once

#include <string>

#include "sim/engine/folded_job.h"

namespace headway {

/// What an engine made as bytes, to pass between two processes of one program.
[[nodiscard]] std::string run_bytes(const EngineRun& run);
[[nodiscard]] EngineRun run_of_bytes(const std::string& bytes);

}  // namespace headway

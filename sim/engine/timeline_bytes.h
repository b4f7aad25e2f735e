#pragma once

#include <string>

#include "sim/engine/folded_job.h"
#include "sim/result/timeline.h"

namespace headway {

/// A timeline as bytes, to pass between two processes of one program.
[[nodiscard]] std::string timeline_bytes(const Timeline& timeline);
[[nodiscard]] Timeline timeline_of_bytes(const std::string& bytes);

/// The same of what an engine made.
[[nodiscard]] std::string run_bytes(const EngineRun& run);
[[nodiscard]] EngineRun run_of_bytes(const std::string& bytes);

}  // namespace headway

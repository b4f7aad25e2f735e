#pragma once

#include <string>

#include "sim/result/prediction.h"

namespace headway {

/// The sections of a Markdown report below its answer, each from its heading to a last newline.
[[nodiscard]] std::string time_section(const Prediction& prediction);
[[nodiscard]] std::string memory_section(const MemoryPrediction& memory);
[[nodiscard]] std::string critical_path_section(const Prediction& prediction);
[[nodiscard]] std::string links_section(const std::vector<LinkUse>& links);
[[nodiscard]] std::string reproduction_section(const Question& question);

}  // namespace headway

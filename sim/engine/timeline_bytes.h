#pragma once

#include <string>

#include "sim/result/timeline.h"

namespace headway {

/// A timeline as bytes, to pass between two processes of one program.
[[nodiscard]] std::string timeline_bytes(const Timeline& timeline);
[[nodiscard]] Timeline timeline_of_bytes(const std::string& bytes);

}  // namespace headway

#pragma once

#include <string>

#include "sim/result/prediction.h"

namespace headway {

/// What measured steps say of the software, and what they changed here: "lab took 5.3 s, 6.0 %
/// more than predicted: software times x 1.071; without it 8.2 s (7.1 .. 9.5)".
[[nodiscard]] std::string anchor_sentence(const AnchorEffect& anchor);

}  // namespace headway

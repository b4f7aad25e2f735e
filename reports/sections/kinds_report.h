#pragma once

#include <string>

#include "reports/document/document.h"
#include "sim/result/prediction.h"

namespace headway {

/// What each kind of accelerator of a job does, on the terminal.
[[nodiscard]] std::string kinds_text(const KindsUse& use);
/// The same in a document.
[[nodiscard]] DocumentSection kinds_section(const KindsUse& use);

}  // namespace headway

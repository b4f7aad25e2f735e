#pragma once

#include <string>
#include <vector>

#include "reports/document/document.h"
#include "sim/result/what_if.h"

namespace headway {

/// "stragglers cost 0.61 s of 6.94 s ..." without a full stop.
[[nodiscard]] std::string straggler_sentence(const WhatIf& what_if);

/// What was tried, as a section of the text report: lines that end with a blank one.
[[nodiscard]] std::string what_if_text(const WhatIf& what_if);

/// The same as a section of a document.
[[nodiscard]] DocumentSection what_if_section(const WhatIf& what_if);

}  // namespace headway

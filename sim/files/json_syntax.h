#pragma once

#include "sim/base/diagnostic.h"
#include "sim/base/source_text.h"

namespace headway {

/// Why a text is not JSON: the first thing in it that does not fit, what is wrong with it and how
/// to mend it. nlohmann's parser only says where it stopped. Requires a text that is not JSON,
/// nested as deep as the call stack bears.
[[nodiscard]] Diagnostic syntax_problem(const SourceText& source);

}  // namespace headway

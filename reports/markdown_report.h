#pragma once

#include <string>

#include "sim/result/prediction.h"

namespace headway {

/// A report to read and to paste into an issue or a wiki: the answer in three sentences and four
/// numbers, where the time goes, memory by cause, the critical path, the busiest links, what is not
/// modelled, and all that is needed to run it again.
///
/// Of the provenance, "command_line" (a text, or an array of arguments) is shown as a command,
/// every other member as rows of a table: a scalar as one, an array as one row an element, an
/// object with its scalars side by side.
[[nodiscard]] std::string markdown_report(const Prediction& prediction);

}  // namespace headway

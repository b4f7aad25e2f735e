#pragma once

#include <string>

#include "reports/document/document.h"
#include "sim/result/server_use.h"

namespace headway {

/// What parameter servers did, on the terminal.
[[nodiscard]] std::string server_text(const ServerUse& use);
/// The same in a document.
[[nodiscard]] DocumentSection server_section(const ServerUse& use);

}  // namespace headway

#pragma once

#include <string>

#include "sim/base/diagnostic.h"
#include "sim/import/import_format.h"

namespace headway {

/// What is said of an import. Nothing leaves an importer that could not be used: its JSON `text` is
/// read back as a user would, and what is wrong with it reported.
[[nodiscard]] std::string imported_summary(const std::string& text, const ImportFormat& format,
                                           Diagnostics& diagnostics);

}  // namespace headway

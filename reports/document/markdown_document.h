#pragma once

#include <string>

#include "reports/document/document.h"

namespace headway {

/// A document for an issue or a wiki: figures by their tables, heat maps as tables with the reasons
/// in words.
[[nodiscard]] std::string markdown_of(const Document& document);

}  // namespace headway

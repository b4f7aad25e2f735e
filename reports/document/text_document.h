#pragma once

#include <string>

#include "reports/document/document.h"

namespace headway {

/// A document for a terminal, 100 columns wide as far as tables allow: figures by their tables,
/// code that pages fold away left out.
[[nodiscard]] std::string text_of(const Document& document);

}  // namespace headway

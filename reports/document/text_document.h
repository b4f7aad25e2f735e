#pragma once

#include <string>

#include "reports/document/document.h"

namespace headway {

/// A document for a terminal, 100 columns wide as far as tables allow: figures by their tables,
/// code that pages fold away left out.
[[nodiscard]] std::string text_of(const Document& document);

/// An answer of a few blocks, for a terminal: without headings and key numbers, no line broken, so
/// that commands in it can be copied. Tables stand `indent` columns in.
[[nodiscard]] std::string brief_text_of(const Document& document, int indent = 2);

}  // namespace headway

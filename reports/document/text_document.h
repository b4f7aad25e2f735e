#pragma once

#include <cstddef>
#include <limits>
#include <string>

#include "reports/document/document.h"

namespace headway {

inline constexpr std::size_t kUnbroken = std::numeric_limits<std::size_t>::max() / 2;

/// A document for a terminal, up to 100 columns wide as far as its tables allow: figures by their
/// tables, code that pages fold away left out.
[[nodiscard]] std::string text_of(const Document& document, std::size_t columns = kUnbroken);

/// An answer of a few blocks, for a terminal: without headings and key numbers, no sentence broken,
/// so that commands in it can be copied. Tables stand `indent` columns in and keep to `columns`.
[[nodiscard]] std::string brief_text_of(const Document& document, std::size_t columns = kUnbroken,
                                        int indent = 2);

}  // namespace headway

#pragma once

#include <string>

#include "reports/document/document.h"

namespace headway {

/// A document as one HTML file that loads nothing (html_page.h): charts drawn by Chart.js with the
/// numbers as a table below each, which is all there is where scripts do not run or Chart.js was
/// left out of the build. Long tables are folded away.
[[nodiscard]] std::string html_of(const Document& document);

}  // namespace headway

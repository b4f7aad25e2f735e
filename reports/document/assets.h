#pragma once

#include <string_view>

namespace headway {

// Texts that stand in every HTML page. They are built in, so that a page can be written wherever
// the program runs.

[[nodiscard]] std::string_view page_style();    ///< assets/page.css
[[nodiscard]] std::string_view chart_script();  ///< assets/charts.js: draws the charts of a page
/// Chart.js with its licence note; empty where the build left it out.
[[nodiscard]] std::string_view chart_library();

}  // namespace headway

#pragma once

#include <string>
#include <string_view>

namespace headway {

/// `text` as HTML that shows exactly it; safe in attributes too.
[[nodiscard]] std::string escaped_html(std::string_view text);

/// A whole document around `body`: one file that loads nothing, for light and dark screens and for
/// paper.
[[nodiscard]] std::string html_page(std::string_view title, std::string_view body);

}  // namespace headway

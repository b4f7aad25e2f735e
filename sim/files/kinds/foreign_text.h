#pragma once

#include <cstddef>
#include <string_view>

namespace headway {

class JsonCursor;

/// What a text of another program is, told by how it begins.
struct ForeignText {
  std::string_view what;    ///< "the output of ibnetdiscover"
  std::string_view format;  ///< under which `headway import` reads it; empty if it does not
  std::string_view help;    ///< what to do with it; may be empty
  bool has_lines = true;    ///< false if no reader of lines should try
  bool is_json = false;     ///< what is wrong with it as JSON says more than what it is
};

/// How much of a text is looked at: `foreign_text` needs no more of it.
inline constexpr std::size_t kTextBeginning = std::size_t{16} * 1024;

/// What `beginning` is the beginning of; null if it is nothing that is known, or may be ours.
[[nodiscard]] const ForeignText* foreign_text(std::string_view beginning);

/// The same of a whole document, told by the names of its fields.
[[nodiscard]] const ForeignText* foreign_object(const JsonCursor& root);

}  // namespace headway

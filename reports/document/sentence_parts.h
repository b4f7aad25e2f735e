#pragma once

#include <string_view>
#include <vector>

namespace headway {

/// A part of a sentence; code is what stands between two backticks, without them.
struct SentencePart {
  std::string_view text;
  bool is_code = false;
};

/// The parts of a text, in order; none is empty. A backtick without another one is text like any
/// other. The text outlives them.
[[nodiscard]] std::vector<SentencePart> sentence_parts(std::string_view text);

}  // namespace headway

#include "sim/files/json_pointer.h"

namespace headway {
namespace {

std::string unescaped(std::string_view token) {
  std::string text;
  for (std::size_t i = 0; i < token.size(); ++i) {
    const bool is_escape = token[i] == '~' && i + 1 < token.size();
    if (is_escape && token[i + 1] == '1') {
      text += '/';
      ++i;
    } else if (is_escape && token[i + 1] == '0') {
      text += '~';
      ++i;
    } else {
      text += token[i];
    }
  }
  return text;
}

}  // namespace

std::string escaped_token(std::string_view token) {
  std::string escaped;
  for (const char c : token) {
    if (c == '~') {
      escaped += "~0";
    } else if (c == '/') {
      escaped += "~1";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

void append_token(std::string& pointer, std::string_view token) {
  pointer += '/';
  pointer += escaped_token(token);
}

std::vector<std::string> pointer_tokens(std::string_view pointer) {
  std::vector<std::string> tokens;
  while (!pointer.empty()) {
    pointer.remove_prefix(1);
    const std::size_t end = pointer.find('/');
    tokens.push_back(unescaped(pointer.substr(0, end)));
    pointer = end == std::string_view::npos ? std::string_view{} : pointer.substr(end);
  }
  return tokens;
}

std::string last_token(std::string_view pointer) {
  const std::size_t slash = pointer.rfind('/');
  return slash == std::string_view::npos ? "" : unescaped(pointer.substr(slash + 1));
}

bool is_at_or_below(std::string_view pointer, std::string_view prefix) {
  return pointer.starts_with(prefix) &&
         (pointer.size() == prefix.size() || pointer[prefix.size()] == '/');
}

}  // namespace headway

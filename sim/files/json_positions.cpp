#include "sim/files/json_positions.h"

#include <nlohmann/json.hpp>

#include "sim/files/json_pointer.h"

namespace headway {

JsonPositions::JsonPositions(std::string_view text) : text_(text) { scan_value({}); }

std::optional<JsonPositions::Entry> JsonPositions::find(const std::string& pointer) const {
  const auto found = entries_.find(pointer);
  if (found == entries_.end()) return std::nullopt;
  return found->second;
}

char JsonPositions::here() const { return position_ < text_.size() ? text_[position_] : '\0'; }

void JsonPositions::skip_blanks() {
  position_ = std::min(text_.find_first_not_of(" \t\r\n", position_), text_.size());
}

/// Of a key that comes twice the last value counts, as in the parsed document.
void JsonPositions::record(Entry entry) {
  const auto [place, is_new] = entries_.try_emplace(pointer_, entry);
  if (is_new) return;
  duplicates_.push_back({pointer_, place->second.key, entry.key});
  place->second = entry;
}

void JsonPositions::scan_value(Span key) {
  skip_blanks();
  const std::size_t begin = position_;
  if (here() == '{' || here() == '[') {
    const bool is_object = here() == '{';
    ++position_;
    record({{begin, position_}, key});
    if (is_object) {
      scan_object();
    } else {
      scan_array();
    }
  } else if (here() == '"') {
    record({scan_string(), key});
  } else {
    position_ = std::min(text_.find_first_of(" \t\r\n,]}", position_), text_.size());
    record({{begin, position_}, key});
  }
  skip_blanks();
}

void JsonPositions::scan_object() {
  const std::size_t parent = pointer_.size();
  skip_blanks();
  while (position_ < text_.size() && here() != '}') {
    const Span key = scan_string();
    const std::string_view quoted_key = text_.substr(key.begin, key.end - key.begin);
    append_token(pointer_, nlohmann::json::parse(quoted_key).get<std::string>());
    skip_blanks();
    ++position_;  // the colon
    scan_value(key);
    pointer_.resize(parent);
    if (here() == ',') ++position_;
    skip_blanks();
  }
  ++position_;
}

void JsonPositions::scan_array() {
  const std::size_t parent = pointer_.size();
  skip_blanks();
  for (std::size_t index = 0; position_ < text_.size() && here() != ']'; ++index) {
    append_token(pointer_, std::to_string(index));
    scan_value({});
    pointer_.resize(parent);
    if (here() == ',') ++position_;
  }
  ++position_;
}

JsonPositions::Span JsonPositions::scan_string() {
  const std::size_t begin = position_;
  ++position_;
  while (position_ < text_.size() && here() != '"') position_ += here() == '\\' ? 2 : 1;
  ++position_;
  return {begin, std::min(position_, text_.size())};
}

}  // namespace headway

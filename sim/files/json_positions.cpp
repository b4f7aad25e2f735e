#include "sim/files/json_positions.h"

#include <nlohmann/json.hpp>

#include "sim/files/json_pointer.h"

namespace headway {

JsonPositions::JsonPositions(std::string_view text) : text_(text) { scan_value(kRoot, {}, {}); }

std::optional<JsonPositions::Entry> JsonPositions::find(const std::string& pointer) const {
  std::uint32_t entry = kRoot;
  for (std::string& token : pointer_tokens(pointer)) {
    const auto child = children_.find({entry, std::move(token)});
    if (child == children_.end()) return std::nullopt;
    entry = child->second;
  }
  return entries_[entry];
}

std::string JsonPositions::pointer_to(std::uint32_t entry) const {
  std::vector<std::string_view> tokens;
  for (; entry != kRoot; entry = steps_[entry - 1]->first.first) {
    tokens.push_back(steps_[entry - 1]->first.second);
  }
  std::string pointer;
  for (auto token = tokens.rbegin(); token != tokens.rend(); ++token) append_token(pointer, *token);
  return pointer;
}

char JsonPositions::here() const { return position_ < text_.size() ? text_[position_] : '\0'; }

void JsonPositions::skip_blanks() {
  position_ = std::min(text_.find_first_not_of(" \t\r\n", position_), text_.size());
}

/// The entry, not yet with its value. Of a key that comes twice the last value counts, as in the
/// parsed document.
std::uint32_t JsonPositions::added(std::uint32_t parent, std::string token, Span key) {
  const auto entry = static_cast<std::uint32_t>(entries_.size());
  if (entry != kRoot) {
    const auto [place, is_new] = children_.try_emplace({parent, std::move(token)}, entry);
    if (!is_new) {
      duplicates_.push_back({place->second, entries_[place->second].key, key});
      return place->second;
    }
    steps_.push_back(place);
  }
  entries_.emplace_back();
  return entry;
}

void JsonPositions::scan_value(std::uint32_t parent, std::string token, Span key) {
  skip_blanks();
  const std::uint32_t entry = added(parent, std::move(token), key);
  const std::size_t begin = position_;
  if (here() == '{' || here() == '[') {
    const bool is_object = here() == '{';
    ++position_;
    entries_[entry] = {{begin, position_}, key};
    if (is_object) {
      scan_object(entry);
    } else {
      scan_array(entry);
    }
  } else if (here() == '"') {
    entries_[entry] = {scan_string(), key};
  } else {
    position_ = std::min(text_.find_first_of(" \t\r\n,]}", position_), text_.size());
    entries_[entry] = {{begin, position_}, key};
  }
  skip_blanks();
}

void JsonPositions::scan_object(std::uint32_t entry) {
  skip_blanks();
  while (position_ < text_.size() && here() != '}') {
    const Span key = scan_string();
    const std::string_view quoted_key = text_.substr(key.begin, key.end - key.begin);
    skip_blanks();
    ++position_;  // the colon
    scan_value(entry, nlohmann::json::parse(quoted_key).get<std::string>(), key);
    if (here() == ',') ++position_;
    skip_blanks();
  }
  ++position_;
}

void JsonPositions::scan_array(std::uint32_t entry) {
  skip_blanks();
  for (std::size_t index = 0; position_ < text_.size() && here() != ']'; ++index) {
    scan_value(entry, std::to_string(index), {});
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

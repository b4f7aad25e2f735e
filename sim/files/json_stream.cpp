#include "sim/files/json_stream.h"

#include <nlohmann/json.hpp>

namespace headway {
namespace {

constexpr int kStep = 2;

std::string dumped(const nlohmann::json& value, int indent) {
  return value.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

void JsonStream::member(std::string_view name, const nlohmann::json& value) {
  next();
  out_ << dumped(name, -1) << ": ";
  write(value);
}

void JsonStream::begin_object(std::string_view name) {
  next();
  out_ << dumped(name, -1) << ": ";
  open('{');
}

void JsonStream::begin_list(std::string_view name) {
  next();
  out_ << dumped(name, -1) << ": ";
  open('[');
}

void JsonStream::element(const nlohmann::json& value) {
  next();
  write(value);
}

void JsonStream::end() {
  const char bracket = closing_.back();
  closing_.pop_back();
  if (!is_empty_) out_ << '\n' << std::string(kStep * closing_.size(), ' ');
  out_ << bracket;
  is_empty_ = false;
}

void JsonStream::finish() {
  end();
  out_ << '\n';
}

void JsonStream::open(char bracket) {
  out_ << bracket;
  closing_ += bracket == '{' ? '}' : ']';
  is_empty_ = true;
}

void JsonStream::next() {
  out_ << (is_empty_ ? "\n" : ",\n") << std::string(kStep * closing_.size(), ' ');
  is_empty_ = false;
}

void JsonStream::write(const nlohmann::json& value) {
  // Line ends in texts are written as two characters: those that stand there are of the layout.
  const std::string text = dumped(value, kStep);
  std::size_t from = 0;
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', from)) {
    out_ << std::string_view(text).substr(from, end - from) << '\n'
         << std::string(kStep * closing_.size(), ' ');
    from = end + 1;
  }
  out_ << std::string_view(text).substr(from);
}

}  // namespace headway

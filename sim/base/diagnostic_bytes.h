#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "sim/base/byte_stream.h"
#include "sim/base/diagnostic.h"

namespace headway {

// Problems on their way to another process, with the places that are known of them: none where a
// process was handed what had been read.

inline void put_place(ByteWriter& bytes, const SourceLocation& place) {
  bytes.put(place.file);
  bytes.put(place.line);
  bytes.put(place.column);
  bytes.put(place.length);
  bytes.put(place.line_text);
}

inline void get_place(ByteReader& bytes, SourceLocation& place) {
  bytes.get(place.file);
  bytes.get(place.line);
  bytes.get(place.column);
  bytes.get(place.length);
  bytes.get(place.line_text);
}

[[nodiscard]] inline std::string bytes_of(const std::vector<Diagnostic>& problems) {
  ByteWriter bytes;
  bytes.put(problems.size());
  for (const Diagnostic& problem : problems) {
    bytes.put(problem.severity);
    put_place(bytes, problem.location);
    for (const std::string* text :
         {&problem.message, &problem.pointer, &problem.label, &problem.help}) {
      bytes.put(*text);
    }
    bytes.put(problem.related.size());
    for (const Diagnostic::Related& other : problem.related) {
      put_place(bytes, other.location);
      bytes.put(other.pointer);
      bytes.put(other.message);
    }
  }
  return bytes.take();
}

[[nodiscard]] inline std::vector<Diagnostic> problems_of(const std::string& written) {
  ByteReader bytes(written);
  std::size_t count = 0;
  bytes.get(count);
  std::vector<Diagnostic> problems(count);
  for (Diagnostic& problem : problems) {
    bytes.get(problem.severity);
    get_place(bytes, problem.location);
    for (std::string* text : {&problem.message, &problem.pointer, &problem.label, &problem.help}) {
      bytes.get(*text);
    }
    std::size_t others = 0;
    bytes.get(others);
    problem.related.resize(others);
    for (Diagnostic::Related& other : problem.related) {
      get_place(bytes, other.location);
      bytes.get(other.pointer);
      bytes.get(other.message);
    }
  }
  return problems;
}

}  // namespace headway

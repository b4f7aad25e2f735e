#pragma once

#include <unordered_map>

#include "sim/files/json_document.h"

namespace headway {

/// Which ports of a graph's vertices are taken. Those that the file names come first; the others
/// then get the lowest free ones.
class GraphPorts {
 public:
  /// Takes a port. If it is taken already, returns where it was named before; else null.
  [[nodiscard]] const JsonCursor* take(int vertex, int port, const JsonCursor& cursor) {
    const auto [place, is_new] = vertices_[vertex].named.try_emplace(port, cursor);
    return is_new ? nullptr : &place->second;
  }

  /// The named port, or the lowest free one if it is 0. Call after all have been taken.
  [[nodiscard]] int port(int vertex, int named) {
    if (named != 0) return named;
    Ports& ports = vertices_[vertex];
    ++ports.highest_given;
    while (ports.named.contains(ports.highest_given)) ++ports.highest_given;
    return ports.highest_given;
  }

 private:
  struct Ports {
    std::unordered_map<int, JsonCursor> named;
    int highest_given = 0;
  };
  std::unordered_map<int, Ports> vertices_;
};

}  // namespace headway

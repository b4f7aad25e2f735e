#pragma once

#include <cstdint>
#include <vector>

namespace headway {

/// The largest flow between two vertices of a network whose edges carry the same both ways or one
/// way only (E. A. Dinic, 1970). Capacities are whole numbers, so the answer is exact.
class MaxFlow {
 public:
  explicit MaxFlow(int vertices);

  /// What the edge carries from `a` to `b`, and from `b` to `a`.
  void add_edge(int a, int b, std::int64_t forward, std::int64_t backward);

  /// Uses the network up: call once. Requires source != sink.
  [[nodiscard]] std::int64_t flow(int source, int sink);

 private:
  struct Edge {
    int to = 0;
    std::int64_t left = 0;
  };
  [[nodiscard]] bool find_levels(int source, int sink);
  /// Sends flow along one path of rising levels; 0 if there is none left.
  [[nodiscard]] std::int64_t send_along_path(int source, int sink);

  std::vector<Edge> edges_;  ///< the two directions of an edge are neighbours
  std::vector<std::vector<int>> out_;
  std::vector<int> level_;
  std::vector<std::size_t> next_;
};

}  // namespace headway

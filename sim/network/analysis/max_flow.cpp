#include "sim/network/analysis/max_flow.h"

#include <algorithm>
#include <limits>

#include "sim/base/index.h"

namespace headway {
MaxFlow::MaxFlow(int vertices)
    : out_(index(vertices)), level_(index(vertices)), next_(index(vertices)) {}

void MaxFlow::add_edge(int a, int b, std::int64_t forward, std::int64_t backward) {
  out_[index(a)].push_back(static_cast<int>(edges_.size()));
  edges_.push_back({.to = b, .left = forward});
  out_[index(b)].push_back(static_cast<int>(edges_.size()));
  edges_.push_back({.to = a, .left = backward});
}

std::int64_t MaxFlow::flow(int source, int sink) {
  std::int64_t total = 0;
  while (find_levels(source, sink)) {
    std::ranges::fill(next_, 0);
    while (const std::int64_t sent = send_along_path(source, sink)) total += sent;
  }
  return total;
}

bool MaxFlow::find_levels(int source, int sink) {
  std::ranges::fill(level_, -1);
  level_[index(source)] = 0;
  std::vector<int> queue = {source};
  for (std::size_t i = 0; i < queue.size(); ++i) {
    for (const int number : out_[index(queue[i])]) {
      const Edge& edge = edges_[index(number)];
      if (edge.left == 0 || level_[index(edge.to)] != -1) continue;
      level_[index(edge.to)] = level_[index(queue[i])] + 1;
      queue.push_back(edge.to);
    }
  }
  return level_[index(sink)] != -1;
}

std::int64_t MaxFlow::send_along_path(int source, int sink) {
  std::vector<int> path;
  int at = source;
  while (at != sink) {
    std::size_t& next = next_[index(at)];
    const std::vector<int>& out = out_[index(at)];
    const auto leads_on = [&](int number) {
      const Edge& edge = edges_[index(number)];
      return edge.left > 0 && level_[index(edge.to)] == level_[index(at)] + 1;
    };
    while (next < out.size() && !leads_on(out[next])) ++next;
    if (next < out.size()) {
      path.push_back(out[next]);
      at = edges_[index(out[next])].to;
    } else if (path.empty()) {
      return 0;
    } else {  // a dead end: back, and past the edge that led here
      at = edges_[index(path.back()) ^ 1U].to;
      path.pop_back();
      ++next_[index(at)];
    }
  }
  std::int64_t amount = std::numeric_limits<std::int64_t>::max();
  for (const int number : path) amount = std::min(amount, edges_[index(number)].left);
  for (const int number : path) {
    edges_[index(number)].left -= amount;
    edges_[index(number) ^ 1U].left += amount;
  }
  return amount;
}

}  // namespace headway

#pragma once

#include <numeric>
#include <vector>

namespace headway {

/// Groups of the numbers from 0 on that are joined directly or through others.
class UnionFind {
 public:
  explicit UnionFind(int size) : parent_(static_cast<std::size_t>(size)) {
    std::iota(parent_.begin(), parent_.end(), 0);
  }

  /// The same for all members of a group, and a member of it.
  [[nodiscard]] int group(int member) {
    while (at(member) != member) {
      at(member) = at(at(member));
      member = at(member);
    }
    return member;
  }
  void join(int a, int b) { at(group(a)) = group(b); }

 private:
  [[nodiscard]] int& at(int member) { return parent_[static_cast<std::size_t>(member)]; }

  std::vector<int> parent_;
};

}  // namespace headway

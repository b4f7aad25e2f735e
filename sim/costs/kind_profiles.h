#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "sim/costs/profile.h"

namespace headway {

/// The profiles of a job's accelerators by kind of node, as `Cluster::kind_of` counts them. A
/// single profile is that of all kinds. Refers to the profiles; whoever has them outlives it.
class KindProfiles {
 public:
  KindProfiles(const Profile& of_all) : of_kinds_{&of_all} {}  // a profile is one for all
  /// Requires one for each kind.
  explicit KindProfiles(std::vector<const Profile*> of_kinds) : of_kinds_(std::move(of_kinds)) {}

  [[nodiscard]] const Profile& of(int kind) const {
    return *of_kinds_[std::min(static_cast<std::size_t>(kind), of_kinds_.size() - 1)];
  }

  /// The largest of a number over all kinds.
  template <class Number>
  [[nodiscard]] double largest(Number number) const {
    double largest = number(*of_kinds_.front());
    for (const Profile* profile : of_kinds_) largest = std::max(largest, number(*profile));
    return largest;
  }
  /// The smallest.
  template <class Number>
  [[nodiscard]] double smallest(Number number) const {
    return -largest([&](const Profile& profile) { return -number(profile); });
  }

 private:
  std::vector<const Profile*> of_kinds_;
};

}  // namespace headway

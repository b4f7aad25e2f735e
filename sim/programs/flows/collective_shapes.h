#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/programs/flows/plan_builder.h"

namespace headway {

/// The members of a group by the scale-up domain that they share, in the order in which domains
/// first appear.
class Domains {
 public:
  Domains(const Cluster& cluster, std::span<const std::int32_t> members);

  [[nodiscard]] std::size_t size() const { return first_.size() - 1; }
  [[nodiscard]] std::span<const std::int32_t> operator[](std::size_t domain) const {
    return std::span(members_).subspan(first_[domain], first_[domain + 1] - first_[domain]);
  }
  /// Members of the domain that has most, or fewest.
  [[nodiscard]] std::size_t largest() const { return largest_; }
  [[nodiscard]] std::size_t smallest() const { return smallest_; }

 private:
  std::vector<std::int32_t> members_;  ///< domain after domain
  std::vector<std::size_t> first_;     ///< of each domain, in members_; and their end
  std::size_t largest_ = 0;
  std::size_t smallest_ = 0;
};

/// Lays one group's collective over domains, rails and the fabric (`collective_plan` says how) and
/// returns its latency: that of all its steps, one after the other. Requires two members or more,
/// in these domains, and an algorithm that the kind has.
[[nodiscard]] Seconds add_collective(PlanBuilder& builder, const Cluster& cluster,
                                     const NetworkCosts& costs, CollectiveKind kind,
                                     CollectiveAlgorithm algorithm,
                                     const std::vector<std::int32_t>& members,
                                     const Domains& domains);

}  // namespace headway

#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "sim/engine/link_usage.h"
#include "sim/programs/perturbation/perturbation.h"
#include "sim/programs/workload.h"

namespace headway {

/// What nothing tells apart has the same colour. 64 bits: of a million colours two that differ come
/// out equal once in ten million jobs.
using Colour = std::uint64_t;

/// Colours of rank groups, communicators and links of a job in which nothing is drawn, from their
/// programs, devices and capacities on. What is referred to outlives the object.
class JobColours {
 public:
  JobColours(const Workload& workload, const LinkUsage& usage, const Perturbation& perturbation);

  /// Refines them until members of a class have as many neighbours of every class, by the same
  /// operations and weights. False as soon as more than `most` groups are told apart.
  bool refine(std::size_t most);

  [[nodiscard]] const std::vector<Colour>& groups() const { return groups_; }
  [[nodiscard]] const std::vector<Colour>& communicators() const { return communicators_; }
  [[nodiscard]] const std::vector<Colour>& links() const { return links_; }
  /// How many plans of each communicator somebody asks for.
  [[nodiscard]] const std::vector<std::int32_t>& ways() const { return ways_; }

 private:
  void refine_once();
  void refine_links();
  void refine_communicators();
  void refine_groups();
  [[nodiscard]] Colour colour_of_plan(std::int32_t plan) const;

  const Workload& workload_;
  const LinkUsage& usage_;
  std::vector<std::set<std::int32_t>> peers_;  ///< that each program sends to
  std::vector<std::int32_t> ways_;
  std::vector<Colour> groups_;
  std::vector<Colour> communicators_;
  std::vector<Colour> links_;
};

}  // namespace headway

#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/files/json_reader.h"
#include "sim/scenario/scenario.h"

namespace headway {

/// A cluster that a scenario may be run on: parts of a scenario that replace the file's own, or
/// change single fields of them.
struct CandidateCluster {
  enum class Delivery { domain, unit, nodes };
  std::string name;
  Delivery delivery = Delivery::domain;  ///< what is delivered at a time: whole scale-up domains,
                                         ///< units of the fabric, or so many nodes
  int nodes = 1;                         ///< of a delivery by nodes
};
/// A number of nodes is written as such.
template <>
inline constexpr Word<CandidateCluster::Delivery> kWords<CandidateCluster::Delivery>[] = {
    {"domain", CandidateCluster::Delivery::domain}, {"unit", CandidateCluster::Delivery::unit}};

/// What of a scenario speaks to `headway plan` alone.
struct PlanFields {
  std::optional<std::string> goal;
  Diagnostic goal_place;                    ///< a problem without a message, where the goal stands
  std::optional<Diagnostic> post_training;  ///< the same of it, if there is one
  std::vector<CandidateCluster> candidates;
};

/// Reads them. Nothing of a file that cannot be opened: `read_scenario` says why.
[[nodiscard]] PlanFields read_plan_fields(const std::string& path, const ScenarioOptions& options,
                                          Diagnostics& diagnostics);

/// The overrides that make the scenario that of the candidate that its "candidate" names, or of the
/// first, then those of one entry of each list of its "alternatives", by the names of the lists,
/// which "choose" names likewise, and the given ones after them; those alone where there is nothing
/// to choose from. Problems of the lists go into the diagnostics.
[[nodiscard]] std::vector<Override> with_candidate(const std::string& path,
                                                   std::vector<Override> overrides,
                                                   const std::shared_ptr<ReadMemory>& memory,
                                                   Diagnostics& diagnostics);

/// Reports choices that cannot be made. What their lists hold was read when one of each was chosen.
void check_choices(ObjectReader& reader);
/// A resolved scenario is what was chosen.
void erase_choices(nlohmann::json& resolved);

/// Nodes that are delivered together on the cluster of a scenario that was read as this candidate.
[[nodiscard]] int delivered_nodes(const CandidateCluster& candidate, const Scenario& scenario);

}  // namespace headway

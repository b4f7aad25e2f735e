#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "sim/programs/perturbation/perturbation.h"
#include "sim/scenario/scenario.h"

namespace headway {

/// Whether the topology has faults.
[[nodiscard]] bool has_faults(const Scenario& scenario);

/// What is left of a job's slowness once some of its cables are as they should be.
struct MendedLinks {
  Perturbation perturbation;
  std::shared_ptr<const Cluster> cluster;  ///< nullptr: the scenario's
};

/// Cables that are slow or down: the slow links of a scenario, and the faults of its topology. What
/// is plugged into a node goes with it: a spare has NICs and cables of its own.
class BadLinks {
 public:
  /// Both outlive this.
  BadLinks(const Scenario& scenario, const Perturbation& drawn);

  /// How many times slower than it should be the worst cable of a node's NICs is; only nodes of
  /// which one is. One that is down counts as half: another NIC carries its load beside its own.
  [[nodiscard]] const std::map<int, double>& nodes() const { return nodes_; }
  [[nodiscard]] bool none() const { return slow_.empty() && !has_faults(); }
  [[nodiscard]] bool has_faults() const { return sound_ != nullptr; }

  /// The cables that slow links name, by their numbers, and how many times slower each is.
  [[nodiscard]] const std::map<LinkId, double>& slow_cables() const { return slow_; }
  /// "cable of node2/nic3", "cable leaf/unit0/rail3 - spine/5".
  [[nodiscard]] std::string cable_name(LinkId cable) const;
  /// What all of them are: "cable of node2/nic3", "3 slow cables and 2 faults of the fabric".
  [[nodiscard]] std::string names() const;

  [[nodiscard]] MendedLinks all_mended() const;
  /// `left` without the slow link that a cable is.
  [[nodiscard]] Perturbation without_cable(LinkId cable) const;
  /// `left` with new NICs and cables at these nodes.
  [[nodiscard]] MendedLinks with_new_nodes(Perturbation left, const std::set<int>& nodes) const;

 private:
  [[nodiscard]] bool is_of(LinkId link, const std::set<int>& nodes) const;
  /// Whether a fault is one of the NICs or cables of these nodes.
  [[nodiscard]] bool names_one_of(const nlohmann::json& fault, const std::set<int>& nodes) const;

  const Scenario& scenario_;
  const Perturbation& drawn_;
  std::shared_ptr<const Cluster> sound_;  ///< without faults; nullptr: there are none
  std::map<VertexId, int> node_of_port_;
  std::map<LinkId, double> slow_;
  std::map<int, double> nodes_;
  mutable std::map<std::set<std::size_t>, std::shared_ptr<const Cluster>>
      clusters_;  ///< by faults left
};

}  // namespace headway

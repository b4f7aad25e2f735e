#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "sim/base/utf8.h"
#include "sim/import/import_draft.h"
#include "sim/import/node_domains.h"
#include "sim/import/slurm/slurm_fabric.h"

namespace headway {

Importer import_slurm;

namespace {

/// A switch while hosts are counted.
struct Place {
  std::vector<std::string> parents;
  double hosts = 0.0;  ///< below it, on all tiers; those of a mesh shared out to all above
  int height = 1;      ///< tiers of switches from it down, itself included
  int waits_for = 0;   ///< switches below it that are not counted
  int vertex = -1;
};

/// Turns the lists into cables.
class SlurmTree {
 public:
  SlurmTree(const std::map<std::string, SlurmSwitch>& switches, const ImportRequest& request,
            ImportDraft& draft)
      : switches_(switches), request_(request), draft_(draft) {}

  /// Finds every switch's parents and counts hosts from the bottom up; false if some switch is not
  /// described or below itself.
  bool count() {
    bool is_sound = true;
    for (const auto& [name, parent] : switches_) {
      places_[name];
      if (std::set(parent.nodes.begin(), parent.nodes.end()).size() < parent.nodes.size()) {
        draft_.fail(fmt::format("{} has a node twice", in_quotes(name)), parent.location,
                    "name each node once");
        is_sound = false;
      }
      for (const std::string& child : parent.switches) {
        if (switches_.contains(child)) {
          places_[child].parents.push_back(name);
          ++places_[name].waits_for;
          continue;
        }
        draft_.fail(fmt::format("no line describes the switch {}", in_quotes(child)),
                    parent.location,
                    fmt::format("add it: SwitchName={} Nodes=..., or is the file cut off?", child));
        is_sound = false;
      }
    }
    return is_sound && count_hosts();
  }

  void add(BytesPerSecond bandwidth) {
    for (auto& [name, place] : places_) place.vertex = draft_.add_switch(name);
    add_hosts(bandwidth);
    const int nics = request_.nics.value_or(1);
    const double shrink = request_.oversubscription.value_or(1.0);
    const auto up = [&](const Place& place) {
      return place.hosts * nics / std::pow(shrink, place.height) * bandwidth;
    };
    std::vector<const Place*> roots;
    int meshed = 0;
    for (const auto& [name, place] : places_) {
      if (place.parents.empty()) roots.push_back(&place);
      meshed += place.parents.size() > 1 ? 1 : 0;
      for (const std::string& parent : place.parents) {
        draft_.add_cable({.a = place.vertex,
                          .b = places_.at(parent).vertex,
                          .bandwidth = up(place) / static_cast<double>(place.parents.size())});
      }
    }
    if (meshed > 0) {
      draft_.assume(fmt::format(
          "switches below several others, to which they are taken to be cabled alike: {}", meshed));
    }
    if (roots.size() < 2) return;
    // Slurm never runs a job over several trees; cables between them are none of its business.
    const int join = draft_.add_switch("above all trees");
    for (const Place* root : roots) {
      draft_.add_cable({.a = root->vertex, .b = join, .bandwidth = up(*root)});
    }
    draft_.assume(
        fmt::format("{} trees have nothing in common: a switch above all is taken", roots.size()));
  }

 private:
  /// A node below several switches has a NIC on each: rails.
  void add_hosts(BytesPerSecond bandwidth) {
    std::map<std::string, int> nics_of;
    for (const auto& [name, entry] : switches_) {
      for (const std::string& node : entry.nodes) {
        for (int nic = 0; nic < request_.nics.value_or(1); ++nic) {
          const int endpoint =
              draft_.add_endpoint(fmt::format("{}/nic{}", node, nics_of[node]++), node);
          draft_.add_cable({.a = endpoint, .b = places_.at(name).vertex, .bandwidth = bandwidth});
        }
      }
    }
  }

  bool count_hosts() {
    std::vector<std::string> ready;
    for (const auto& [name, place] : places_) {
      if (place.waits_for == 0) ready.push_back(name);
    }
    for (std::size_t i = 0; i < ready.size(); ++i) {
      const std::string name = ready[i];
      Place& place = places_.at(name);
      place.hosts += static_cast<double>(switches_.at(name).nodes.size());
      for (const std::string& parent_name : place.parents) {
        Place& parent = places_.at(parent_name);
        parent.hosts += place.hosts / static_cast<double>(place.parents.size());
        parent.height = std::max(parent.height, place.height + 1);
        if (--parent.waits_for == 0) ready.push_back(parent_name);
      }
    }
    for (const auto& [name, place] : places_) {
      if (place.waits_for <= 0) continue;
      draft_.fail(fmt::format("{} is below itself", in_quotes(name)), switches_.at(name).location,
                  "switches form a tree: none may lead back to one above it");
      return false;
    }
    return true;
  }

  const std::map<std::string, SlurmSwitch>& switches_;
  const ImportRequest& request_;
  ImportDraft& draft_;
  std::map<std::string, Place> places_;
};

/// Nobody says how blocks are cabled: they get one switch that has room for all.
std::map<std::string, SlurmSwitch> switch_of_all(const SlurmFabric& fabric, ImportDraft& draft) {
  SlurmSwitch all;
  for (const auto& [node, block] : fabric.block_of_node) all.nodes.push_back(node);
  draft.assume("blocks do not say how they are cabled: one switch of all nodes is taken");
  return {{"all", std::move(all)}};
}

}  // namespace

/// What Slurm knows of a cluster: which nodes are below which switches, and which are in a block.
/// The cables between two switches become one, as wide as all hosts below it, divided by the
/// oversubscription once for each tier below. Blocks are scale-up domains.
std::optional<nlohmann::json> import_slurm(const ImportRequest& request, Diagnostics& diagnostics) {
  Diagnostics problems;
  SlurmFabric fabric;
  SlurmReader reader(fabric, problems);
  for (const std::string& path : request.paths) reader.read(path);
  nlohmann::json topology;
  if (!problems.has_errors()) {
    ImportDraft draft(request, problems);
    if (fabric.switches.empty() && fabric.block_of_node.empty()) {
      draft.fail("the file describes neither a switch nor a block", {.file = request.paths.front()},
                 "give topology.conf or topology.yaml; a line is SwitchName=leaf1 Nodes=node[1-8]");
    } else if (fabric.switches.empty()) {
      fabric.switches = switch_of_all(fabric, draft);
    }
    SlurmTree tree(fabric.switches, request, draft);
    if (!problems.has_errors() && tree.count()) {
      const BytesPerSecond bandwidth =
          draft.untold_bandwidth("topology.conf tells no rate in a known unit");
      if (!request.nics) draft.assume("NICs are not in the file: one for each node is taken");
      if (!request.oversubscription) {
        draft.assume(
            "how many cables join two switches is not in the file: as many as the hosts below "
            "need are taken; --oversubscription takes fewer");
      }
      if (fabric.has_speeds) draft.assume("LinkSpeed has no unit and is not used");
      tree.add(bandwidth);
      topology = draft.topology("Slurm's " + request.paths.front());
      apply_domains(fabric.block_of_node, topology, problems);
    }
  }
  diagnostics.append(problems);
  if (problems.has_errors()) return std::nullopt;
  return topology;
}

}  // namespace headway

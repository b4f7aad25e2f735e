#include "sim/predict/what_if/bad_links.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/predict/what_if/changed_topology.h"

namespace headway {
namespace {

/// A NIC carries the load of one that is down beside its own.
constexpr double kSlownessOfDown = 2.0;
/// Of a link that carries nothing for a while.
constexpr double kSlownessOfPaused = 1000.0;

const nlohmann::json& faults_of(const Scenario& scenario) {
  static const nlohmann::json kNone = nlohmann::json::array();
  if (scenario.resolved->is_null()) return kNone;  // the job of a published row stands in no file
  const nlohmann::json& topology = scenario.resolved->at("cluster").at("topology");
  return topology.contains("faults") ? topology.at("faults") : kNone;
}

LinkId cable_of(LinkId link) { return link / 2; }

std::string counted(std::size_t count, const char* one, const char* several) {
  return count == 1 ? fmt::format("1 {}", one) : fmt::format("{} {}", count, several);
}

}  // namespace

bool has_faults(const Scenario& scenario) { return !faults_of(scenario).empty(); }

BadLinks::BadLinks(const Scenario& scenario, const Perturbation& drawn)
    : scenario_(scenario), drawn_(drawn) {
  if (!faults_of(scenario).empty()) {
    sound_ = cluster_with(scenario, [](nlohmann::json& topology) { topology.erase("faults"); });
  }
  const Cluster& sound = sound_ ? *sound_ : *scenario.cluster;
  for (std::size_t i = 0; i < sound.endpoints.size(); ++i) {
    node_of_port_.emplace(sound.endpoints[i], static_cast<int>(i) / sound.node_type.nics);
  }
  const auto worse = [](double& known, double slowness) { known = std::max(known, slowness); };
  for (const LinkEpisode& episode : drawn.link_episodes) {
    if (episode.bandwidth_factor >= 1.0) continue;
    const double slowness = std::min(1.0 / episode.bandwidth_factor, kSlownessOfPaused);
    worse(slow_[cable_of(episode.link)], slowness);
    for (const VertexId end :
         {sound.topology.link(episode.link).from, sound.topology.link(episode.link).to}) {
      const auto port = node_of_port_.find(end);
      if (port != node_of_port_.end()) worse(nodes_[port->second], slowness);
    }
  }
  if (!sound_) return;
  const Topology& real = scenario.cluster->topology;
  for (const auto& [port, node] : node_of_port_) {
    for (const LinkId link : sound.topology.links_from(port)) {
      const double slowness = real.is_up(link)
                                  ? sound.topology.link(link).capacity / real.link(link).capacity
                                  : kSlownessOfDown;
      if (slowness > 1.0) worse(nodes_[node], slowness);
    }
  }
}

std::string BadLinks::cable_name(LinkId cable) const {
  const Topology& topology = scenario_.cluster->topology;
  const Link& link = topology.link(2 * cable);
  for (const VertexId end : {link.from, link.to}) {
    if (node_of_port_.contains(end)) return fmt::format("cable of {}", topology.name(end));
  }
  return fmt::format("cable {} - {}", topology.name(link.from), topology.name(link.to));
}

std::string BadLinks::names() const {
  const nlohmann::json& faults = faults_of(scenario_);
  if (faults.empty() && slow_.size() == 1) return cable_name(slow_.begin()->first);
  const std::string of_faults =
      counted(faults.size(), "fault of the fabric", "faults of the fabric");
  if (slow_.empty()) return of_faults;
  const std::string of_cables = counted(slow_.size(), "slow cable", "slow cables");
  return faults.empty() ? of_cables : of_cables + " and " + of_faults;
}

MendedLinks BadLinks::all_mended() const {
  MendedLinks mended{drawn_, sound_};
  mended.perturbation.link_episodes.clear();
  return mended;
}

Perturbation BadLinks::without_cable(LinkId cable) const {
  Perturbation left = drawn_;
  std::erase_if(left.link_episodes,
                [&](const LinkEpisode& episode) { return cable_of(episode.link) == cable; });
  return left;
}

MendedLinks BadLinks::with_new_nodes(Perturbation left, const std::set<int>& nodes) const {
  std::erase_if(left.link_episodes,
                [&](const LinkEpisode& episode) { return is_of(episode.link, nodes); });
  MendedLinks mended{std::move(left), nullptr};
  const nlohmann::json& faults = faults_of(scenario_);
  std::set<std::size_t> stay;
  for (std::size_t i = 0; i < faults.size(); ++i) {
    if (!names_one_of(faults[i], nodes)) stay.insert(i);
  }
  if (stay.size() == faults.size()) return mended;
  std::shared_ptr<const Cluster>& known = clusters_[stay];
  if (!known) {
    known = stay.empty() ? sound_ : cluster_with(scenario_, [&](nlohmann::json& topology) {
      nlohmann::json left_faults = nlohmann::json::array();
      for (const std::size_t i : stay) left_faults.push_back(faults[i]);
      topology["faults"] = std::move(left_faults);
    });
  }
  mended.cluster = known;
  return mended;
}

bool BadLinks::is_of(LinkId link, const std::set<int>& nodes) const {
  const Link& ends = scenario_.cluster->topology.link(link);
  return std::ranges::any_of(std::array{ends.from, ends.to}, [&](VertexId end) {
    const auto port = node_of_port_.find(end);
    return port != node_of_port_.end() && nodes.contains(port->second);
  });
}

bool BadLinks::names_one_of(const nlohmann::json& fault, const std::set<int>& nodes) const {
  const auto is_port = [&](const nlohmann::json& name) {
    const auto port = node_of_port_.find(scenario_.cluster->topology.find(name.get<std::string>()));
    return port != node_of_port_.end() && nodes.contains(port->second);
  };
  if (fault.contains("nic")) return is_port(fault.at("nic"));
  return fault.contains("cable") && std::ranges::any_of(fault.at("cable"), is_port);
}

}  // namespace headway

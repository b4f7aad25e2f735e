#include "sim/import/lldp/lldp_neighbours.h"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string_view>

namespace headway {
namespace {

bool begins_with_any(const std::string& text, std::initializer_list<std::string_view> starts) {
  return std::ranges::any_of(starts,
                             [&](std::string_view start) { return text.starts_with(start); });
}

/// As Cumulus, SONiC, Arista, Cisco, Junos and Dell name their ports.
bool is_switch_port(const std::string& name) {
  return begins_with_any(name, {"swp", "Ethernet", "Eth", "et-", "xe-", "ge-", "GigabitEthernet",
                                "TenGig", "TwentyFiveGig", "FortyGig", "fortyGig", "HundredGig",
                                "TwoHundredGig", "FourHundredGig"});
}

/// As Linux names them.
bool is_host_port(const std::string& name) {
  return begins_with_any(name, {"en", "eth", "ib", "mlx", "bond", "hsn"});
}

/// "06:99:6f:d2:6e:af"
bool is_address(const std::string& text) {
  constexpr std::size_t kLength = 17;
  if (text.size() != kLength) return false;
  for (std::size_t i = 0; i < kLength; ++i) {
    const bool fits = i % 3 == 2 ? text[i] == ':' || text[i] == '-'
                                 : std::isxdigit(static_cast<unsigned char>(text[i])) != 0;
    if (!fits) return false;
  }
  return true;
}

}  // namespace

void LldpNeighbours::add(const LldpPort& near, LldpPort far, const std::string& chassis,
                         bool forwards) {
  if (!chassis.empty() && !is_address(far.device)) name_of_chassis_.emplace(chassis, far.device);
  sightings_.push_back({.near = near, .far = std::move(far), .far_forwards = forwards});
}

void LldpNeighbours::name_devices() {
  for (Sighting& sighting : sightings_) {
    const auto named = name_of_chassis_.find(sighting.far.device);
    if (named != name_of_chassis_.end()) sighting.far.device = named->second;
  }
  // A file may carry more than its device's name: "gpu03.one-port-down".
  std::set<std::string> seen;
  for (const Sighting& sighting : sightings_) seen.insert(sighting.far.device);
  for (auto& [near, far, forwards] : sightings_) {
    if (seen.contains(near.device)) continue;
    const std::string first = near.device.substr(0, near.device.find('.'));
    if (seen.contains(first)) near.device = first;
  }
}

/// A port that somebody else knows by its address only is the one that its own device names.
void LldpNeighbours::name_ports() {
  std::map<LldpPort, LldpPort> sees;
  for (const Sighting& sighting : sightings_) sees.emplace(sighting.near, sighting.far);
  std::map<LldpPort, LldpPort> alias;
  for (const Sighting& sighting : sightings_) {
    const auto back = sees.find(sighting.far);
    if (back == sees.end() || back->second.device != sighting.near.device) continue;
    if (is_address(back->second.name)) alias.emplace(back->second, sighting.near);
  }
  for (Sighting& sighting : sightings_) {
    const auto named = alias.find(sighting.far);
    if (named != alias.end()) sighting.far = named->second;
  }
}

void LldpNeighbours::finish() {
  name_devices();
  name_ports();
  std::map<LldpPort, LldpPort> peer_of;
  for (const auto& [near, far, forwards] : sightings_) {
    note(near);
    note(far);
    devices_[far.device].says_it_forwards |= forwards;
    const auto known = peer_of.find(near);
    const auto back = peer_of.find(far);
    if ((known != peer_of.end() && known->second == far) ||
        (back != peer_of.end() && back->second == near)) {
      continue;  // seen from the other end already
    }
    if (near.device == far.device) {
      ++loops_;
    } else if (known != peer_of.end() || back != peer_of.end()) {
      ++contradictions_;
    } else {
      peer_of[near] = far;
      peer_of[far] = near;
      cables_.emplace_back(near, far);
    }
  }
}

void LldpNeighbours::note(const LldpPort& port) {
  Device& device = devices_[port.device];
  device.has_switch_port |= is_switch_port(port.name);
  device.has_host_port |= is_host_port(port.name);
}

}  // namespace headway

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "sim/files/json_document.h"
#include "sim/import/import_draft.h"

namespace headway {

Importer import_lldp;

namespace {

/// A port of a device, as the device itself calls it.
struct Port {
  std::string device;
  std::string name;
  friend auto operator<=>(const Port&, const Port&) = default;
};

struct Device {
  bool has_switch_port = false;
  bool has_host_port = false;
  bool says_it_forwards = false;  ///< capability Bridge or Router, enabled
  [[nodiscard]] bool is_switch() const {
    // Linux hosts with containers or virtual machines announce a bridge too, so names come first.
    return has_switch_port || (says_it_forwards && !has_host_port);
  }
};

bool begins_with_any(const std::string& text, std::initializer_list<std::string_view> starts) {
  return std::ranges::any_of(starts,
                             [&](std::string_view start) { return text.starts_with(start); });
}

/// As Cumulus, SONiC, Arista, Cisco and Junos name their ports.
bool is_switch_port(const std::string& name) {
  return begins_with_any(
      name, {"swp", "Ethernet", "Eth", "et-", "xe-", "ge-", "GigabitEthernet", "TenGig",
             "TwentyFiveGig", "FortyGig", "HundredGig", "TwoHundredGig", "FourHundredGig"});
}

/// As Linux names them.
bool is_host_port(const std::string& name) {
  return begins_with_any(name, {"en", "eth", "ib", "mlx", "bond", "hsn"});
}

/// Member `key`; of a list, which `-f json0` makes of everything, the first element.
std::optional<JsonCursor> member_of(const JsonCursor& object, std::string_view key) {
  auto member = object.member(key);
  if (!member || !member->value().is_array()) return member;
  if (member->value().empty()) return std::nullopt;
  return member->element(0);
}

/// A text, or the text in {"value": ...}; empty if it is neither.
std::string text_of(const std::optional<JsonCursor>& cursor) {
  if (!cursor) return "";
  if (cursor->value().is_string()) return cursor->value().get<std::string>();
  const auto value = member_of(*cursor, "value");
  return value && value->value().is_string() ? value->value().get<std::string>() : "";
}

/// "leaf1" of "dumps/leaf1.json" and of "leaf1.json0.json".
std::string device_of_file(const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  for (bool is_cut = true; is_cut;) {
    is_cut = false;
    for (const std::string_view ending : {".json", ".json0", ".txt"}) {
      if (!name.ends_with(ending) || name.size() == ending.size()) continue;
      name.resize(name.size() - ending.size());
      is_cut = true;
    }
  }
  return name;
}

class LldpReader {
 public:
  explicit LldpReader(Diagnostics& diagnostics) : diagnostics_(diagnostics) {}

  void read(const std::string& path) {
    const auto document = JsonDocument::read(path, diagnostics_);
    if (!document) return;
    const JsonCursor root(document);
    const auto lldp = member_of(root, "lldp");
    if (!lldp) {
      diagnostics_.add(root.problem("the file is no dump of LLDP neighbours", "",
                                    "give the output of `lldpcli -f json show neighbors details`"));
      return;
    }
    const std::string device = device_of_file(path);
    dumped_.insert(device);
    // A device without neighbours has no list; with one it may be the object itself.
    if (const auto list = lldp->member("interface")) read_interfaces(device, *list);
  }

  /// Cables, each once, and the devices at their ends.
  void finish() {
    // A file may carry more than its device's name: "gpu03.one-port-down".
    std::set<std::string> seen;
    for (const auto& [near, far] : sightings_) seen.insert(far.device);
    for (auto& [near, far] : sightings_) {
      if (seen.contains(near.device)) continue;
      const std::string first = near.device.substr(0, near.device.find('.'));
      if (seen.contains(first)) near.device = first;
    }
    std::map<Port, Port> peer_of;
    for (const auto& [near, far] : sightings_) {
      note(near);
      note(far);
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

  [[nodiscard]] const std::vector<std::pair<Port, Port>>& cables() const { return cables_; }
  [[nodiscard]] const std::map<std::string, Device>& devices() const { return devices_; }
  [[nodiscard]] std::size_t dumped() const { return dumped_.size(); }
  [[nodiscard]] int contradictions() const { return contradictions_; }
  [[nodiscard]] int loops() const { return loops_; }

 private:
  void read_interfaces(const std::string& device, const JsonCursor& list) {
    if (list.value().is_object()) return read_named(device, list);
    if (!list.value().is_array()) {
      diagnostics_.add(list.problem("\"interface\" is a list or an object"));
      return;
    }
    for (std::size_t i = 0; i < list.value().size(); ++i) {
      const JsonCursor entry = list.element(i);
      const std::string name = text_of(entry.member("name"));
      name.empty() ? read_named(device, entry) : read_neighbour({device, name}, entry);
    }
  }

  /// {"swp51": {...}}
  void read_named(const std::string& device, const JsonCursor& object) {
    if (!object.value().is_object()) {
      diagnostics_.add(object.problem("an interface is an object"));
      return;
    }
    for (const auto& [name, unused] : object.value().items()) {
      if (const auto entry = object.member(name)) read_neighbour({device, name}, *entry);
    }
  }

  void read_neighbour(const Port& near, const JsonCursor& entry) {
    const auto chassis = member_of(entry, "chassis");
    const auto port = member_of(entry, "port");
    if (!chassis || !port) return;  // nobody at the other end
    const auto [name, body] = named_chassis(*chassis);
    if (name.empty()) {
      diagnostics_.add(chassis->problem("the neighbour has neither a name nor an id"));
      return;
    }
    const Port far{.device = name, .name = port_name(*port)};
    if (far.name.empty()) {
      diagnostics_.add(port->problem("the neighbour's port has neither an id nor a description"));
      return;
    }
    devices_[name].says_it_forwards |= forwards(body);
    sightings_.emplace_back(near, far);
  }

  /// json: {"spine1": {...}}, or the chassis itself if it has no name; json0: "name" is a field.
  static std::pair<std::string, JsonCursor> named_chassis(const JsonCursor& chassis) {
    if (!chassis.value().is_object()) return {"", chassis};
    if (const auto name = member_of(chassis, "name")) return {text_of(name), chassis};
    if (const auto id = member_of(chassis, "id"); id && id->member("value")) {
      return {text_of(id), chassis};
    }
    for (const auto& [name, unused] : chassis.value().items()) {
      if (auto body = chassis.member(name)) return {name, *body};
    }
    return {"", chassis};
  }

  /// The id if it is a name, else the description, in which the name of a port with an address for
  /// its id stands.
  static std::string port_name(const JsonCursor& port) {
    const auto id = member_of(port, "id");
    const std::string type = id ? text_of(member_of(*id, "type")) : "";
    const std::string description = text_of(member_of(port, "descr"));
    if (type == "ifname" || type == "local" || description.empty()) return text_of(id);
    return description;
  }

  static bool forwards(const JsonCursor& chassis) {
    const auto list = chassis.member("capability");
    if (!list || !list->value().is_array()) return false;
    for (const nlohmann::json& entry : list->value()) {
      if (!entry.is_object() || !entry.contains("type") || !entry.contains("enabled")) continue;
      const nlohmann::json& type = entry["type"];
      if ((type == "Bridge" || type == "Router") && entry["enabled"] == true) return true;
    }
    return false;
  }

  void note(const Port& port) {
    Device& device = devices_[port.device];
    device.has_switch_port |= is_switch_port(port.name);
    device.has_host_port |= is_host_port(port.name);
  }

  Diagnostics& diagnostics_;
  std::set<std::string> dumped_;
  std::vector<std::pair<Port, Port>> sightings_;
  std::map<std::string, Device> devices_;
  std::vector<std::pair<Port, Port>> cables_;
  int contradictions_ = 0;
  int loops_ = 0;
};

nlohmann::json lldp_topology(const LldpReader& found, ImportDraft& draft) {
  const BytesPerSecond bandwidth = draft.untold_bandwidth("LLDP tells no rate of a link");
  std::map<std::string, int> switches;
  for (const auto& [name, device] : found.devices()) {
    if (device.is_switch()) switches[name] = draft.add_switch(name);
  }
  const auto vertex_of = [&](const Port& port) {
    const auto known = switches.find(port.device);
    if (known != switches.end()) return known->second;
    return draft.add_endpoint(port.device + "/" + port.name, port.device);
  };
  for (const auto& [a, b] : found.cables()) {
    draft.add_cable({.a = vertex_of(a), .b = vertex_of(b), .bandwidth = bandwidth});
  }
  if (found.contradictions() > 0) {
    draft.assume(fmt::format("sightings of a second neighbour on a port, which are left out: {}",
                             found.contradictions()));
  }
  if (found.loops() > 0) {
    draft.assume(
        fmt::format("cables from a device to itself, which are left out: {}", found.loops()));
  }
  return draft.topology(fmt::format("LLDP neighbours of {} devices", found.dumped()));
}

}  // namespace

/// What devices say of their neighbours, as lldpd dumps it (IEEE 802.1AB): one file for each
/// device, named after it. A device that was not dumped is known by those that see it.
std::optional<nlohmann::json> import_lldp(const ImportRequest& request, Diagnostics& diagnostics) {
  Diagnostics problems;
  LldpReader reader(problems);
  for (const std::string& path : request.paths) reader.read(path);
  reader.finish();
  nlohmann::json topology;
  if (!problems.has_errors()) {
    ImportDraft draft(request, problems);
    topology = lldp_topology(reader, draft);
  }
  diagnostics.append(problems);
  if (problems.has_errors()) return std::nullopt;
  return topology;
}

}  // namespace headway

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "sim/import/import_draft.h"
#include "sim/import/line_reader.h"
#include "sim/import/lldp/lldp_neighbours.h"

namespace headway {

Importer import_lldp;

namespace {

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

/// By its first character. What cannot be read at all is left to the reader of JSON to say.
bool is_json(const std::string& path, Diagnostics& diagnostics) {
  if (path == "-") return true;
  LineReader lines(path, diagnostics);
  std::string_view line;
  while (lines.next(line)) {
    const std::size_t text = line.find_first_not_of(" \t\r");
    if (text != std::string_view::npos) return line[text] == '{' || line[text] == '[';
  }
  return true;
}

nlohmann::json lldp_topology(const LldpNeighbours& found, ImportDraft& draft) {
  const BytesPerSecond bandwidth = draft.untold_bandwidth("LLDP tells no rate of a link");
  std::map<std::string, int> switches;
  for (const auto& [name, device] : found.devices()) {
    if (device.is_switch()) switches[name] = draft.add_switch(name);
  }
  const auto vertex_of = [&](const LldpPort& port) {
    const auto known = switches.find(port.device);
    if (known != switches.end()) return known->second;
    return draft.add_endpoint(port.device + "/" + port.name, port.device);
  };
  for (const auto& [a, b] : found.cables()) {
    draft.add_cable({.a = vertex_of(a),
                     .b = vertex_of(b),
                     .bandwidth = bandwidth,
                     .port_a = a.name,
                     .port_b = b.name});
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

/// What devices say of their neighbours (IEEE 802.1AB), as lldpd dumps it or SONiC prints it: one
/// file for each device, named after it. A device that was not dumped is known by those that see
/// it.
std::optional<nlohmann::json> import_lldp(const ImportRequest& request, Diagnostics& diagnostics) {
  Diagnostics problems;
  LldpNeighbours found;
  for (const std::string& path : request.paths) {
    (is_json(path, problems) ? read_lldp_json : read_lldp_text)(path, device_of_file(path), found,
                                                                problems);
  }
  found.finish();
  nlohmann::json topology;
  if (!problems.has_errors()) {
    ImportDraft draft(request, problems);
    topology = lldp_topology(found, draft);
  }
  diagnostics.append(problems);
  if (problems.has_errors()) return std::nullopt;
  return topology;
}

}  // namespace headway

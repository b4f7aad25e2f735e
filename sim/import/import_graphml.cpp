#include <fmt/format.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>
#include <numbers>

#include "sim/base/quantity_text.h"
#include "sim/base/utf8.h"
#include "sim/import/import_draft.h"
#include "sim/import/xml_file.h"

namespace headway {

Importer import_graphml;

namespace {

constexpr Seconds kFibrePerKilometre = 5_us;  // light in glass of index 1.5, one way
constexpr double kEarthRadius = 6371.0;       // km

struct WanSite {
  std::string name;
  double latitude = NAN;
  double longitude = NAN;
  int vertex = -1;
  [[nodiscard]] bool has_place() const {
    return std::abs(latitude) <= 90.0 && std::abs(longitude) <= 360.0;
  }
};

/// Kilometres between two places on a sphere (haversine formula).
double distance(const WanSite& a, const WanSite& b) {
  constexpr double kDegree = std::numbers::pi / 180.0;
  const auto half_chord = [](double angle) {
    const double sine = std::sin(angle / 2.0);
    return sine * sine;
  };
  const double h = half_chord((a.latitude - b.latitude) * kDegree) +
                   std::cos(a.latitude * kDegree) * std::cos(b.latitude * kDegree) *
                       half_chord((a.longitude - b.longitude) * kDegree);
  return 2.0 * kEarthRadius * std::asin(std::sqrt(std::min(h, 1.0)));
}

class GraphMlReader {
 public:
  GraphMlReader(const XmlFile& file, ImportDraft& draft, Diagnostics& diagnostics)
      : file_(file), draft_(draft), diagnostics_(diagnostics) {}

  void read() {
    for (const pugi::xml_node& key : file_.root().children("key")) {
      keys_[key.attribute("id").as_string()] = key.attribute("attr.name").as_string();
    }
    const pugi::xml_node graph = file_.root().child("graph");
    for (const pugi::xml_node& node : graph.children("node")) read_node(node);
    for (const pugi::xml_node& edge : graph.children("edge")) read_edge(edge);
    // A site is as wide as everything that leads to it.
    for (auto& [id, site] : sites_) {
      const BytesPerSecond bandwidth = widths_[site.vertex];
      if (bandwidth == BytesPerSecond(0.0)) continue;
      const int endpoint = draft_.add_endpoint(site.name + "/nic0", site.name);
      draft_.add_cable({.a = endpoint, .b = site.vertex, .bandwidth = bandwidth});
    }
    draft_.assume("each place is taken as one host, as wide as all that leads there");
    if (unplaced_ > 0) {
      draft_.assume(fmt::format(
          "links between places without coordinates, which are taken as 0 km long: {}", unplaced_));
    }
  }

 private:
  /// The text of a <data> by the name that its key has.
  [[nodiscard]] std::string data(const pugi::xml_node& owner, std::string_view name) const {
    for (const pugi::xml_node& entry : owner.children("data")) {
      const auto key = keys_.find(entry.attribute("key").as_string());
      if (key != keys_.end() && key->second == name) return entry.text().as_string();
    }
    return "";
  }

  [[nodiscard]] static double number(const std::string& text) {
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    return text.empty() || *end != '\0' ? NAN : value;
  }

  void read_node(const pugi::xml_node& node) {
    const std::string id = node.attribute("id").as_string();
    WanSite site{.name = printable(data(node, "label")),
                 .latitude = number(data(node, "Latitude")),
                 .longitude = number(data(node, "Longitude"))};
    if (site.name.empty()) site.name = printable(id);
    if (id.empty() || sites_.contains(id)) {
      diagnostics_.add(file_.problem(node,
                                     id.empty() ? "a node has an id" : "the id is of a node before",
                                     R"(give each an id of its own: <node id="n1"/>)"));
      return;
    }
    site.vertex = draft_.add_switch(site.name);
    sites_[id] = std::move(site);
  }

  void read_edge(const pugi::xml_node& edge) {
    const auto a = sites_.find(edge.attribute("source").as_string());
    const auto b = sites_.find(edge.attribute("target").as_string());
    if (a == sites_.end() || b == sites_.end()) {
      diagnostics_.add(file_.problem(
          edge, "an edge joins two nodes of the file",
          R"(its source and its target are ids of nodes: <edge source="n1" target="n2"/>)"));
      return;
    }
    if (a == b) return;
    const double speed = number(data(edge, "LinkSpeedRaw"));  // bits a second
    BytesPerSecond bandwidth;
    if (speed > 0.0 && speed <= 1e18) {
      bandwidth = BytesPerSecond(speed / 8.0);
    } else {
      if (!untold_) untold_ = draft_.untold_bandwidth("some links have no LinkSpeedRaw");
      bandwidth = *untold_;
    }
    Seconds latency;
    if (a->second.has_place() && b->second.has_place()) {
      latency = distance(a->second, b->second) * kFibrePerKilometre;
    } else {
      ++unplaced_;
    }
    widths_[a->second.vertex] += bandwidth;
    widths_[b->second.vertex] += bandwidth;
    draft_.add_cable(
        {.a = a->second.vertex, .b = b->second.vertex, .bandwidth = bandwidth, .latency = latency});
  }

  const XmlFile& file_;
  ImportDraft& draft_;
  Diagnostics& diagnostics_;
  std::map<std::string, std::string> keys_;
  std::map<std::string, WanSite> sites_;
  std::map<int, BytesPerSecond> widths_;  ///< of all links of a place
  std::optional<BytesPerSecond> untold_;
  int unplaced_ = 0;
};

}  // namespace

/// GraphML as the Internet Topology Zoo writes it: places with Latitude and Longitude, from which
/// the length of fibre follows, and links with LinkSpeedRaw.
std::optional<nlohmann::json> import_graphml(const ImportRequest& request,
                                             Diagnostics& diagnostics) {
  Diagnostics problems;
  nlohmann::json topology;
  ImportDraft draft(request, problems);
  if (request.paths.size() > 1) {
    draft.fail("one network is imported from one file");
  } else if (const auto file = XmlFile::read(request.paths.front(), problems)) {
    if (std::string_view(file->root().name()) != "graphml") {
      problems.add(file->problem(
          file->root(), "the outermost element of GraphML is <graphml>",
          "give a file of the Topology Zoo, say, or what networkx.write_graphml writes"));
    } else {
      GraphMlReader(*file, draft, problems).read();
      topology = draft.topology("GraphML " + request.paths.front());
    }
  }
  diagnostics.append(problems);
  if (problems.has_errors()) return std::nullopt;
  return topology;
}

}  // namespace headway

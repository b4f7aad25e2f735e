#include "sim/network/faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "sim/base/limits.h"
#include "sim/base/quantity_text.h"
#include "sim/base/suggestion.h"
#include "sim/base/utf8.h"
#include "sim/files/field_table.h"

namespace headway {
namespace {

/// A fault as the file has it, but for what it names.
struct FaultFields {
  bool is_of_cable = false;
  std::optional<std::int64_t> number;  ///< nothing: all cables between the two
  std::optional<BytesPerSecond> bandwidth;
};

const FieldTable<FaultFields>& fault_fields() {
  using Fault = FaultFields;
  const auto is_of_cable = [](const Fault& fault) { return fault.is_of_cable; };
  constexpr FieldNeed kCable{"cable", "", "only a cable has this"};
  static const FieldTable<Fault> kFields(
      {{"cable", elsewhere<Fault>(array_type(text_type(), "two texts")),
        "The names of its ends, as `headway route` prints them."},
       {"number", whole(&Fault::number, at_least(0)).only_where(is_of_cable, kCable),
        R"(Which one of parallel cables, from 0.
default: all cables between the two)"},
       {"bandwidth", quantity(&Fault::bandwidth, positive()).only_where(is_of_cable, kCable),
        R"(What the cable still carries, each way: lanes that failed.
default: the cable is down)"},
       {"switch", elsewhere<Fault>(text_type()), "A switch that is down."},
       {"nic", elsewhere<Fault>(text_type()), R"(A NIC port that is down: "node3/nic2".)"}});
  return kFields;
}

class FaultReader {
 public:
  FaultReader(Cluster& cluster, Diagnostics& diagnostics)
      : topology_(cluster.topology), diagnostics_(diagnostics) {}

  nlohmann::json read(const JsonCursor& fault) {
    ObjectReader reader(fault, diagnostics_);
    int named = 0;
    for (const char* key : {"cable", "switch", "nic"}) named += reader.has(key) ? 1 : 0;
    if (named != 1 && fault.is_object()) {
      diagnostics_.add(fault.problem("a fault names one cable, switch or NIC", "",
                                     R"(write {"cable": ["leaf/unit0/rail3", "spine/5"]}, )"
                                     R"({"switch": "spine/5"} or {"nic": "node3/nic2"})"));
    }
    FaultFields given{.is_of_cable = reader.has("cable")};
    fault_fields().read(reader, given);
    if (given.is_of_cable) read_cable(reader, given);
    read_vertex(reader, "switch", true);
    read_vertex(reader, "nic", false);
    return reader.finish();
  }

 private:
  /// The vertex that a text names, -1 if there is none (which is reported).
  VertexId vertex_of(const JsonCursor& cursor, bool may_be_switch, bool may_be_endpoint) {
    if (!cursor.text()) {
      diagnostics_.add(cursor.problem("a switch or NIC is named by a text", "",
                                      fmt::format("such as {}", in_quotes(topology_.name(0)))));
      return -1;
    }
    const std::string name = *cursor.text();
    const VertexId found = topology_.find(name);
    const bool fits = found != -1 && (topology_.is_switch(found) ? may_be_switch : may_be_endpoint);
    if (fits) return found;
    // All names are compared for problems that are shown, not for those that are counted.
    const bool is_shown = std::ssize(diagnostics_.all()) < limits().problems;
    std::vector<std::string_view> names;
    for (VertexId vertex = 0; is_shown && vertex < topology_.vertex_count(); ++vertex) {
      if (topology_.is_switch(vertex) ? may_be_switch : may_be_endpoint) {
        names.push_back(topology_.name(vertex));
      }
    }
    const auto meant = closest(name, names);
    const char* kind = !may_be_endpoint ? "switch" : may_be_switch ? "switch or NIC" : "NIC";
    diagnostics_.add(cursor.problem(fmt::format("no {} is called {}", kind, in_quotes(name)), "",
                                    meant ? fmt::format("did you mean {}?", in_quotes(*meant))
                                          : fmt::format("they are called such as {}",
                                                        in_quotes(names.empty() ? "" : names[0]))));
    return -1;
  }

  void read_vertex(ObjectReader& reader, std::string_view key, bool is_switch) {
    const auto part = reader.part(key);
    if (!part) return;
    reader.resolve(key, part->value());
    const VertexId vertex = vertex_of(*part, is_switch, !is_switch);
    if (vertex == -1) return;
    const auto links = topology_.links_from(vertex);
    for (const LinkId link : std::vector<LinkId>(links.begin(), links.end())) {
      topology_.take_down(link);
    }
  }

  void read_cable(ObjectReader& reader, const FaultFields& given) {
    const std::vector<JsonCursor> ends = reader.elements("cable");
    nlohmann::json resolved = nlohmann::json::array();
    for (const JsonCursor& end : ends) resolved.push_back(end.value());
    reader.resolve("cable", resolved);
    if (ends.size() != 2) {
      reader.report("cable", "a cable has two ends", fmt::format("{} are named", ends.size()),
                    R"(write ["node0/nic0", "leaf/unit0/rail0"])");
      return;
    }
    const VertexId a = vertex_of(ends[0], true, true);
    const VertexId b = vertex_of(ends[1], true, true);
    if (a == -1 || b == -1) return;
    std::vector<LinkId> cables = cables_between(a, b);
    const std::int64_t number = given.number.value_or(0);
    if (cables.empty()) {
      reader.report("cable", "no cable joins the two", "",
                    "`headway route` names the ends of cables that flows take");
    } else if (number >= static_cast<std::int64_t>(cables.size())) {
      reader.report("number", "no such cable",
                    fmt::format("{} join the two, numbered from 0", cables.size()));
    } else {
      if (given.number) cables = {cables[static_cast<std::size_t>(number)]};
      set_cables(reader, cables, given.bandwidth.value_or(BytesPerSecond(0.0)));
    }
  }

  /// In the order they were added; also those that an earlier fault took down.
  [[nodiscard]] std::vector<LinkId> cables_between(VertexId a, VertexId b) {
    if (cables_of_.empty()) {
      for (LinkId link = 0; link < topology_.link_count(); link += 2) {
        const Link& ends = topology_.link(link);
        cables_of_[std::minmax(ends.from, ends.to)].push_back(link);
      }
    }
    const auto found = cables_of_.find(std::minmax(a, b));
    return found == cables_of_.end() ? std::vector<LinkId>() : found->second;
  }

  void set_cables(ObjectReader& reader, const std::vector<LinkId>& cables,
                  BytesPerSecond bandwidth) {
    const auto faster = std::ranges::find_if(cables, [&](LinkId cable) {
      return bandwidth > topology_.link(cable).capacity && topology_.is_up(cable);
    });
    if (faster != cables.end()) {
      reader.report("bandwidth", "a fault makes no cable faster",
                    fmt::format("the cable has {}", short_text(topology_.link(*faster).capacity)),
                    "the bandwidths of sound cables are the fabric's");
      return;
    }
    for (const LinkId cable : cables) set_cable(cable, bandwidth);
  }

  /// Down if the bandwidth is 0.
  void set_cable(LinkId link, BytesPerSecond bandwidth) {
    if (bandwidth == BytesPerSecond(0.0)) return topology_.take_down(link);
    topology_.link(link).capacity = bandwidth;
    topology_.link(Topology::reverse(link)).capacity = bandwidth;
  }

  Topology& topology_;
  Diagnostics& diagnostics_;
  std::map<std::pair<VertexId, VertexId>, std::vector<LinkId>> cables_of_;  ///< by their ends
};

/// Gives the accelerators of a NIC that is cut off the next one of their node.
void replace_cut_off(const JsonCursor& faults, Cluster& cluster, Diagnostics& diagnostics) {
  const Topology& topology = cluster.topology;
  const auto nics = static_cast<std::size_t>(cluster.node_type.nics);
  const std::vector<VertexId> all = cluster.endpoints;
  const auto is_cut_off = [&](VertexId endpoint) {
    // A lone endpoint without any cable was made so.
    return topology.links_from(endpoint).empty() && topology.cable_count() > 0;
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!is_cut_off(all[i])) continue;
    std::size_t other = i;
    for (std::size_t step = 1; step < nics && is_cut_off(all[other]); ++step) {
      other = i / nics * nics + (i + step) % nics;
    }
    if (is_cut_off(all[other])) {
      diagnostics.add(faults.problem(fmt::format("node {} has no NIC left", i / nics),
                                     fmt::format("\"{}\" is cut off", topology.name(all[i]))));
      return;
    }
    cluster.endpoints[i] = all[other];
    Diagnostic warning =
        faults.problem(fmt::format("\"{}\" is cut off; its accelerators send by \"{}\"",
                                   topology.name(all[i]), topology.name(all[other])));
    warning.severity = Severity::warning;
    diagnostics.add(std::move(warning));
  }
  std::erase_if(cluster.site.host_ports, is_cut_off);
}

}  // namespace

std::vector<FieldDescription> fault_field_descriptions() { return fault_fields().described(); }

nlohmann::json apply_faults(const JsonCursor& faults, Cluster& cluster, Diagnostics& diagnostics) {
  if (!faults.is_array()) {
    diagnostics.add(faults.problem("\"faults\" is a list", "",
                                   R"(write [{"cable": ["node0/nic0", "leaf/unit0/rail0"]}])"));
    return nlohmann::json::array();
  }
  const std::size_t problems = diagnostics.errors();
  nlohmann::json resolved = nlohmann::json::array();
  FaultReader reader(cluster, diagnostics);
  for (std::size_t i = 0; i < faults.value().size(); ++i) {
    resolved.push_back(reader.read(faults.element(i)));
  }
  if (diagnostics.errors() == problems) replace_cut_off(faults, cluster, diagnostics);
  return resolved;
}

}  // namespace headway

#include "sim/network/find_endpoint.h"

#include <fmt/format.h>

#include <cctype>

#include "sim/base/suggestion.h"
#include "sim/base/utf8.h"

namespace headway {
namespace {

/// The hexadecimal digits of a GUID without what may be left out; empty if it is none.
std::string guid_digits(std::string_view text) {
  if (text.starts_with("0x") || text.starts_with("0X")) text.remove_prefix(2);
  while (text.starts_with('0')) text.remove_prefix(1);
  std::string digits;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (std::isxdigit(byte) == 0) return "";
    digits += static_cast<char>(std::tolower(byte));
  }
  return digits;
}

/// Endpoints of which `matches` holds.
template <class Matches>
std::vector<VertexId> endpoints_that(const Cluster& cluster, Matches matches) {
  std::vector<VertexId> found;
  for (std::size_t i = 0; i < cluster.site.names.size(); ++i) {
    const auto vertex = static_cast<VertexId>(i);
    if (!cluster.topology.is_switch(vertex) && matches(cluster.site.names[i])) {
      found.push_back(vertex);
    }
  }
  return found;
}

std::vector<VertexId> candidates(const Cluster& cluster, const std::string& name) {
  auto found =
      endpoints_that(cluster, [&](const SiteName& site) { return site.description == name; });
  const std::string guid = guid_digits(name);
  if (!found.empty() || guid.empty()) return found;
  found = endpoints_that(cluster,
                         [&](const SiteName& site) { return guid_digits(site.port_guid) == guid; });
  if (!found.empty()) return found;
  return endpoints_that(cluster,
                        [&](const SiteName& site) { return guid_digits(site.guid) == guid; });
}

std::string help_for(const Cluster& cluster, const std::string& name) {
  std::vector<std::string_view> names;
  for (VertexId vertex = 0; vertex < cluster.topology.vertex_count(); ++vertex) {
    if (!cluster.topology.is_switch(vertex)) names.push_back(cluster.topology.name(vertex));
  }
  const auto meant = closest(name, names);
  if (meant) return fmt::format("did you mean {}?", in_quotes(*meant));
  return names.empty() ? "" : fmt::format("they are called such as {}", in_quotes(names.front()));
}

}  // namespace

VertexId find_endpoint(const Cluster& cluster, const std::string& name, Diagnostics& diagnostics) {
  const VertexId exact = cluster.topology.find(name);
  Diagnostic problem;
  if (exact != -1) {
    if (!cluster.topology.is_switch(exact)) return exact;
    problem.message = fmt::format("{} is a switch; a route is between endpoints", in_quotes(name));
    problem.help = help_for(cluster, name);
    diagnostics.add(std::move(problem));
    return -1;
  }
  const std::vector<VertexId> found = candidates(cluster, name);
  if (found.size() == 1) return found.front();
  if (found.empty()) {
    problem.message = fmt::format("no endpoint is called {}", in_quotes(name));
    problem.help = help_for(cluster, name);
  } else {
    problem.message = fmt::format("{} endpoints are called {}", found.size(), in_quotes(name));
    problem.help = fmt::format("say which: {} or {}", in_quotes(cluster.topology.name(found[0])),
                               in_quotes(cluster.topology.name(found[1])));
  }
  diagnostics.add(std::move(problem));
  return -1;
}

std::string site_description(const Cluster& cluster, VertexId vertex) {
  const auto& names = cluster.site.names;
  const auto place = static_cast<std::size_t>(vertex);
  if (place < names.size() && !names[place].description.empty()) return names[place].description;
  return std::string(cluster.topology.name(vertex));
}

std::string site_port(const Cluster& cluster, LinkId link) {
  const auto& ports = cluster.site.cable_ports;
  const auto cable = static_cast<std::size_t>(link / 2);
  if (cable >= ports.size()) return "";
  return link % 2 == 0 ? ports[cable].first : ports[cable].second;
}

}  // namespace headway

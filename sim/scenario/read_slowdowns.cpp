#include "sim/scenario/read_slowdowns.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "sim/base/suggestion.h"
#include "sim/base/utf8.h"
#include "sim/files/json_objects.h"
#include "sim/programs/flows/flow_plans.h"

namespace headway {
namespace {

constexpr double kMostSlowAccelerators = 1 << 30;
constexpr double kMostSlowNodes = 1 << 30;
constexpr double kLargestSlowdown = 1000.0;

/// "from" and "to", the end of the iteration and beyond where "to" is missing.
std::pair<double, double> read_span(ObjectReader& reader) {
  const double from = reader.quantity<Seconds>("from", at_least(0.0), Seconds(0.0)).count();
  double to = std::numeric_limits<double>::infinity();
  if (reader.has("to")) {
    to = reader.quantity<Seconds>("to", positive()).count();
    if (to <= from) reader.report("to", "an episode ends after it begins");
  } else {
    static_cast<void>(reader.part("to"));
  }
  return {from, to};
}

}  // namespace

AcceleratorRange SlowdownReader::range(ObjectReader& reader, bool may_be_all) const {
  const double accelerators =
      cluster_ != nullptr ? cluster_->accelerators() : kMostSlowAccelerators;
  const int of_node = cluster_ != nullptr ? cluster_->node_type.accelerators : 1;
  const bool names_node = reader.has("node");
  if (names_node && reader.has("accelerator")) {
    reader.report("accelerator", "a node is named already", "", "name a node or an accelerator");
  }
  if (names_node) {
    static_cast<void>(reader.part("accelerator"));
    const auto node = static_cast<std::int32_t>(
        reader.integer("node", between(0.0, accelerators / of_node - 1.0)));
    return {node * of_node, (node + 1) * of_node - 1};
  }
  static_cast<void>(reader.part("node"));
  if (may_be_all && !reader.has("accelerator")) {
    static_cast<void>(reader.part("accelerator"));
    return {0, static_cast<std::int32_t>(accelerators) - 1};
  }
  const auto one =
      static_cast<std::int32_t>(reader.integer("accelerator", between(0.0, accelerators - 1.0)));
  return {one, one};
}

std::vector<SlowEpisode> SlowdownReader::slow_episodes(ObjectReader& perturbations) const {
  std::vector<SlowEpisode> episodes;
  read_objects(perturbations, "slow_episodes", [&](ObjectReader& reader) {
    SlowEpisode episode;
    episode.accelerators = range(reader, false);
    std::tie(episode.from, episode.to) = read_span(reader);
    episode.time_factor = reader.number("time_factor", between(1.0, kLargestSlowdown));
    episodes.push_back(episode);
  });
  return episodes;
}

std::vector<Pauses> SlowdownReader::pauses(ObjectReader& perturbations) const {
  std::vector<Pauses> all;
  read_objects(perturbations, "pauses", [&](ObjectReader& reader) {
    Pauses pauses;
    pauses.accelerators = range(reader, true);
    pauses.every = reader.quantity<Seconds>("every", positive()).count();
    pauses.lasts = reader.quantity<Seconds>("lasts", at_least(0.0)).count();
    pauses.together = reader.flag("together", false);
    if (!diagnostics_.has_errors() && pauses.lasts >= pauses.every) {
      reader.report("lasts", "a pause is over before the next one begins",
                    fmt::format("every {} s", pauses.every));
    }
    if (pauses.lasts > 0.0) all.push_back(pauses);
  });
  return all;
}

VertexId SlowdownReader::vertex(const JsonCursor& named) const {
  const Topology& topology = cluster_->topology;
  const std::string name =
      named.value().is_string() ? named.value().get<std::string>() : std::string();
  const VertexId found = topology.find(name);
  if (found != -1) return found;
  std::vector<std::string_view> names;
  for (VertexId id = 0; id < topology.vertex_count(); ++id) names.push_back(topology.name(id));
  const auto meant = closest(name, names);
  diagnostics_.add(named.problem(
      fmt::format("no switch or NIC is called {}", in_quotes(name)), "",
      meant ? fmt::format("did you mean {}?", in_quotes(*meant))
            : fmt::format("they are called such as {}", in_quotes(topology.name(0)))));
  return -1;
}

std::vector<LinkId> SlowdownReader::links(ObjectReader& reader) const {
  const bool is_cable = reader.has("cable");
  const std::vector<JsonCursor> ends = reader.elements("cable");
  nlohmann::json resolved = nlohmann::json::array();
  for (const JsonCursor& end : ends) resolved.push_back(end.value());
  if (is_cable) reader.resolve("cable", resolved);
  const auto nic = reader.part("nic");
  if (nic) reader.resolve("nic", nic->value());
  if (nic.has_value() == is_cable || (is_cable && ends.size() != 2)) {
    reader.report(is_cable ? "cable" : "nic",
                  "a slow link is a cable with two ends, or that of a NIC", "",
                  R"(write "cable": ["leaf/unit0/rail3", "spine/5"], or "nic": "node3/nic2")");
    return {};
  }
  if (cluster_ == nullptr) return {};
  const Topology& topology = cluster_->topology;
  const VertexId a = vertex(nic ? *nic : ends[0]);
  const VertexId b = nic ? -1 : vertex(ends[1]);
  if (a == -1 || (is_cable && b == -1)) return {};
  std::set<LinkId> links;
  for (const LinkId link : topology.links_from(a)) {
    if (is_cable && topology.link(link).to != b) continue;
    links.insert(link);
    links.insert(Topology::reverse(link));
  }
  if (links.empty()) reader.report(is_cable ? "cable" : "nic", "no cable is there");
  return {links.begin(), links.end()};
}

std::vector<LinkEpisode> SlowdownReader::link_episodes(ObjectReader& perturbations) const {
  std::vector<LinkEpisode> episodes;
  read_objects(perturbations, "slow_links", [&](ObjectReader& reader) {
    LinkEpisode episode;
    const std::vector<LinkId> named = links(reader);
    std::tie(episode.from, episode.to) = read_span(reader);
    episode.bandwidth_factor = reader.number("bandwidth_factor", between(0.0, 1.0));
    if (episode.bandwidth_factor == 0.0 && !std::isfinite(episode.to)) {
      reader.report("to", "what waits for a link that stays down waits for ever", "",
                    "say when it comes back, or name it in the topology's faults");
    }
    for (const LinkId link : named) {
      episode.link = link;
      episodes.push_back(episode);
    }
  });
  return episodes;
}

std::vector<BackgroundFlow> SlowdownReader::background(ObjectReader& perturbations) const {
  std::vector<BackgroundFlow> flows;
  read_objects(perturbations, "background_traffic", [&](ObjectReader& reader) {
    const Range nodes = between(0.0, cluster_ != nullptr ? cluster_->nodes - 1.0 : kMostSlowNodes);
    const auto from = static_cast<std::int32_t>(reader.integer("from_node", nodes));
    const auto to = static_cast<std::int32_t>(reader.integer("to_node", nodes));
    const auto rate = reader.quantity<BytesPerSecond>("rate", positive());
    BackgroundFlow flow;
    std::tie(flow.from, flow.to) = read_span(reader);
    if (from == to && !diagnostics_.has_errors()) {
      reader.report("to_node", "traffic inside a node does not meet the fabric");
    }
    if (cluster_ == nullptr || diagnostics_.has_errors()) return;
    // Evenly over the node's accelerators, each by its own NIC to its counterpart.
    const int count = cluster_->node_type.accelerators;
    std::vector<std::int32_t> senders(static_cast<std::size_t>(count));
    std::vector<std::int32_t> receivers(senders.size());
    std::iota(senders.begin(), senders.end(), from * count);
    std::iota(receivers.begin(), receivers.end(), to * count);
    flow.plan =
        transfer_plan(*cluster_, ideal_network_costs(cluster_->node_type), senders, receivers);
    flow.plan.rate_cap = min(flow.plan.rate_cap, rate / static_cast<double>(count));
    flows.push_back(std::move(flow));
  });
  return flows;
}

}  // namespace headway

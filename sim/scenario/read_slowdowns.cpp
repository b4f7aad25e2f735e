#include "sim/scenario/read_slowdowns.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>

#include "sim/base/suggestion.h"
#include "sim/base/utf8.h"
#include "sim/files/json_objects.h"
#include "sim/programs/flows/flow_plans.h"

namespace headway {
namespace {

constexpr double kLargestSlowdown = 1000.0;

int accelerators_of_node(const Cluster* cluster) {
  return cluster != nullptr ? cluster->node_type.accelerators : 1;
}

Range accelerators_of(const Cluster* cluster) {
  return between(0.0, (cluster != nullptr ? cluster->accelerators() : kMostNamed) - 1.0);
}

Range nodes_of(const Cluster* cluster) {
  return between(0.0, (accelerators_of(cluster).most + 1.0) / accelerators_of_node(cluster) - 1.0);
}

/// When within the iteration a slowdown begins and ends.
struct Span {
  Seconds from;
  std::optional<Seconds> to;

  /// The end of the iteration and beyond where no end is given.
  [[nodiscard]] double end() const {
    return to ? to->count() : std::numeric_limits<double>::infinity();
  }
};

template <class Entry>
void add_span(std::vector<Field<Entry>>& rows) {
  rows.push_back({"from", within(&Entry::span, quantity(&Span::from, at_least(0.0))),
                  "When it begins, from the start of the iteration."});
  rows.push_back({"to", within(&Entry::span, quantity(&Span::to, positive())),
                  "When it ends.\ndefault: never"});
}

void check_span(ObjectReader& reader, const Span& span) {
  if (span.to && *span.to <= span.from) {
    reader.report("to", "an episode ends after it begins", "",
                  "make \"to\" larger than \"from\", or leave it out");
  }
}

/// Accelerators, by a node or one by one.
struct Place {
  std::optional<std::int32_t> node;
  std::optional<std::int32_t> accelerator;
};

template <class Entry>
void add_place(std::vector<Field<Entry>>& rows, const Cluster* cluster, bool may_be_all) {
  rows.push_back({"node", within(&Entry::place, whole(&Place::node, nodes_of(cluster))),
                  may_be_all ? "All of its accelerators.\ndefault: all"
                             : "All of its accelerators.\nlimits: a node or an "
                               "accelerator"});
  rows.push_back(
      {"accelerator", within(&Entry::place, whole(&Place::accelerator, accelerators_of(cluster))),
       may_be_all ? "Counted through the cluster.\ndefault: all"
                  : "Counted through the cluster.\nlimits: a node or an accelerator\ndefault: "
                    "none"});
}

AcceleratorRange range_of(ObjectReader& reader, const Place& place, const Cluster* cluster,
                          bool may_be_all) {
  const int of_node = accelerators_of_node(cluster);
  if (place.node && place.accelerator) {
    reader.report("accelerator", "a node is named already", "", "name a node or an accelerator");
  }
  if (place.node) return {*place.node * of_node, (*place.node + 1) * of_node - 1};
  const Range all = accelerators_of(cluster);
  if (may_be_all && !place.accelerator) return {0, static_cast<std::int32_t>(all.most)};
  const auto one = place.accelerator.value_or(0);
  if (!place.accelerator) static_cast<void>(reader.integer("accelerator", all));  // is missing
  return {one, one};
}

struct EpisodeFields {
  Place place;
  Span span;
  double time_factor = 1.0;
};

FieldMember<Perturbation> slow_episodes(const Cluster* cluster) {
  using Entry = EpisodeFields;
  std::vector<Field<Entry>> rows;
  add_place(rows, cluster, false);
  add_span(rows);
  rows.push_back({"time_factor",
                  number(&Entry::time_factor, between(1.0, kLargestSlowdown)).required(),
                  "What compute times are multiplied by meanwhile; what the host does takes as "
                  "long as before."});
  return entries<Perturbation>(
      FieldTable<Entry>(std::move(rows)),
      [cluster](ObjectReader& reader, const Entry& entry, Perturbation& perturbation) {
        check_span(reader, entry.span);
        perturbation.slow_episodes.push_back(
            {.accelerators = range_of(reader, entry.place, cluster, false),
             .from = entry.span.from.count(),
             .to = entry.span.end(),
             .time_factor = entry.time_factor});
      });
}

struct PauseFields {
  Place place;
  Seconds every;
  Seconds lasts;
  bool together = false;
};

FieldMember<Perturbation> pauses(const Cluster* cluster) {
  using Entry = PauseFields;
  std::vector<Field<Entry>> rows;
  add_place(rows, cluster, true);
  rows.push_back({"every", quantity(&Entry::every, positive()).required_as(R"("10 s")"),
                  "From the start of one pause to the start of the next."});
  rows.push_back({"lasts", quantity(&Entry::lasts, at_least(0.0)).required_as(R"("100 ms")"),
                  "How long one is.\nlimits: less than every"});
  rows.push_back({"together", flag(&Entry::together),
                  R"(Whether all pause at the same moments, as with planned garbage collection; else
each has a phase of its own. Phases are drawn evenly; what rare pauses cost is spread over all
iterations, as many as one meets on average.
see: Lin et al. 2025 (arXiv:2505.05713))"});
  return entries<Perturbation>(
      FieldTable<Entry>(std::move(rows)),
      [cluster](ObjectReader& reader, const Entry& entry, Perturbation& perturbation) {
        const AcceleratorRange range = range_of(reader, entry.place, cluster, true);
        if (!reader.diagnostics().has_errors() && entry.lasts >= entry.every) {
          reader.report("lasts", "a pause is over before the next one begins",
                        fmt::format("every {} s", entry.every.count()),
                        "make \"lasts\" shorter than \"every\"");
        }
        if (entry.lasts <= Seconds(0.0)) return;
        perturbation.pauses.push_back({.accelerators = range,
                                       .every = entry.every.count(),
                                       .lasts = entry.lasts.count(),
                                       .together = entry.together});
      });
}

VertexId vertex_of(const JsonCursor& named, const Topology& topology, Diagnostics& diagnostics) {
  if (!named.text()) {
    diagnostics.add(named.problem("a switch or NIC is named by a text", "",
                                  fmt::format("such as {}", in_quotes(topology.name(0)))));
    return -1;
  }
  const std::string name = *named.text();
  const VertexId found = topology.find(name);
  if (found != -1) return found;
  std::vector<std::string_view> names;
  for (VertexId id = 0; id < topology.vertex_count(); ++id) names.push_back(topology.name(id));
  const auto meant = closest(name, names);
  diagnostics.add(named.problem(
      fmt::format("no switch or NIC is called {}", in_quotes(name)), "",
      meant ? fmt::format("did you mean {}?", in_quotes(*meant))
            : fmt::format("they are called such as {}", in_quotes(topology.name(0)))));
  return -1;
}

/// Both ways of what "cable" or "nic" name.
std::vector<LinkId> links_of(ObjectReader& reader, const Cluster* cluster) {
  const bool is_cable = reader.has("cable");
  const std::vector<JsonCursor> ends = reader.elements("cable");
  const auto nic = reader.part("nic");
  if (nic.has_value() == is_cable || (is_cable && ends.size() != 2)) {
    reader.report(is_cable ? "cable" : "nic",
                  "a slow link is a cable with two ends, or that of a NIC", "",
                  R"(write "cable": ["leaf/unit0/rail3", "spine/5"], or "nic": "node3/nic2")");
    return {};
  }
  if (cluster == nullptr) return {};
  const Topology& topology = cluster->topology;
  const VertexId a = vertex_of(nic ? *nic : ends[0], topology, reader.diagnostics());
  const VertexId b = nic ? -1 : vertex_of(ends[1], topology, reader.diagnostics());
  if (a == -1 || (is_cable && b == -1)) return {};
  std::set<LinkId> links;
  for (const LinkId link : topology.links_from(a)) {
    if (is_cable && topology.link(link).to != b) continue;
    links.insert(link);
    links.insert(Topology::reverse(link));
  }
  if (links.empty()) {
    reader.report(is_cable ? "cable" : "nic", "no cable is there", "",
                  "`headway route` names the ends of cables that flows take");
  }
  return {links.begin(), links.end()};
}

struct LinkFields {
  Span span;
  double bandwidth_factor = 0.0;
};

FieldMember<Perturbation> slow_links(const Cluster* cluster) {
  using Entry = LinkFields;
  std::vector<Field<Entry>> rows{
      {"cable", elsewhere<Entry>(array_type(text_type(), "two texts")),
       R"(What it joins, as `headway route` names it; all cables between the two.
limits: a cable or a nic)"},
      {"nic", elsewhere<Entry>(text_type()),
       R"(The cable of this NIC.
limits: a cable or a nic)"},
      {"bandwidth_factor", number(&Entry::bandwidth_factor, between(0.0, 1.0)).required(),
       "What is left of its rate meanwhile; 0 is down, and comes back."}};
  add_span(rows);
  return entries<Perturbation>(
      FieldTable<Entry>(std::move(rows)),
      [cluster](ObjectReader& reader, const Entry& entry, Perturbation& perturbation) {
        check_span(reader, entry.span);
        if (entry.bandwidth_factor == 0.0 && !entry.span.to) {
          reader.report("to", "what waits for a link that stays down waits for ever", "",
                        "say when it comes back, or name it in the topology's faults");
        }
        for (const LinkId link : links_of(reader, cluster)) {
          perturbation.link_episodes.push_back({.link = link,
                                                .from = entry.span.from.count(),
                                                .to = entry.span.end(),
                                                .bandwidth_factor = entry.bandwidth_factor});
        }
      });
}

struct TrafficFields {
  std::int32_t from_node = 0;
  std::int32_t to_node = 0;
  BytesPerSecond rate;
  Span span;
};

/// Evenly over the node's accelerators, each by its own NIC to its counterpart.
BackgroundFlow background_flow(const TrafficFields& entry, const Cluster& cluster) {
  const int count = cluster.node_type.accelerators;
  std::vector<std::int32_t> senders(static_cast<std::size_t>(count));
  std::vector<std::int32_t> receivers(senders.size());
  std::iota(senders.begin(), senders.end(), entry.from_node * count);
  std::iota(receivers.begin(), receivers.end(), entry.to_node * count);
  BackgroundFlow flow{.from = entry.span.from.count(), .to = entry.span.end()};
  flow.plan = transfer_plan(cluster, ideal_network_costs(cluster.node_type), senders, receivers);
  flow.plan.rate_cap = min(flow.plan.rate_cap, entry.rate / static_cast<double>(count));
  return flow;
}

FieldMember<Perturbation> background_traffic(const Cluster* cluster) {
  using Entry = TrafficFields;
  std::vector<Field<Entry>> rows{
      {"from_node", whole(&Entry::from_node, nodes_of(cluster)).required(),
       "Who sends. Both ways takes two entries."},
      {"to_node", whole(&Entry::to_node, nodes_of(cluster)).required(),
       "Who receives.\nlimits: another node"},
      {"rate", quantity(&Entry::rate, positive()).required(),
       "What the node sends where nothing else is in the way."}};
  add_span(rows);
  return entries<Perturbation>(
      FieldTable<Entry>(std::move(rows)),
      [cluster](ObjectReader& reader, const Entry& entry, Perturbation& perturbation) {
        check_span(reader, entry.span);
        if (entry.from_node == entry.to_node && !reader.diagnostics().has_errors()) {
          reader.report("to_node", "traffic inside a node does not meet the fabric", "",
                        "name two nodes");
        }
        if (cluster == nullptr || reader.diagnostics().has_errors()) return;
        perturbation.background.push_back(background_flow(entry, *cluster));
      });
}

}  // namespace

std::vector<Field<Perturbation>> slowdown_rows(const Cluster* cluster) {
  return {
      {"slow_episodes", slow_episodes(cluster),
       R"(Accelerators that are slower for a part of the iteration: thermal throttling, or, without
an end, a node that fails slow.
default: [])"},
      {"pauses", pauses(cluster),
       R"(Accelerators that stand still again and again: garbage collection, noise of the operating
system. The ranks that wait for each other stand still while one of them does.
default: [])"},
      {"slow_links", slow_links(cluster),
       R"(Cables that carry less for a part of the iteration, both ways: a degraded cable, a link
that flaps. For the whole iteration they are faults of the topology.
default: [])"},
      {"background_traffic", background_traffic(cluster),
       R"(What two nodes send each other for somebody else, evenly over the NICs of the node. It
gets its max-min share of every link, up to its rate.
default: [])"}};
}

}  // namespace headway

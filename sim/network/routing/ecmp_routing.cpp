#include <fmt/format.h>

#include "sim/base/diagnostic.h"
#include "sim/network/routing/equal_cost_paths.h"

namespace headway {

namespace {

constexpr int kMostQueuePairs = 256;

/// The finalizer of SplitMix64 (Steele, Lea, Flood 2014): every bit of the input reaches every bit
/// of the output.
std::uint64_t mixed(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

/// A number in [0, choices), each equally likely.
std::size_t pick(std::uint64_t hash, std::size_t choices) {
  return static_cast<std::size_t>((hash >> 32) * choices >> 32);
}

struct EcmpSettings {
  int queue_pairs = 1;
  std::uint64_t seed = 1;
  bool is_polarised = false;
};

/// Equal-cost multi-path: each switch hashes the addresses and ports of a packet and takes one of
/// the next links on a shortest path. A flow is spread over queue pairs, each with a source port of
/// its own, which carry equal parts. Where every switch hashes with the same function the choices
/// of one tier repeat on the next (polarisation); by default each has its own.
class EcmpRouting final : public Routing {
 public:
  EcmpRouting(const RoutingRequest& request, const EcmpSettings& settings)
      : topology_(request.topology), paths_(equal_cost_paths(request)), settings_(settings) {}

  void append_route(VertexId source, VertexId destination, std::uint64_t flow,
                    std::vector<LinkShare>& route) const override {
    if (source == destination) return;
    const std::size_t before = route.size();
    const std::uint64_t pair = static_cast<std::uint64_t>(static_cast<std::uint32_t>(source))
                                   << 32 |
                               static_cast<std::uint32_t>(destination);
    const std::uint64_t addresses = mixed(mixed(mixed(settings_.seed) ^ pair) ^ flow);
    const double share = 1.0 / settings_.queue_pairs;
    std::vector<LinkId> choices;
    for (int queue_pair = 0; queue_pair < settings_.queue_pairs; ++queue_pair) {
      const std::uint64_t header = mixed(addresses ^ static_cast<std::uint64_t>(queue_pair));
      for (VertexId at = source; at != destination;) {
        paths_->first_links(at, destination, choices);
        if (choices.empty()) {
          route.resize(before);
          throw UnreachableError(topology_, source, destination);
        }
        const std::uint64_t hash =
            settings_.is_polarised ? header : mixed(header ^ static_cast<std::uint64_t>(at));
        const LinkId link = choices[pick(hash, choices.size())];
        route.push_back({.link = link, .share = share});
        at = topology_.link(link).to;
      }
    }
  }

  [[nodiscard]] std::optional<int> route_class(VertexId source,
                                               VertexId destination) const override {
    return paths_->route_class(source, destination);
  }

  [[nodiscard]] bool hashes_flows() const override { return true; }

 private:
  const Topology& topology_;
  std::unique_ptr<const PathChoices> paths_;
  EcmpSettings settings_;
};

const FieldTable<EcmpSettings>& ecmp_fields() {
  static const FieldTable<EcmpSettings> kFields(
      {{"queue_pairs", whole(&EcmpSettings::queue_pairs, between(1, kMostQueuePairs)),
        R"(Connections that carry equal parts of a flow, each hashed by itself: channels times
NCCL_IB_QPS_PER_CONNECTION.)"},
       {"seed", whole(&EcmpSettings::seed, at_least(0)),
        "Of the switches' hash functions: another seed is another draw of collisions."},
       {"polarised", flag(&EcmpSettings::is_polarised),
        R"(All switches hash with the same function, so that the choices of one tier repeat on the
next.)"}});
  return kFields;
}

std::unique_ptr<const Routing> build_ecmp_routing(ObjectReader& reader,
                                                  const RoutingRequest& request) {
  const std::size_t problems = reader.diagnostics().errors();
  EcmpSettings settings;
  ecmp_fields().read(reader, settings);
  if (reader.diagnostics().errors() != problems) return nullptr;
  return std::make_unique<EcmpRouting>(request, settings);
}

}  // namespace

RoutingKind ecmp_routing() {
  return {"ecmp", build_ecmp_routing, [] { return ecmp_fields().described(); }};
}

}  // namespace headway

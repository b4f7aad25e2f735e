#include "sim/base/words.h"
#include "sim/network/routing/equal_cost_paths.h"
#include "sim/network/routing/group_detours.h"

namespace headway {

namespace {

/// What goes another way than the one before it.
enum class Spread {
  packets,  ///< each by itself: InfiniBand, Spectrum-X, EFA, Slingshot
  flowlets  ///< bursts between pauses, of which RDMA has few: plain Ethernet switches
};

}  // namespace

template <>
inline constexpr Word<Spread> kWords<Spread>[] = {{"packets", Spread::packets},
                                                  {"flowlets", Spread::flowlets}};

namespace {

/// The share of the rate that packets keep by adaptive routing on InfiniBand, or sprayed over
/// Ethernet (NVIDIA, 28 October 2024: Spectrum-X keeps 95 % of the throughput).
constexpr double kEfficiencyOfPackets = 0.95;
/// Random shifts of 4 MB messages over leaves and spines at 400 Gb/s, packet by packet with
/// priority flow control: where they would take about 90 us, with flowlets they took 176 in the
/// mean and 269 in the slowest flow.
constexpr double kEfficiencyOfFlowlets = 90.0 / 176.0;
constexpr double kSlowestFlowlets = 90.0 / 269.0;

struct AdaptiveSettings {
  Spread spread = Spread::packets;
  double efficiency = kEfficiencyOfPackets;
};

/// Every switch spreads packets over all next links on shortest paths, in the long run equally, or
/// where some lead over slower cables, whose queues are longer, by what they carry. On a dragonfly
/// what shortest paths do not carry takes longer ones (UGAL; Slingshot: De Sensi et al. 2020).
class AdaptiveRouting final : public Routing {
 public:
  AdaptiveRouting(const RoutingRequest& request, const AdaptiveSettings& settings)
      : topology_(request.topology),
        paths_(equal_cost_paths(request)),
        settings_(settings),
        is_even_(is_evenly_wide(request.topology)) {
    if (const auto* groups = dynamic_cast<const GroupLayout*>(request.layout)) {
      detours_.emplace(*groups, true);
    }
  }

  void append_route(VertexId source, VertexId destination, std::uint64_t /*flow*/,
                    std::vector<LinkShare>& route) const override {
    const auto append = is_even_ ? append_split : append_split_by_width;
    if (append(*paths_, topology_, source, destination, 1.0, route)) return;
    throw UnreachableError(topology_, source, destination);
  }

  [[nodiscard]] std::optional<int> route_class(VertexId source,
                                               VertexId destination) const override {
    return is_even_ ? paths_->route_class(source, destination) : std::nullopt;
  }

  [[nodiscard]] bool sees_load() const override { return detours_.has_value(); }
  void relieve(const Topology& topology, BytesPerSecond pace,
               std::vector<LinkShare>& loads) const override {
    if (detours_) detours_->relieve(topology, pace, loads);
  }

  [[nodiscard]] double efficiency() const override { return settings_.efficiency; }
  [[nodiscard]] double least_efficiency() const override {
    constexpr double kLeastShare = kSlowestFlowlets / kEfficiencyOfFlowlets;
    return settings_.efficiency * (settings_.spread == Spread::flowlets ? kLeastShare : 1.0);
  }

 private:
  const Topology& topology_;
  std::unique_ptr<const PathChoices> paths_;
  AdaptiveSettings settings_;
  bool is_even_;
  std::optional<GroupDetours> detours_;  ///< of a dragonfly
};

const FieldTable<AdaptiveSettings>& adaptive_fields() {
  using Settings = AdaptiveSettings;
  static const FieldTable<Settings> kFields(
      {{"spread", word(&Settings::spread),
        R"(What goes another way than what came before it: each of the packets (InfiniBand,
Spectrum-X, EFA, Slingshot), or flowlets, bursts with a pause behind them, of which RDMA has few
(other Ethernet switches).
see: --what-if, which tells what the slowest flowlets do)"},
       {"efficiency",
        number(&Settings::efficiency, {.least = 0.0, .most = 1.0, .open = true})
            .settled([](Settings& settings) {
              if (settings.spread == Spread::flowlets) settings.efficiency = kEfficiencyOfFlowlets;
            }),
        R"(What part of the links between switches flows fill, as packets are spread a little
unevenly, and flowlets more so.
default: 0.95 of packets, 0.51 of flowlets
see: NVIDIA, 28 October 2024: Spectrum-X keeps 95 % of the throughput)"}});
  return kFields;
}

std::unique_ptr<const Routing> build_adaptive_routing(ObjectReader& reader,
                                                      const RoutingRequest& request) {
  AdaptiveSettings settings;
  adaptive_fields().read(reader, settings);
  return std::make_unique<AdaptiveRouting>(request, settings);
}

}  // namespace

RoutingKind adaptive_routing() {
  return {"adaptive", build_adaptive_routing, [] { return adaptive_fields().described(); }};
}

}  // namespace headway

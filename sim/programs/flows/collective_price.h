#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "sim/costs/collective_cost.h"
#include "sim/costs/nccl_constants.h"
#include "sim/costs/profile.h"
#include "sim/programs/flows/flow_plans.h"

namespace headway {

/// What somebody knows of collectives.
struct PriceEvidence {
  CollectiveLibrary library = CollectiveLibrary::hardware;
  const Profile* profile = nullptr;  ///< with `profile`
  const NodeType* node = nullptr;    ///< of the ranks; unsaid the cluster's first type
  /// What is for another rail goes by the accelerator there (PXN); unsaid NCCL does so, since
  /// 2.12, and nobody else.
  std::optional<bool> is_rail_local = {};
};

/// What one message costs: a flow of `amount` bytes along a way, `time` on an idle network.
struct CollectivePrice {
  std::size_t way = 0;
  Bytes amount;
  Seconds time;
  Seconds at_least = {};  ///< of the flow, behind its latency, however idle its links are
};

/// The price of a collective: of every command, of training's exchanges between replicas as of
/// `headway collective` and of the validation against published sweeps. A message takes what was
/// measured, where the evidence measured this kind among so many ranks on links like these; else
/// the way that is fastest on an idle network, as NCCL chooses by its own model.
///
/// What the evidence lets choose from: with `hardware` and `profile` ring and tree, and on a torus
/// the rings of all its dimensions (nobody gets switches that add, or hierarchies, unasked), with
/// `nccl` what NCCL has: ring and tree by three protocols, NVLS where the switches of the scale-up
/// fabric reduce.
class PricedCollective {
 public:
  /// One way to run it, laid over the network.
  struct Way {
    CollectiveAlgorithm algorithm = CollectiveAlgorithm::ring;
    std::string_view protocol;  ///< "LL128"; empty where no library is asked
    FlowPlan plan;              ///< of all groups together
  };

  /// `groups` run it at the same time, each alike. Without `algorithm` all that the evidence has.
  /// With `nccl`, requires `nccl_node_costs` of the cluster's accelerator. The profile of the
  /// evidence has to live as long.
  PricedCollective(const Cluster& cluster, const PriceEvidence& evidence, CollectiveKind kind,
                   const CollectiveGroups& groups,
                   std::optional<CollectiveAlgorithm> algorithm = std::nullopt,
                   PlanDetail detail = PlanDetail::fabric);

  /// By one way alone, along a plan whose flow takes so many seconds a byte.
  PricedCollective(CollectiveKind kind, CollectiveAlgorithm algorithm, int ranks, FlowPlan plan,
                   double seconds_per_byte);

  /// The price of the all-gather of groups whose reduce-scatter this is, or the other way around:
  /// both send as much around the same rings. Requires evidence that knows of nothing but rings for
  /// them, or those of a torus, as all but NCCL's do.
  [[nodiscard]] PricedCollective mirrored() const;

  /// Empty if there is no such algorithm for this kind, the groups lack what it needs, or NCCL has
  /// none such here.
  [[nodiscard]] const std::vector<Way>& ways() const { return laid_->ways; }

  /// What a message costs, its size as nccl-tests counts it. Requires a way.
  [[nodiscard]] CollectivePrice price(Bytes message) const;
  /// What a message costs that is sent in `parts` equal parts, a collective each and one behind the
  /// other. Where each begins at the next rank, as broadcasts do by which ranks hand round what
  /// they have, a part follows the one before around the ring: it waits for the other end only
  /// where it begins on the same node. Fractions are averages; below one it is one.
  [[nodiscard]] CollectivePrice price(Bytes message, double parts) const;

 private:
  /// How the idle network takes a way.
  struct Idle {
    double bytes_factor = 1.0;                ///< what the flow carries of a message
    std::optional<NcclProtocol> filled_by{};  ///< a tree of NCCL's, which small ones do not fill
    double large_share = 1.0;                 ///< of a byte beyond what fills a node's buffers
    double seconds_per_byte = 0.0;            ///< of the flow
    /// What whoever chooses takes both for; nothing where it knows them as they are.
    std::optional<LinkCost> believed{};
    /// Between nodes, how long a chain of ranks that hand on a chunk at a time takes to hand on a
    /// byte of it from end to end.
    double chain_seconds_per_byte = 0.0;
  };
  [[nodiscard]] Seconds handing_on_time(const Idle& idle, Bytes message) const;

  CollectiveKind kind_;
  int ranks_ = 1;
  double in_domain_ = 1.0;  ///< ranks in a scale-up domain, on average
  struct Laid {
    std::vector<Way> ways;
    std::vector<Idle> idle;  ///< by way
  };
  std::shared_ptr<const Laid> laid_;                           ///< of all copies: plans are long
  const std::vector<MeasuredCollective>* measured_ = nullptr;  ///< of the evidence's profile
  std::optional<std::size_t> measured_way_;
};

/// Has a transfer take what was measured of a message of that size between two ranks, where the
/// evidence measured it on links like these: stretched over its links as a whole, no latency apart.
void take_measured_time(FlowPlan& transfer, const Cluster& cluster, const PriceEvidence& evidence,
                        Bytes message);

/// What messages between ranks of such nodes cost beyond the wire, in a collective of that kind.
[[nodiscard]] NetworkCosts scope_costs(const NodeType& node, const PriceEvidence& evidence,
                                       CollectiveKind kind = CollectiveKind::send_receive);

/// What a profile measured of collectives over links like those of the node; nullptr if nothing.
[[nodiscard]] const std::vector<MeasuredCollective>* measured_curves(const Profile& profile,
                                                                     const NodeType& node,
                                                                     bool crosses_fabric);

}  // namespace headway

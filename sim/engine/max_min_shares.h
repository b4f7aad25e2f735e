#pragma once

#include <boost/container/small_vector.hpp>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "sim/engine/fetch.h"
#include "sim/network/topology.h"

namespace headway {

/// Max-min fair rates of flows over shared links, kept up to date as flows come and go.
///
/// A flow of rate r takes weight * r of each link it uses, and r is at most the flow's cap. Rates
/// are max-min fair (Bertsekas, Gallager, Data Networks, 6.5.2): every flow either runs at its cap
/// or has a bottleneck, a full link on which no flow is faster. That property is what makes an
/// update local: only flows whose bottleneck may have moved are computed anew, the rest is held
/// fixed, and whoever then lacks a bottleneck joins them until nobody does. The result is the one
/// max-min allocation, equal to solving everything from scratch, at a cost that follows the change
/// and not the size of the coupled system.
class MaxMinShares {
 public:
  struct Use {
    std::int32_t link;
    double weight;  ///< > 0
  };
  struct Change {
    std::int32_t flow;
    double rate;
  };

  explicit MaxMinShares(std::vector<double> capacities);

  /// Between what vertices a link runs; -1 where it is none of the fabric's.
  struct LinkEnds {
    VertexId from = -1;
    VertexId to = -1;
  };
  /// From then on shares are what switches leave that pause whole links (IEEE 802.1Qbb, and credits
  /// of InfiniBand) and senders that nobody slows down: where a link holds flows up, the links by
  /// which they come to it are held up with everybody on them, be he bound elsewhere (head-of-line
  /// blocking; Zhu et al. 2015, "Congestion Control for Large-Scale RDMA Deployments", 2.2). Before
  /// any flow. Whoever meets somebody that meets somebody, and so on, is computed anew.
  void pause_upstream(std::vector<LinkEnds> ends);

  /// Adds a flow; `uses` (each link at most once) must outlive it. Its rate is known after
  /// `settle`. Handles are reused after `remove`.
  std::int32_t add(std::span<const Use> uses, double cap);
  /// The same for a flow whose links nobody else uses: its rate is known at once. -1, and nothing
  /// is added, if somebody does.
  std::int32_t add_alone(std::span<const Use> uses, double cap);
  void remove(std::int32_t flow);

  /// Flows that were alone on a link of the one added last, or are on the link changed last; valid
  /// until the next of either.
  [[nodiscard]] std::span<const std::int32_t> concerned() const { return concerned_; }

  /// From the next settling on; may be 0, which leaves the flows of the link without any rate.
  void set_capacity(std::int32_t link, double capacity);

  /// Brings the rates up to date and returns the flows whose rate changed, valid until the next
  /// call of any member.
  std::span<const Change> settle();

  /// Has what is known of a flow that is removed soon brought into the cache, and then, when that
  /// is there, its links.
  [[gnu::always_inline]] void fetch_flow(std::int32_t flow) const {
    fetch(&flows_[index(flow)]);
    fetch(&paces_[index(flow)]);
  }
  [[gnu::always_inline]] void fetch_links_of(std::int32_t flow) const {
    fetch_links(flows_[index(flow)].uses);
  }
  /// The same for the links of a flow that is added soon. Not the thousands of a ring: they would
  /// drive out each other.
  [[gnu::always_inline]] void fetch_links(std::span<const Use> uses) const {
    constexpr std::size_t kMost = 8;
    if (uses.size() > kMost) return;
    for (const Use& use : uses) fetch(&links_[index(use.link)].capacity);
  }

  [[nodiscard]] double rate(std::int32_t flow) const { return paces_[index(flow)].rate; }

  /// What was done so far: the work is that of the flows computed anew, be it several times in a
  /// settling that goes through several rounds.
  struct Counts {
    std::int64_t settlings = 0;
    std::int64_t rounds = 0;
    std::int64_t recomputed = 0;  ///< flows, in all rounds
    std::int64_t changed = 0;     ///< rates
  };
  [[nodiscard]] const Counts& counts() const { return counts_; }

 private:
  static constexpr std::int32_t kOwnBound =
      -1;  ///< the bottleneck of a flow that runs at its bound

  /// What links ask of their users again and again, close together.
  struct Pace {
    double rate = 0.0;
    std::int32_t bottleneck = kOwnBound;
    bool chosen = false;  ///< computed anew in this settling
    bool placed = false;  ///< has its rate in this round
  };
  /// A use of a link that may hold its users back.
  struct Shared {
    std::int32_t link;
    std::int32_t use;
    double weight;
  };
  /// Where a use stands in the lists of others.
  struct Place {
    std::int32_t user;    ///< among the link's users
    std::int32_t shared;  ///< among the flow's shared uses, where it is one
  };
  /// What most flows and links need lies in them: memory that is looked for is what updates cost.
  struct Flow {
    std::span<const Use> uses;
    boost::container::small_vector<Place, 4> places;  ///< one a use
    /// Uses of links that are tight, in no order. The rest allows what it allows anybody: it is
    /// part of `bound` and need not be looked at again, be it thousands of links of a ring.
    boost::container::small_vector<Shared, 3> shared;
    double cap = 0.0;
    double bound = 0.0;      ///< the rate that its cap and its links would allow if it were alone
    double told_rate = 0.0;  ///< in the last change of this flow
    bool active = false;
    std::int32_t turn = 0;  ///< in chosen_, while filling
  };
  struct User {
    std::int32_t flow;
    std::int32_t use;  ///< which of the flow's uses this is
    double weight;
  };
  /// Its first cache line is all that a flow which meets nobody asks for.
  struct alignas(64) LinkState {
    double capacity = 0.0;
    boost::container::small_vector<User, 2> users;
    double left = 0.0;          ///< this round: capacity that no placed flow takes
    double weights = 0.0;       ///< this round: of chosen flows without a rate
    std::int32_t unplaced = 0;  ///< this round: chosen flows without a rate
    std::int32_t version = 0;
    std::int32_t turn = 0;  ///< in chosen_links_, while filling
    double fastest = 0.0;   ///< rate of any flow after this round
    double slowest = 0.0;   ///< likewise, of those whose bottleneck it was before
    bool full = false;      ///< after this round
    bool listed = false;    ///< in chosen_links_
    /// Whether its users could fill it if nothing else held them back: only then are they to be
    /// told what it leaves them.
    bool tight = false;
    double wanted = 0.0;  ///< what they would then take; kept where there are two or more
  };
  struct Candidate {
    double rate;
    std::int32_t link;  ///< or kOwnBound
    std::int32_t flow;  ///< if kOwnBound
    std::int32_t version;
    friend bool operator>(const Candidate& a, const Candidate& b) {
      if (a.rate != b.rate) return a.rate > b.rate;
      if (a.link != b.link) return a.link > b.link;
      return a.flow > b.flow;
    }
  };

  static std::size_t index(std::int32_t i) { return static_cast<std::size_t>(i); }

  std::int32_t new_flow(std::span<const Use> uses, double cap);
  void choose(std::int32_t flow);
  void join(std::int32_t link);
  void leave(const Use& use, double bound);
  void review(std::int32_t link);
  void sum_up(LinkState& link) const;
  [[nodiscard]] static bool could_be_filled(const LinkState& link);
  void set_tight(std::int32_t link, bool tight);
  void share(std::int32_t link, const User& user);
  void unshare(const User& user);
  void set_bound(Flow& flow) const;
  [[nodiscard]] double wanted_by(const User& user) const {
    return user.weight * flows_[index(user.flow)].bound;
  }
  void fill_until_fair();
  void fill_with_pauses();
  void choose_all_that_meet();
  std::size_t place_the_slowest();
  std::size_t hold_up(std::int32_t link, double rate);
  std::span<const std::int32_t> links_into(std::span<const Use> uses, VertexId at);
  std::size_t pause_before(std::int32_t handle, std::int32_t link, double rate);
  void list_links_of(std::int32_t flow);
  void prepare_links();
  void fill();
  void place_one(std::int32_t flow);
  void fill_by_scanning();
  void fill_by_heap();
  std::size_t place_users(std::int32_t link, double rate);
  void place(std::int32_t flow, double rate, std::int32_t bottleneck);
  void measure(std::int32_t link);
  [[nodiscard]] bool find_bottleneck(std::int32_t flow);
  void choose_the_faster_beside(std::int32_t flow);
  [[nodiscard]] bool choose_the_unfair();

  std::vector<LinkState> links_;
  std::vector<Flow> flows_;
  std::vector<Pace> paces_;  ///< of flows_
  std::vector<std::int32_t> free_flows_;
  std::vector<std::int32_t> concerned_;
  std::vector<std::int32_t> touched_links_;  ///< lost a flow since the last settling
  std::vector<std::int32_t> chosen_;
  std::vector<std::int32_t> chosen_links_;
  std::vector<Candidate> heap_;
  std::vector<double> levels_;  ///< what chosen links allow
  std::vector<double> bounds_;  ///< of chosen flows
  std::vector<Change> changes_;
  std::vector<LinkEnds> ends_;  ///< of links_; empty where nobody pauses
  std::vector<bool> met_;       ///< of links_, in this settling
  std::vector<bool> paused_;    ///< likewise
  std::vector<std::int32_t> met_links_;
  std::vector<std::int32_t> paused_links_;
  /// Links of the uses that flows have had, by where these lie.
  std::unordered_map<const Use*, std::vector<std::int32_t>> links_by_end_;
  Counts counts_;
};

}  // namespace headway

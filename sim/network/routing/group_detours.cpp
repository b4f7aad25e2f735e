#include "sim/network/routing/group_detours.h"

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <optional>
#include <utility>

namespace headway {
namespace {

using Way = std::vector<LinkId>;

/// One of the links in service from one vertex to another, of parallel ones that of a number,
/// counted round; -1 if there is none.
LinkId link_between(const Topology& topology, VertexId from, VertexId to, std::size_t number) {
  LinkId first = -1;
  std::size_t count = 0;
  for (const LinkId link : topology.links_from(from)) {
    if (topology.link(link).to == to && count++ == 0) first = link;
  }
  if (count < 2 || number % count == 0) return first;
  std::size_t left = number % count;
  for (const LinkId link : topology.links_from(from)) {
    if (topology.link(link).to == to && left-- == 0) return link;
  }
  return first;
}

/// A way through vertices, one of several of the same, which go by parallel cables in turn; empty
/// where two are not cabled. A vertex may be named twice.
Way way_through(const Topology& topology, std::initializer_list<VertexId> vertices,
                std::size_t number) {
  Way way;
  way.reserve(vertices.size() - 1);
  VertexId at = *vertices.begin();
  for (const VertexId next : vertices) {
    if (next == at) continue;
    const LinkId link = link_between(topology, at, next, number);
    if (link == -1) return {};
    way.push_back(link);
    at = next;
  }
  return way;
}

/// Links with what they carry, and crowded ones of them with ways around.
class Crowd {
 public:
  struct Crowded {
    std::size_t link = 0;
    std::vector<std::vector<std::size_t>> ways;  ///< shorter ones first
  };

  Crowd(const Topology& topology, BytesPerSecond pace, std::span<const LinkShare> loads,
        std::span<const std::pair<LinkId, std::vector<Way>>> crowded) {
    for (const auto& [link, ways] : crowded) {
      links_.push_back(link);
      for (const Way& way : ways) links_.insert(links_.end(), way.begin(), way.end());
    }
    std::ranges::sort(links_);
    const auto repeated = std::ranges::unique(links_);
    links_.erase(repeated.begin(), repeated.end());
    for (const LinkId link : links_) {
      room_.push_back(topology.link(link).capacity / pace);
      const auto known = std::ranges::lower_bound(loads, link, {}, &LinkShare::link);
      carried_.push_back(known != loads.end() && known->link == link ? known->share : 0.0);
    }
    for (const auto& [link, ways] : crowded) {
      Crowded& here = crowded_.emplace_back();
      here.link = number(link);
      for (const Way& way : ways) {
        std::vector<std::size_t>& numbers = here.ways.emplace_back();
        for (const LinkId each : way) numbers.push_back(number(each));
      }
    }
  }

  /// How full the fullest link is that would be relieved.
  [[nodiscard]] double fullest() const {
    double most = 0.0;
    for (const Crowded& crowded : crowded_) {
      most = std::max(most, carried_[crowded.link] / room_[crowded.link]);
    }
    return most;
  }

  /// What links carry if none of the crowded ones is fuller than `full`; nothing if there is no
  /// room for that.
  [[nodiscard]] std::optional<std::vector<double>> spread(double full) const {
    std::vector<double> carried = carried_;
    for (const Crowded& crowded : crowded_) {
      const double excess = carried[crowded.link] - full * room_[crowded.link];
      if (excess <= 0.0) continue;
      const double left = move(crowded, excess, full, carried);
      if (left > kRounding * excess) return std::nullopt;
      carried[crowded.link] -= excess;
    }
    return carried;
  }

  [[nodiscard]] const std::vector<LinkId>& links() const { return links_; }

 private:
  static constexpr double kRounding = 1e-12;

  [[nodiscard]] std::size_t number(LinkId link) const {
    return static_cast<std::size_t>(std::ranges::lower_bound(links_, link) - links_.begin());
  }

  /// Puts `excess` on the ways: of those that are equally long equally much on each, as far as it
  /// has room. Returns what is left over.
  [[nodiscard]] double move(const Crowded& crowded, double excess, double full,
                            std::vector<double>& carried) const {
    auto first = crowded.ways.begin();
    while (first != crowded.ways.end() && excess > 0.0) {
      const auto last = std::find_if(first, crowded.ways.end(),
                                     [&](const auto& way) { return way.size() != first->size(); });
      const double each = excess / static_cast<double>(last - first);
      for (const double most : {each, std::numeric_limits<double>::infinity()}) {
        for (auto way = first; way != last; ++way) {
          double part = std::min(most, excess);
          for (const std::size_t link : *way) {
            part = std::min(part, full * room_[link] - carried[link]);
          }
          if (part <= 0.0) continue;
          for (const std::size_t link : *way) carried[link] += part;
          excess -= part;
        }
      }
      first = last;
    }
    return excess;
  }

  std::vector<LinkId> links_;  ///< sorted
  std::vector<double> room_;   ///< by their numbers: what they carry at the pace
  std::vector<double> carried_;
  std::vector<Crowded> crowded_;
};

}  // namespace

GroupDetours::GroupDetours(GroupLayout layout, bool between_groups)
    : layout_(std::move(layout)), between_groups_(between_groups) {
  const auto groups = static_cast<std::size_t>(layout_.groups);
  entries_.resize(groups * groups);
  for (const auto& [pair, switches] : layout_.entries) {
    entries_[static_cast<std::size_t>(pair.second) * groups +
             static_cast<std::size_t>(pair.first)] = &switches;
  }
}

std::vector<Way> GroupDetours::ways_around(const Topology& topology, LinkId id) const {
  const Link& link = topology.link(id);
  const int from = group(link.from);
  const int to = group(link.to);
  std::vector<Way> ways;
  const auto add = [&](Way way) {
    const bool is_itself = way.size() == 1 && way.front() == id;
    if (!way.empty() && !is_itself) ways.push_back(std::move(way));
  };
  if (from == to) {
    VertexId last = -1;
    std::size_t number = 0;  // of parallel cables
    for (const LinkId first : topology.links_from(link.from)) {
      const VertexId between = topology.link(first).to;
      number = between == last ? number + 1 : 0;
      last = between;
      if (!topology.is_switch(between) || group(between) != from || between == link.to) continue;
      add(way_through(topology, {link.from, between, link.to}, number));
    }
    return ways;
  }
  if (!between_groups_) return ways;
  // A cable of two groups stands at the same place in the lists of both.
  const auto here = [&](int a, int b) -> const std::vector<VertexId>& {
    return *entries_[static_cast<std::size_t>(a * layout_.groups + b)];
  };
  std::size_t own = 0;
  for (std::size_t i = 0; i < here(from, to).size(); ++i) {
    if (here(from, to)[i] == link.from && here(to, from)[i] == link.to) own = i;
    add(way_through(topology, {link.from, here(from, to)[i], here(to, from)[i], link.to}, i));
  }
  for (int third = 0; third < layout_.groups; ++third) {
    if (third == from || third == to) continue;
    // Cables that stand beside each other go by others that do.
    const std::size_t i = own % here(from, third).size();
    const std::size_t j = own % here(third, to).size();
    add(way_through(topology,
                    {link.from, here(from, third)[i], here(third, from)[i], here(third, to)[j],
                     here(to, third)[j], link.to},
                    own));
  }
  std::ranges::stable_sort(ways, {}, &Way::size);
  return ways;
}

void GroupDetours::relieve(const Topology& topology, BytesPerSecond pace,
                           std::vector<LinkShare>& loads) const {
  constexpr double kFull = 1.0 + 1e-9;
  constexpr int kHalvings = 20;  // to a millionth
  std::vector<std::pair<LinkId, std::vector<Way>>> crowded;
  for (const LinkShare& load : loads) {
    const Link& link = topology.link(load.link);
    if (!topology.is_switch(link.from) || !topology.is_switch(link.to)) continue;
    if (load.share * pace <= kFull * link.capacity) continue;
    crowded.emplace_back(load.link, ways_around(topology, load.link));
  }
  if (crowded.empty()) return;
  const Crowd crowd(topology, pace, loads, crowded);
  double most = crowd.fullest();
  double least = 1.0;
  auto relieved = crowd.spread(least);
  for (int i = 0; !relieved && i < kHalvings; ++i) {
    const double full = 0.5 * (least + most);
    (crowd.spread(full) ? most : least) = full;
  }
  if (!relieved) relieved = crowd.spread(most);
  if (!relieved) return;
  std::vector<LinkShare> others;  // that carried nothing before
  for (std::size_t i = 0; i < relieved->size(); ++i) {
    const LinkId link = crowd.links()[i];
    const auto known = std::ranges::lower_bound(loads, link, {}, &LinkShare::link);
    if (known != loads.end() && known->link == link) {
      known->share = (*relieved)[i];
    } else if ((*relieved)[i] > 0.0) {
      others.push_back({.link = link, .share = (*relieved)[i]});
    }
  }
  const auto middle = static_cast<std::ptrdiff_t>(loads.size());
  loads.insert(loads.end(), others.begin(), others.end());
  std::ranges::inplace_merge(loads, loads.begin() + middle, {}, &LinkShare::link);
}

}  // namespace headway

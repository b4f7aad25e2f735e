#include <algorithm>
#include <limits>
#include <utility>

#include "sim/engine/max_min_shares.h"

namespace headway {

void MaxMinShares::pause_upstream(std::vector<LinkEnds> ends) {
  ends_ = std::move(ends);
  met_.assign(links_.size(), false);
  paused_.assign(links_.size(), false);
}

/// A pause reaches over any number of links.
void MaxMinShares::choose_all_that_meet() {
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    for (const Use& use : flows_[index(chosen_[i])].uses) {
      const LinkState& link = links_[index(use.link)];
      if (link.users.size() < 2 || met_[index(use.link)]) continue;
      met_[index(use.link)] = true;
      met_links_.push_back(use.link);
      for (const User& user : link.users) choose(user.flow);
    }
  }
}

void MaxMinShares::fill_with_pauses() {
  choose_all_that_meet();
  if (chosen_.empty()) return;
  ++counts_.settlings;
  ++counts_.rounds;
  counts_.recomputed += std::ssize(chosen_);
  for (const std::int32_t handle : chosen_) list_links_of(handle);
  prepare_links();
  for (const std::int32_t handle : chosen_) paces_[index(handle)].placed = false;
  for (std::size_t unplaced = chosen_.size(); unplaced > 0;) unplaced -= place_the_slowest();
  for (const std::int32_t id : chosen_links_) links_[index(id)].listed = false;
  chosen_links_.clear();
  for (const std::int32_t id : met_links_) met_[index(id)] = false;
  for (const std::int32_t id : paused_links_) paused_[index(id)] = false;
  met_links_.clear();
  paused_links_.clear();
}

/// Takes the next step of progressive filling and notes what it pauses. Returns how many flows have
/// a rate now that had none.
std::size_t MaxMinShares::place_the_slowest() {
  double least = std::numeric_limits<double>::infinity();
  std::int32_t slowest_link = kOwnBound;
  std::int32_t slowest_flow = -1;
  for (const std::int32_t handle : chosen_) {
    if (paces_[index(handle)].placed) continue;
    if (slowest_flow < 0 || flows_[index(handle)].bound < least) {
      least = flows_[index(handle)].bound;
      slowest_flow = handle;
    }
  }
  for (const std::int32_t id : chosen_links_) {
    const LinkState& link = links_[index(id)];
    if (link.unplaced == 0 || link.left / link.weights >= least) continue;
    least = link.left / link.weights;
    slowest_link = id;
  }
  if (slowest_link == kOwnBound) {
    place(slowest_flow, least, kOwnBound);
    return 1;
  }
  return hold_up(slowest_link, least);
}

/// Whoever has no rate yet gets this one on a link, and what leads there is held up with him.
std::size_t MaxMinShares::hold_up(std::int32_t link, double rate) {
  std::vector<std::int32_t> waiting;
  for (const User& user : links_[index(link)].users) {
    if (!paces_[index(user.flow)].placed) waiting.push_back(user.flow);
  }
  std::size_t placed = place_users(link, rate);
  for (const std::int32_t handle : waiting) placed += pause_before(handle, link, rate);
  return placed;
}

/// The links of a flow in the order of the vertices that they lead to.
std::span<const std::int32_t> MaxMinShares::links_into(std::span<const Use> uses, VertexId at) {
  std::vector<std::int32_t>& links = links_by_end_[uses.data()];
  const auto end_of = [this](std::int32_t link) { return ends_[index(link)].to; };
  if (links.empty()) {
    for (const Use& use : uses) links.push_back(use.link);
    std::ranges::stable_sort(links, {}, end_of);
  }
  const auto into = std::ranges::equal_range(links, at, {}, end_of);
  return {into.begin(), into.end()};
}

/// The links by which a flow comes to one that it cannot leave faster: what waits there lets nobody
/// pass. Returns how many flows that gives a rate.
std::size_t MaxMinShares::pause_before(std::int32_t handle, std::int32_t link, double rate) {
  const VertexId at = ends_[index(link)].from;
  if (at < 0) return 0;
  std::size_t placed = 0;
  for (const std::int32_t before : links_into(flows_[index(handle)].uses, at)) {
    if (paused_[index(before)]) continue;
    paused_[index(before)] = true;
    paused_links_.push_back(before);
    placed += hold_up(before, rate) + pause_before(handle, before, rate);
  }
  return placed;
}

}  // namespace headway

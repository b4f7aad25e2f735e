#include <algorithm>
#include <functional>
#include <limits>

#include "sim/engine/max_min_shares.h"

namespace headway {
namespace {

/// Flows, and flows times candidates, up to either of which filling looks at all candidates for
/// each flow: a heap puts every link in order, and again each time that one of its flows is placed.
constexpr std::size_t kFewFlows = 48;
constexpr std::size_t kMostScanned = 8192;

}  // namespace

void MaxMinShares::place(std::int32_t handle, double rate, std::int32_t bottleneck) {
  paces_[index(handle)] = {rate, bottleneck, true, true};
  for (const Shared& use : flows_[index(handle)].shared) {
    LinkState& link = links_[index(use.link)];
    link.left = std::max(link.left - use.weight * rate, 0.0);
    link.weights -= use.weight;
    --link.unplaced;
    ++link.version;
  }
}

/// Filling where one flow alone is chosen, as in most settlings: it takes what the others leave it.
void MaxMinShares::place_one(std::int32_t handle) {
  const Flow& flow = flows_[index(handle)];
  double least = flow.bound;
  std::int32_t bottleneck = kOwnBound;
  for (const Shared& use : flow.shared) {
    const LinkState& link = links_[index(use.link)];
    double left = link.capacity;
    for (const User& user : link.users) {
      if (user.flow != handle) left -= user.weight * paces_[index(user.flow)].rate;
    }
    const double level = std::max(left, 0.0) / use.weight;
    if (level >= least) continue;
    least = level;
    bottleneck = use.link;
  }
  paces_[index(handle)] = {least, bottleneck, true, true};
}

/// Progressive filling: the link (or own bound) that allows least decides for its flows, and so on.
void MaxMinShares::fill() {
  for (std::size_t i = 0; i < chosen_.size(); ++i) {
    paces_[index(chosen_[i])].placed = false;
    flows_[index(chosen_[i])].turn = static_cast<std::int32_t>(i);
  }
  const std::size_t candidates = chosen_.size() + chosen_links_.size();
  if (chosen_.size() <= kFewFlows || chosen_.size() * candidates <= kMostScanned) {
    fill_by_scanning();
  } else {
    fill_by_heap();
  }
}

/// Places the chosen flows of a link that have no rate yet. Returns how many these were.
std::size_t MaxMinShares::place_users(std::int32_t id, double rate) {
  std::size_t placed = 0;
  for (const User& user : links_[index(id)].users) {
    const Pace& pace = paces_[index(user.flow)];
    if (!pace.chosen || pace.placed) continue;
    place(user.flow, rate, id);
    ++placed;
  }
  return placed;
}

/// Among few candidates the least is found sooner by looking at all.
void MaxMinShares::fill_by_scanning() {
  constexpr double kPlaced = std::numeric_limits<double>::infinity();
  levels_.clear();
  bounds_.clear();
  for (std::size_t i = 0; i < chosen_links_.size(); ++i) {
    LinkState& link = links_[index(chosen_links_[i])];
    link.turn = static_cast<std::int32_t>(i);
    levels_.push_back(link.left / link.weights);
  }
  for (const std::int32_t handle : chosen_) bounds_.push_back(flows_[index(handle)].bound);
  const auto tell = [&](const Flow& flow) {  // what its rate leaves to others
    bounds_[index(flow.turn)] = kPlaced;
    for (const Shared& use : flow.shared) {
      const LinkState& link = links_[index(use.link)];
      levels_[index(link.turn)] = link.unplaced > 0 ? link.left / link.weights : kPlaced;
    }
  };
  for (std::size_t unplaced = chosen_.size(); unplaced > 0;) {
    const auto least_bound = std::ranges::min_element(bounds_);
    const auto least_level = std::ranges::min_element(levels_);
    if (least_level == levels_.end() || *least_bound <= *least_level) {
      // All bounds are infinite only where no link limits a flow either.
      std::size_t turn = static_cast<std::size_t>(least_bound - bounds_.begin());
      while (paces_[index(chosen_[turn])].placed) ++turn;
      place(chosen_[turn], *least_bound, kOwnBound);
      tell(flows_[index(chosen_[turn])]);
      --unplaced;
      continue;
    }
    const std::int32_t id = chosen_links_[static_cast<std::size_t>(least_level - levels_.begin())];
    unplaced -= place_users(id, *least_level);
    for (const User& user : links_[index(id)].users) {
      if (paces_[index(user.flow)].chosen) tell(flows_[index(user.flow)]);
    }
  }
}

/// What a link allows only grows as flows are placed, so that a stale candidate need not be looked
/// at before it comes up.
void MaxMinShares::fill_by_heap() {
  heap_.clear();
  for (const std::int32_t id : chosen_links_) {
    const LinkState& link = links_[index(id)];
    heap_.push_back({link.left / link.weights, id, -1, link.version});
  }
  for (const std::int32_t handle : chosen_) {
    heap_.push_back({flows_[index(handle)].bound, kOwnBound, handle, 0});
  }
  std::make_heap(heap_.begin(), heap_.end(), std::greater<>());
  for (std::size_t unplaced = chosen_.size(); unplaced > 0;) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    const Candidate candidate = heap_.back();
    heap_.pop_back();
    if (candidate.link == kOwnBound) {
      if (paces_[index(candidate.flow)].placed) continue;
      place(candidate.flow, candidate.rate, kOwnBound);
      --unplaced;
      continue;
    }
    const LinkState& link = links_[index(candidate.link)];
    if (link.unplaced == 0) continue;
    if (link.version != candidate.version) {
      heap_.push_back({link.left / link.weights, candidate.link, -1, link.version});
      std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
      continue;
    }
    unplaced -= place_users(candidate.link, candidate.rate);
  }
}

}  // namespace headway

#include "sim/engine/max_min_shares.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace headway {
namespace {

/// Rates closer than this (relative) are equal: far above rounding, far below what matters.
constexpr double kTolerance = 1e-10;

/// Rates closer than this are one, computed twice.
constexpr double kSameRate = 1e-13;

/// The share of a link that is never asked for where it is not tight: far more than what billions
/// of sums and differences within its capacity are off by, and than the tolerance by which it would
/// be full.
constexpr double kNeverAskedFor = 1e-6;

}  // namespace

MaxMinShares::MaxMinShares(std::vector<double> capacities) {
  links_.resize(capacities.size());
  for (std::size_t i = 0; i < capacities.size(); ++i) links_[i].capacity = capacities[i];
}

std::int32_t MaxMinShares::new_flow(std::span<const Use> uses, double cap) {
  std::int32_t handle = static_cast<std::int32_t>(flows_.size());
  if (free_flows_.empty()) {
    flows_.emplace_back();
    paces_.emplace_back();
  } else {
    handle = free_flows_.back();
    free_flows_.pop_back();
  }
  Flow& flow = flows_[index(handle)];
  flow.uses = uses;
  flow.places.resize(uses.size());
  flow.shared.clear();
  flow.cap = cap;
  flow.bound = cap;
  flow.told_rate = 0.0;
  flow.active = true;
  paces_[index(handle)].rate = 0.0;
  paces_[index(handle)].bottleneck = kOwnBound;
  for (std::size_t i = 0; i < uses.size(); ++i) {
    LinkState& link = links_[index(uses[i].link)];
    flow.bound = std::min(flow.bound, link.capacity / uses[i].weight);
    flow.places[i].user = static_cast<std::int32_t>(link.users.size());
    link.users.push_back({handle, static_cast<std::int32_t>(i), uses[i].weight});
  }
  return handle;
}

std::int32_t MaxMinShares::add(std::span<const Use> uses, double cap) {
  const std::int32_t handle = new_flow(uses, cap);
  concerned_.clear();
  for (const Use& use : uses) {
    const auto& users = links_[index(use.link)].users;
    if (users.size() == 2) concerned_.push_back(users.front().flow);
    if (users.size() >= 2) join(use.link);
  }
  choose(handle);
  return handle;
}

/// Somebody has come to a link that others use.
void MaxMinShares::join(std::int32_t id) {
  LinkState& link = links_[index(id)];
  if (link.users.size() == 2) link.wanted = wanted_by(link.users.front());
  link.wanted += wanted_by(link.users.back());
  if (link.tight) {
    share(id, link.users.back());
  } else {
    set_tight(id, could_be_filled(link));
  }
}

/// A flow of that bound has gone from a link that others use.
void MaxMinShares::leave(const Use& use, double bound) {
  LinkState& link = links_[index(use.link)];
  link.wanted -= use.weight * bound;
  if (link.tight || !ends_.empty()) touched_links_.push_back(use.link);
  if (!link.tight) return;
  if (link.users.size() >= 2 && could_be_filled(link)) return;
  // After thousands that came and went, differences are off by more: the sum of those left decides.
  sum_up(link);
  set_tight(use.link, link.users.size() >= 2 && could_be_filled(link));
}

/// Capacities, or bounds of users, are others.
void MaxMinShares::review(std::int32_t id) {
  LinkState& link = links_[index(id)];
  if (link.users.size() < 2) return;
  if (link.tight) touched_links_.push_back(id);
  sum_up(link);
  set_tight(id, could_be_filled(link));
}

void MaxMinShares::sum_up(LinkState& link) const {
  link.wanted = 0.0;
  for (const User& user : link.users) link.wanted += wanted_by(user);
}

bool MaxMinShares::could_be_filled(const LinkState& link) {
  return link.wanted > (1.0 - kNeverAskedFor) * link.capacity;
}

void MaxMinShares::set_tight(std::int32_t id, bool tight) {
  LinkState& link = links_[index(id)];
  if (link.tight == tight) return;
  link.tight = tight;
  for (const User& user : link.users) {
    if (tight) {
      share(id, user);
    } else {
      unshare(user);
    }
  }
}

std::int32_t MaxMinShares::add_alone(std::span<const Use> uses, double cap) {
  const auto is_used = [&](const Use& use) { return !links_[index(use.link)].users.empty(); };
  if (std::ranges::any_of(uses, is_used)) return -1;
  const std::int32_t handle = new_flow(uses, cap);
  Flow& flow = flows_[index(handle)];
  flow.told_rate = flow.bound;
  paces_[index(handle)].rate = flow.bound;
  ++counts_.recomputed;
  ++counts_.changed;
  return handle;
}

void MaxMinShares::share(std::int32_t link, const User& user) {
  Flow& flow = flows_[index(user.flow)];
  flow.places[index(user.use)].shared = static_cast<std::int32_t>(flow.shared.size());
  flow.shared.push_back({link, user.use, user.weight});
}

void MaxMinShares::unshare(const User& user) {
  Flow& flow = flows_[index(user.flow)];
  const std::int32_t position = flow.places[index(user.use)].shared;
  flow.shared[index(position)] = flow.shared.back();
  flow.places[index(flow.shared.back().use)].shared = position;
  flow.shared.pop_back();
}

void MaxMinShares::set_bound(Flow& flow) const {
  flow.bound = flow.cap;
  for (const Use& use : flow.uses) {
    flow.bound = std::min(flow.bound, links_[index(use.link)].capacity / use.weight);
  }
}

void MaxMinShares::remove(std::int32_t handle) {
  Flow& flow = flows_[index(handle)];
  for (std::size_t i = 0; i < flow.uses.size(); ++i) {
    auto& users = links_[index(flow.uses[i].link)].users;
    const std::int32_t position = flow.places[i].user;
    const User moved = users.back();
    users[index(position)] = moved;
    flows_[index(moved.flow)].places[index(moved.use)].user = position;
    users.pop_back();
    if (!users.empty()) leave(flow.uses[i], flow.bound);
  }
  flow.active = false;
  flow.uses = {};
  flow.shared.clear();
  free_flows_.push_back(handle);
}

void MaxMinShares::set_capacity(std::int32_t id, double capacity) {
  concerned_.clear();
  LinkState& link = links_[index(id)];
  if (link.capacity == capacity) return;
  link.capacity = capacity;
  for (const User& user : link.users) {
    set_bound(flows_[index(user.flow)]);
    choose(user.flow);
    concerned_.push_back(user.flow);
  }
  for (const std::int32_t flow : concerned_) {
    for (const Use& use : flows_[index(flow)].uses) review(use.link);
  }
}

void MaxMinShares::choose(std::int32_t handle) {
  Pace& pace = paces_[index(handle)];
  if (pace.chosen) return;
  pace.chosen = true;
  chosen_.push_back(handle);
}

void MaxMinShares::list_links_of(std::int32_t handle) {
  for (const Shared& use : flows_[index(handle)].shared) {
    LinkState& link = links_[index(use.link)];
    if (link.listed) continue;
    link.listed = true;
    chosen_links_.push_back(use.link);
  }
}

/// What the fixed flows leave of each link that a chosen flow uses.
void MaxMinShares::prepare_links() {
  for (const std::int32_t id : chosen_links_) {
    LinkState& link = links_[index(id)];
    link.left = link.capacity;
    link.weights = 0.0;
    link.unplaced = 0;
    for (const User& user : link.users) {
      const Pace& pace = paces_[index(user.flow)];
      if (pace.chosen) {
        link.weights += user.weight;
        ++link.unplaced;
      } else {
        link.left -= user.weight * pace.rate;
      }
    }
    link.left = std::max(link.left, 0.0);
    ++link.version;
  }
}

/// What the users of a link take of it after this round.
void MaxMinShares::measure(std::int32_t id) {
  LinkState& link = links_[index(id)];
  double load = 0.0;
  link.fastest = 0.0;
  link.slowest = std::numeric_limits<double>::infinity();
  for (const User& user : link.users) {
    const Pace& pace = paces_[index(user.flow)];
    load += user.weight * pace.rate;
    link.fastest = std::max(link.fastest, pace.rate);
    if (pace.bottleneck == id) link.slowest = std::min(link.slowest, pace.rate);
  }
  link.full = load >= link.capacity * (1.0 - kTolerance);
}

/// Whether a chosen flow has a link that may hold it back. Of links that allow equally little the
/// filling takes any, so that another one may be the bottleneck.
bool MaxMinShares::find_bottleneck(std::int32_t handle) {
  Pace& pace = paces_[index(handle)];
  const double fair = pace.rate * (1.0 + kTolerance);
  if (pace.bottleneck == kOwnBound || links_[index(pace.bottleneck)].fastest <= fair) return true;
  const auto& uses = flows_[index(handle)].shared;
  const auto other = std::ranges::find_if(uses, [&](const Shared& use) {
    const LinkState& link = links_[index(use.link)];
    return link.full && link.fastest <= fair;
  });
  if (other == uses.end()) return false;
  pace.bottleneck = other->link;
  return true;
}

/// Fixed flows that are faster than one that may rise, on all of its full links: were they taken in
/// link after link, a ring over a thousand links would rise by a step a round.
void MaxMinShares::choose_the_faster_beside(std::int32_t handle) {
  const double fair = paces_[index(handle)].rate * (1.0 + kTolerance);
  for (const Shared& use : flows_[index(handle)].shared) {
    const LinkState& link = links_[index(use.link)];
    if (!link.full || link.fastest <= fair) continue;
    for (const User& user : link.users) {
      if (paces_[index(user.flow)].rate > fair) choose(user.flow);
    }
  }
}

/// Chooses every fixed flow that has lost its bottleneck or stands above a chosen flow that has
/// none. Returns whether there was one.
bool MaxMinShares::choose_the_unfair() {
  const std::size_t before = chosen_.size();
  for (const std::int32_t id : chosen_links_) measure(id);
  for (std::size_t i = 0; i < before; ++i) {
    if (!find_bottleneck(chosen_[i])) choose_the_faster_beside(chosen_[i]);
  }
  for (const std::int32_t id : chosen_links_) {
    const LinkState& link = links_[index(id)];
    const double least = link.fastest * (1.0 - kTolerance);  // of those that a full link holds back
    // Whoever has been given this bottleneck since was found to be held back by it.
    if (std::isinf(link.slowest) || (link.full && link.slowest >= least)) continue;
    for (const User& user : link.users) {
      const Pace& pace = paces_[index(user.flow)];
      if (pace.bottleneck == id && !(link.full && pace.rate >= least)) choose(user.flow);
    }
  }
  return chosen_.size() > before;
}

std::span<const MaxMinShares::Change> MaxMinShares::settle() {
  changes_.clear();
  for (const std::int32_t id : touched_links_) {
    for (const User& user : links_[index(id)].users) {
      if (paces_[index(user.flow)].bottleneck == id || !ends_.empty()) choose(user.flow);
    }
  }
  touched_links_.clear();
  std::erase_if(chosen_, [&](std::int32_t handle) {  // added and removed without settling between
    const bool active = flows_[index(handle)].active;
    if (!active) paces_[index(handle)].chosen = false;
    return !active;
  });
  if (ends_.empty()) {
    fill_until_fair();
  } else {
    fill_with_pauses();
  }
  for (const std::int32_t handle : chosen_) {
    Flow& flow = flows_[index(handle)];
    Pace& pace = paces_[index(handle)];
    pace.chosen = false;
    if (std::abs(pace.rate - flow.told_rate) <= kSameRate * flow.told_rate) {
      pace.rate = flow.told_rate;
      continue;
    }
    flow.told_rate = pace.rate;
    changes_.push_back({handle, pace.rate});
  }
  counts_.changed += std::ssize(changes_);
  chosen_.clear();
  return changes_;
}

void MaxMinShares::fill_until_fair() {
  if (chosen_.empty()) return;
  ++counts_.settlings;
  if (chosen_.size() == 1 && flows_[index(chosen_.front())].shared.empty()) {  // it meets nobody
    ++counts_.rounds;
    ++counts_.recomputed;
    Pace& pace = paces_[index(chosen_.front())];
    pace.rate = flows_[index(chosen_.front())].bound;
    pace.bottleneck = kOwnBound;
    return;
  }
  std::size_t listed = 0;
  int round = 0;
  do {
    if (++round > 10) {  // far from local: take in the neighbours too, so that rounds stay few
      for (std::size_t i = 0, n = chosen_links_.size(); i < n; ++i) {
        for (const User& user : links_[index(chosen_links_[i])].users) choose(user.flow);
      }
    }
    for (std::size_t i = listed; i < chosen_.size(); ++i) list_links_of(chosen_[i]);
    listed = chosen_.size();
    counts_.recomputed += std::ssize(chosen_);
    if (chosen_.size() == 1) {
      place_one(chosen_.front());
    } else {
      prepare_links();
      fill();
    }
  } while (choose_the_unfair());
  counts_.rounds += round;

  for (const std::int32_t id : chosen_links_) links_[index(id)].listed = false;
  chosen_links_.clear();
}

}  // namespace headway

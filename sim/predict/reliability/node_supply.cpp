#include "sim/predict/reliability/node_supply.h"

#include <algorithm>
#include <iterator>

namespace headway {

NodeSupply::NodeSupply(const ReliabilitySettings& settings, double record_start)
    : settings_(settings), spares_(settings.spare_nodes) {
  if (!settings.spot) return;
  spot_.emplace(*settings.spot, record_start);
  missing_ = settings.spot->nodes - spot_->nodes();
}

void NodeSupply::lose(int nodes, double repair, double now) {
  collect(now);
  for (int i = 0; i < nodes; ++i) repairs_.insert(now + repair);
  missing_ += nodes;
}

void NodeSupply::step_out() {
  ++missing_;
  ++spares_;
}

int NodeSupply::withdraw(double now) {
  collect(now);
  int taken = -spot_->advance();
  if (missing_ == 0) return missing_ = taken;
  const int from_spares = std::min(taken, spares_);
  spares_ -= from_spares;
  taken -= from_spares;
  for (; taken > 0 && !starting_.empty(); --taken) starting_.erase(std::prev(starting_.end()));
  missing_ += taken;
  return taken;
}

void NodeSupply::collect(double now) {
  const auto first = [](const std::multiset<double>& times) {
    return times.empty() ? kNever : *times.begin();
  };
  while (std::min(first(repairs_), first(orders_)) <= now) {
    if (first(repairs_) <= first(orders_)) {
      repairs_.erase(repairs_.begin());
      ++spares_;
      continue;
    }
    orders_.erase(orders_.begin());
    if (repairs_.empty()) continue;  // not needed any more
    repairs_.erase(std::prev(repairs_.end()));
    ++spares_;
  }
  while (spot_ && spot_->next_change() <= now && spot_->next_change() < spot_->next_fall()) {
    spares_ += spot_->advance();
  }
}

void NodeSupply::settle(double now, double start) {
  collect(now);
  for (; spares_ > 0 && std::ssize(starting_) < missing_; --spares_) starting_.insert(now + start);
  // Spot nodes come back by themselves.
  const int away = spot_ ? settings_.spot->nodes - spot_->nodes() : 0;
  const auto lacking = missing_ - static_cast<int>(starting_.size()) - away;
  const auto wanted = static_cast<std::size_t>(std::max(0, lacking));
  while (orders_.size() > wanted) orders_.erase(std::prev(orders_.end()));
  while (orders_.size() < wanted) orders_.insert(now + settings_.reprovision.count());
}

double NodeSupply::next_arrival(double now) const {
  if (missing_ == 0) return kNever;
  double next = kNever;
  const auto consider = [&](const std::multiset<double>& times) {
    const auto later = times.upper_bound(now);
    if (later != times.end()) next = std::min(next, *later);
  };
  for (const auto* times : {&repairs_, &orders_, &starting_}) consider(*times);
  return spot_ ? std::min(next, spot_->next_rise()) : next;
}

int NodeSupply::ready(double now) const {
  return static_cast<int>(std::distance(starting_.begin(), starting_.upper_bound(now)));
}

void NodeSupply::join_ready(double now) {
  missing_ -= ready(now);
  starting_.erase(starting_.begin(), starting_.upper_bound(now));
}

void NodeSupply::join_all() {
  missing_ -= static_cast<int>(starting_.size());
  starting_.clear();
}

}  // namespace headway

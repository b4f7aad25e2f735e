#include "sim/plan/cluster_search.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include "sim/plan/pareto.h"

namespace headway {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr std::int64_t kAtATime = 8;     ///< sizes; of no number of cores, or the answer would be
constexpr std::int64_t kRoomToGrow = 8;  ///< times the nodes of the fastest, until one is in time
constexpr double kCouldBeKinder = 0.97;  ///< a simulation than the kindest so far
constexpr std::array kLarger = {1.25, 1.5, 2.0, 3.0, 4.0};  ///< times the answer, for the front
constexpr double kLater = 1.25;         ///< times the deadline, to find one that can be met
constexpr int kLaterDeadlines = 30;     ///< up to a thousand times the goal's
constexpr std::size_t kSoonestOf = 16;  ///< sizes that are compared for the soonest

double node_time(const ClusterSize& size) {
  return static_cast<double>(size.nodes) * size.closed_form.count();
}

}  // namespace

ClusterSearch::ClusterSearch(const ClusterSizes& judge, const TrainingGoal& goal)
    : judge_(judge), goal_(goal), deadline_(goal.deadline) {}

void ClusterSearch::find() {
  if (goal_.minimize == TrainingGoal::Minimize::days) return find_soonest();
  find_smallest_in_time();
  if (smallest_) find_least();
}

std::int64_t ClusterSearch::most_nodes() const { return judge_.most_nodes(deadline_); }

/// How far the smallest in time is looked for. What peak and memory ask for is no bound of its own:
/// a job that scales badly may need far more. It ends where more nodes have long made nothing
/// faster, but not below the size that the scenario itself has.
std::int64_t ClusterSearch::reach() const {
  return std::max({most_nodes(), judge_.own_nodes(), kRoomToGrow * fastest_.value_or(0)});
}

/// So many nodes, or the most that the fabric has room for. The first that it has none for is told
/// of among the sizes.
std::int64_t ClusterSearch::within_room(std::int64_t nodes) {
  if (nodes <= roomy_ || has_found_room_) return std::min(nodes, roomy_);
  std::string why = judge_.why_no_room(nodes);
  if (why.empty()) return roomy_ = nodes;
  std::int64_t too_many = nodes / judge_.step();  // all in steps
  for (std::int64_t room = roomy_ / judge_.step(); too_many - room > 1;) {
    const std::int64_t middle = std::midpoint(room, too_many);
    std::string why_not = judge_.why_no_room(middle * judge_.step());
    if (why_not.empty()) {
      room = middle;
    } else {
      too_many = middle;
      why = std::move(why_not);
    }
  }
  has_found_room_ = true;
  roomy_ = (too_many - 1) * judge_.step();
  ClusterSize first = judge_.estimates({too_many * judge_.step()}).front();
  first.reason = std::move(why);
  sizes_.insert_or_assign(first.nodes, std::move(first));
  return roomy_;
}

/// Asks for twice as many at once, and for all that `size_at` judges together.
bool ClusterSearch::has_room(std::int64_t nodes) {
  if (nodes <= roomy_) return true;
  const std::int64_t more = std::max(2 * nodes, nodes + kAtATime * judge_.step());
  return nodes <= within_room(std::max(nodes, std::min(more, reach())));
}

void ClusterSearch::find_smallest_in_time() {
  for (std::int64_t nodes = judge_.least_nodes(deadline_); nodes <= reach() && has_room(nodes);
       nodes += judge_.step()) {
    if (nodes > most_nodes() && !is_known(nodes) && !judge_.is_worth_judging(nodes)) continue;
    ClusterSize& size = size_at(nodes);
    if (!could_meet(size)) continue;
    simulate(size);
    if (!size.meets(deadline_)) continue;
    smallest_ = nodes;
    return check_smaller();
  }
}

/// The smallest is in time; what lies below it was left out on an estimate. The fastest of those is
/// simulated, and what could be in time by the factors that are known now.
void ClusterSearch::check_smaller() {
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    if (const ClusterSize* const below = fastest_below(*smallest_)) simulate(size_at(below->nodes));
    for (auto& [nodes, size] : sizes_) {
      if (nodes >= *smallest_) break;
      if (!size.runs.empty() || !could_meet(size)) continue;
      simulate(size);
      has_changed = true;
    }
    const auto in_time = std::ranges::find_if(
        sizes_, [&](const auto& entry) { return entry.second.meets(deadline_); });
    smallest_ = in_time->first;
  }
}

/// From the smallest in time upwards: the first that keeps to all limits; where money or energy is
/// to be least, all that could take less of it, as some divide better.
void ClusterSearch::find_least() {
  const bool wants_fewest = goal_.minimize == TrainingGoal::Minimize::gpus;
  const std::int64_t last = std::max(most_nodes(), 2 * *smallest_);
  for (std::int64_t nodes = *smallest_; nodes <= last && has_room(nodes); nodes += judge_.step()) {
    ClusterSize& size = size_at(nodes);
    if (!size.can_run()) continue;
    if (!is_affordable(size)) return;
    const double least = answer_ ? minimised(sizes_.at(*answer_), goal_.minimize) : kNever;
    if (size.runs.empty() && !(could_meet(size) && could_be_less(size, least))) continue;
    simulate(size);
    if (!size.meets(deadline_) || !shortfall(size, goal_).is_none()) continue;
    if (!answer_ || minimised(size, goal_.minimize) < least) answer_ = nodes;
    if (wants_fewest) return;
  }
}

/// Finds, among the largest that what is drawn and bought allows, the one that is through first.
void ClusterSearch::find_soonest() {
  const std::int64_t most = within_room(judge_.most_nodes_affordable().value_or(0));
  std::vector<ClusterSize*> largest;
  for (std::int64_t nodes = most; nodes > 0 && largest.size() < kSoonestOf;
       nodes -= judge_.step()) {
    ClusterSize& size = size_at(nodes);
    if (size.can_run() && is_affordable(size)) largest.push_back(&size);
  }
  std::ranges::stable_sort(largest, {}, [](const ClusterSize* size) { return size->closed_form; });
  for (ClusterSize* const size : largest) {
    const ClusterSize* const best = answer_ ? &sizes_.at(*answer_) : nullptr;
    const Seconds soonest = best ? best->runs.front().needed : Seconds(kNever);
    if (best && least_delay(size->nodes) * size->closed_form >= soonest) break;
    simulate(*size);
    if (!smallest_) smallest_ = size->nodes;
    if (!shortfall(*size, goal_).is_none()) continue;
    if (size->runs.front().needed < soonest) answer_ = size->nodes;
  }
}

void ClusterSearch::simulate_larger() {
  for (const double times : kLarger) {
    const auto wanted = static_cast<std::int64_t>(
        std::ceil(times * static_cast<double>(*answer_) / static_cast<double>(judge_.step())));
    const std::int64_t first = wanted * judge_.step();
    for (std::int64_t i = 0; i < kAtATime; ++i) {
      const std::int64_t nodes = first + i * judge_.step();
      if (!has_room(nodes)) return;
      ClusterSize& size = size_at(nodes);
      if (!size.can_run()) continue;
      simulate(size);
      break;
    }
  }
}

std::optional<NearestChange> ClusterSearch::nearest() {
  while (!has_room(judge_.least_nodes(deadline_))) deadline_ = kLater * deadline_;
  for (int i = 0; i < kLaterDeadlines && !smallest_; ++i) {
    deadline_ = kLater * deadline_;
    find_smallest_in_time();
  }
  const ClusterSize* nearest = nullptr;
  for (const auto& [nodes, size] : sizes_) {
    if (size.runs.empty()) continue;
    const double off = distance(size, goal_);
    if (std::isfinite(off) && (nearest == nullptr || off < distance(*nearest, goal_)))
      nearest = &size;
  }
  if (nearest == nullptr) return std::nullopt;
  smallest_ = nearest->nodes;
  const ClusterRun& run = nearest->runs.front();
  const Shortfall missing = shortfall(*nearest, goal_);
  NearestChange change{.accelerators = nearest->accelerators,
                       .deadline = goal_.deadline + missing.time,
                       .tokens = goal_.tokens * std::min(1.0, goal_.deadline / run.needed),
                       .probability = std::min(goal_.probability, run.probability)};
  if (goal_.budget) change.budget = *goal_.budget + missing.usd;
  if (goal_.power) change.power = *goal_.power + missing.power;
  return change;
}

/// Judges it, and the next few that peak and memory ask for, by the closed form.
ClusterSize& ClusterSearch::size_at(std::int64_t nodes) {
  if (is_known(nodes)) return sizes_.at(nodes);
  std::vector<std::int64_t> next;
  for (std::int64_t i = 0; i < kAtATime; ++i) {
    const std::int64_t more = nodes + i * judge_.step();
    if (is_known(more) || more > std::max(nodes, std::min(most_nodes(), roomy_))) break;
    next.push_back(more);
  }
  for (ClusterSize& size : judge_.estimates(next)) {
    const bool is_fastest =
        size.can_run() && (!fastest_ || size.closed_form < sizes_.at(*fastest_).closed_form);
    if (is_fastest) fastest_ = size.nodes;
    sizes_.emplace(size.nodes, std::move(size));
  }
  return sizes_.at(nodes);
}

void ClusterSearch::simulate(ClusterSize& size) {
  if (!size.runs.empty()) return;
  judge_.simulate(size);
  delays_.emplace(size.nodes, size.runs.front().needed / size.closed_form);
  least_value_ = std::min(least_value_.value_or(kNever),
                          kCouldBeKinder * minimised(size, goal_.minimize) / node_time(size));
}

/// Of a run on so many nodes over its closed form. Until something no larger has been simulated it
/// could be what the closed form says.
double ClusterSearch::least_delay(std::int64_t nodes) const {
  double least = kNever;
  for (const auto& [simulated, delay] : delays_) {
    if (simulated > nodes) break;
    least = std::min(least, delay);
  }
  return kCouldBeKinder * (std::isfinite(least) ? least : 1.0);
}

bool ClusterSearch::could_meet(const ClusterSize& size) const {
  return size.can_run() && least_delay(size.nodes) * size.closed_form <= deadline_;
}

bool ClusterSearch::could_be_less(const ClusterSize& size, double than) const {
  return goal_.minimize == TrainingGoal::Minimize::gpus ||
         least_value_.value_or(0.0) * node_time(size) < than;
}

bool ClusterSearch::is_affordable(const ClusterSize& size) const {
  if (goal_.power && size.power && *size.power > *goal_.power) return false;
  return !(goal_.budget && size.bought && *size.bought > *goal_.budget);
}

/// By the closed form; nullptr if nothing can run on any.
const ClusterSize* ClusterSearch::fastest_below(std::int64_t nodes) const {
  const ClusterSize* fastest = nullptr;
  for (const auto& [count, size] : sizes_) {
    if (count >= nodes) break;
    if (!size.can_run()) continue;
    if (fastest == nullptr || size.closed_form < fastest->closed_form) fastest = &size;
  }
  return fastest;
}

void ClusterSearch::mark_front() {
  std::vector<ClusterRun*> runs;
  std::vector<std::vector<double>> points;
  for (auto& [nodes, size] : sizes_) {
    for (ClusterRun& run : size.runs) {
      runs.push_back(&run);
      points.push_back({run.needed.count(), static_cast<double>(size.accelerators),
                        run.usd.value_or(0.0), run.leader.memory().count()});
    }
  }
  const std::vector<bool> front = pareto_front(points);
  for (std::size_t i = 0; i < runs.size(); ++i) runs[i]->is_on_front = front[i];
}

void ClusterSearch::hand_over(ClusterPlan& plan) && {
  mark_front();
  for (auto& [nodes, size] : sizes_) {
    if (answer_ == nodes) plan.answer = plan.sizes.size();
    if (smallest_ == nodes) plan.smallest = plan.sizes.size();
    plan.sizes.push_back(std::move(size));
  }
}

}  // namespace headway

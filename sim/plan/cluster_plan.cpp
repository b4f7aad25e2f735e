#include "sim/plan/cluster_plan.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "sim/plan/pareto.h"

namespace headway {
namespace {

constexpr double kNoPrice = std::numeric_limits<double>::infinity();
constexpr std::int64_t kAtATime = 8;     ///< sizes; of no number of cores, or the answer would be
constexpr double kCouldBeKinder = 0.97;  ///< a simulation than the kindest so far
constexpr std::array kLarger = {1.25, 1.5, 2.0, 3.0, 4.0};  ///< times the answer, for the front

/// By the closed form, of the first `count` sizes.
std::optional<std::size_t> fastest_below(const std::vector<ClusterSize>& sizes, std::size_t count) {
  std::optional<std::size_t> fastest;
  for (std::size_t i = 0; i < count; ++i) {
    if (!sizes[i].can_run()) continue;
    if (!fastest || sizes[i].closed_form < sizes[*fastest].closed_form) fastest = i;
  }
  return fastest;
}

constexpr double kLater = 1.25;      ///< times the deadline, to find one that can be met
constexpr int kLaterDeadlines = 30;  ///< up to a thousand times the goal's

class ClusterSearch {
 public:
  ClusterSearch(const ClusterSizes& judge, const TrainingGoal& goal)
      : judge_(judge), goal_(goal), deadline_(goal.deadline) {}

  void find_smallest() {
    for (std::int64_t nodes = judge_.least_nodes(deadline_); nodes <= most_nodes(); ++nodes) {
      const std::size_t index = size_at(nodes);
      if (!could_meet(sizes_[index])) continue;
      simulate(index);
      if (!sizes_[index].meets(deadline_)) continue;
      answer_ = index;
      return check_smaller();
    }
  }

  /// Larger ones may be cheaper: some divide better.
  void find_cheapest() {
    find_smallest();
    if (!answer_) return;
    const std::int64_t last = most_nodes();
    for (std::int64_t nodes = sizes_[*answer_].nodes + 1; nodes <= last; ++nodes) {
      const std::size_t index = size_at(nodes);
      const ClusterSize& size = sizes_[index];
      if (!size.can_run() || !could_be_cheaper(size)) continue;
      simulate(index);
      if (size.meets(deadline_) && price(size) < price(sizes_[*answer_])) answer_ = index;
    }
  }

  void simulate_larger() {
    const auto nodes_of_answer = static_cast<double>(sizes_[*answer_].nodes);
    for (const double times : kLarger) {
      const auto first = static_cast<std::int64_t>(std::ceil(times * nodes_of_answer));
      for (std::int64_t nodes = first; nodes < first + kAtATime; ++nodes) {
        const std::size_t index = size_at(nodes);
        if (!sizes_[index].can_run()) continue;
        simulate(index);
        break;
      }
    }
  }

  /// Where nothing meets the goal: the smallest that meets a later deadline.
  std::optional<NearestChange> nearest() {
    for (int i = 0; i < kLaterDeadlines && !answer_; ++i) {
      deadline_ = kLater * deadline_;
      find_smallest();
    }
    if (!answer_) return std::nullopt;
    const ClusterSize& size = sizes_[*answer_];
    const ClusterRun& run = size.runs.front();
    answer_.reset();
    return NearestChange{.accelerators = size.accelerators,
                         .deadline = run.needed,
                         .tokens = goal_.tokens * (goal_.deadline / run.needed),
                         .probability = run.probability};
  }

  [[nodiscard]] bool has_answer() const { return answer_.has_value(); }

  void hand_over(ClusterPlan& plan) && {
    mark_front();
    plan.sizes = std::move(sizes_);
    plan.answer = answer_;
  }

 private:
  [[nodiscard]] std::int64_t most_nodes() const { return judge_.most_nodes(deadline_); }

  /// Judges it, and the next few, by the closed form.
  std::size_t size_at(std::int64_t nodes) {
    auto found = std::ranges::lower_bound(sizes_, nodes, {}, &ClusterSize::nodes);
    if (found == sizes_.end() || found->nodes != nodes) {
      std::vector<std::int64_t> next;
      for (std::int64_t i = 0; i < kAtATime; ++i) {
        const bool is_known =
            std::ranges::binary_search(sizes_, nodes + i, {}, &ClusterSize::nodes);
        if (is_known || nodes + i > std::max(nodes, most_nodes())) break;
        next.push_back(nodes + i);
      }
      std::vector<ClusterSize> judged = judge_.estimates(next);
      found = sizes_.insert(found, judged.begin(), judged.end());
      if (answer_ && found - sizes_.begin() <= static_cast<std::ptrdiff_t>(*answer_)) {
        *answer_ += judged.size();
      }
    }
    return static_cast<std::size_t>(found - sizes_.begin());
  }

  void simulate(std::size_t index) {
    ClusterSize& size = sizes_[index];
    if (!size.runs.empty()) return;
    judge_.simulate(size);
    least_delay_ = std::min(least_delay_.value_or(kNoPrice),
                            kCouldBeKinder * (size.runs.front().needed / size.closed_form));
    least_price_ =
        std::min(least_price_.value_or(kNoPrice), kCouldBeKinder * price(size) / node_time(size));
  }

  /// Until something has been simulated anything could be in time that the closed form sees there.
  [[nodiscard]] bool could_meet(const ClusterSize& size) const {
    return size.can_run() && least_delay_.value_or(kCouldBeKinder) * size.closed_form <= deadline_;
  }

  [[nodiscard]] bool could_be_cheaper(const ClusterSize& size) const {
    return *least_price_ * node_time(size) < price(sizes_[*answer_]);
  }

  static double node_time(const ClusterSize& size) {
    return static_cast<double>(size.nodes) * size.closed_form.count();
  }
  static double price(const ClusterSize& size) { return size.runs.front().usd.value_or(kNoPrice); }

  /// The answer is in time; what lies below it was left out on an estimate.
  void check_smaller() {
    for (;;) {
      const std::optional<std::size_t> below = fastest_below(sizes_, *answer_);
      if (!below) return;
      simulate(*below);
      if (!sizes_[*below].meets(deadline_)) return;
      answer_ = below;
    }
  }

  void mark_front() {
    std::vector<ClusterRun*> runs;
    std::vector<std::vector<double>> points;
    for (ClusterSize& size : sizes_) {
      for (ClusterRun& run : size.runs) {
        runs.push_back(&run);
        points.push_back({run.needed.count(), static_cast<double>(size.accelerators),
                          run.usd.value_or(0.0), run.leader.memory().count()});
      }
    }
    const std::vector<bool> front = pareto_front(points);
    for (std::size_t i = 0; i < runs.size(); ++i) runs[i]->is_on_front = front[i];
  }

  const ClusterSizes& judge_;
  const TrainingGoal& goal_;
  Seconds deadline_;                ///< the goal's, or a later one
  std::vector<ClusterSize> sizes_;  ///< by nodes
  std::optional<std::size_t> answer_;
  std::optional<double> least_delay_;  ///< of a run over its closed form
  std::optional<double> least_price_;  ///< of a node for a second of the closed form
};

void check_price(const Scenario& base, const TrainingGoal& goal) {
  if (goal.minimize == TrainingGoal::Minimize::gpus) return;
  const nlohmann::json& resolved = base.resolved;
  if (resolved.contains("cost") && resolved.at("cost").contains("usd_per_gpu_hour")) return;
  Diagnostic problem;
  problem.message = "the cheapest cluster needs a price";
  problem.location.file = "--goal minimize=usd";
  problem.help = "give one in the scenario, or with --set /cost/usd_per_gpu_hour=2.5";
  throw InputError(std::move(problem));
}

}  // namespace

const ClusterSize* ClusterPlan::closest_smaller() const {
  const std::optional<std::size_t> found = fastest_below(sizes, answer.value_or(0));
  return found ? &sizes[*found] : nullptr;
}

ClusterPlan plan_cluster(const PlanOptions& options, const TrainingGoal& goal,
                         Diagnostics& diagnostics) {
  const Scenario base = read_scenario(options.leaders.path, options.leaders.options, diagnostics);
  check_price(base, goal);
  ClusterPlan plan;
  plan.model = base.model.name;
  plan.cluster = base.cluster->name;
  plan.goal = goal;
  plan.counts_failures = base.reliability.has_value();
  plan.capacity = Bytes(base.profile->device.memory_bytes.value);
  const ClusterSizes judge(base, options, goal);
  ClusterSearch search(judge, goal);
  if (goal.minimize == TrainingGoal::Minimize::usd) {
    search.find_cheapest();
  } else {
    search.find_smallest();
  }
  if (search.has_answer()) {
    search.simulate_larger();
  } else {
    plan.nearest = search.nearest();
  }
  std::move(search).hand_over(plan);
  return plan;
}

}  // namespace headway

#include "sim/replay/replay.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "sim/base/index.h"
#include "sim/base/limits.h"
#include "sim/base/quantile.h"
#include "sim/base/quantity_text.h"
#include "sim/replay/trace_times.h"

namespace headway {
namespace {

/// The work that is allowed: so many stages for a trace of as many rows as it may have, more for
/// shorter traces.
constexpr double kStagesOfAllRows = 50.0;

[[noreturn]] void refuse(const std::string& path, std::string why, std::string help = "") {
  throw InputError(Diagnostic{.message = "the trace cannot be replayed: " + std::move(why),
                              .location = {.file = path},
                              .help = std::move(help)});
}

class Replay {
 public:
  Replay(const std::string& path, const TraceGraph& graph, LaidOutTrace trace)
      : path_(path),
        graph_(graph),
        trace_(std::move(trace)),
        ideal_(ideal_times(trace_.times, graph)) {}

  ReplayResult result() {
    ReplayResult result;
    result.replicas = trace_.times.replicas;
    result.stages = graph_.stages;
    result.ranks = result.replicas * result.stages;
    result.steps = trace_.times.steps;
    result.measured_s = trace_.measured;
    result.replayed_s = replayed_steps(graph_, trace_.times);
    result.ideal_s = replayed_steps(graph_, ideal_);
    replayed_mean_ = mean(result.replayed_s);
    ideal_mean_ = mean(result.ideal_s);
    if (!(ideal_mean_ > 0.0 && replayed_mean_ > 0.0)) {
      refuse(path_, "its operations take no time",
             "each step and stage needs operations whose duration is above 0");
    }
    result.launch_slowdown = mean(result.measured_s) / replayed_mean_;
    result.slowdown = replayed_mean_ / ideal_mean_;
    ideal_steps_ = result.ideal_s;

    result.by_replica = slowdowns_of_replicas();
    result.by_stage =
        slowdowns<int>([](const TraceOperation& operation) { return operation.stage; });
    result.by_operation = slowdowns<std::string>([](const TraceOperation& operation) {
      if (operation.type.ends_with("-recv") || operation.type.ends_with("-send")) {
        return operation.type.substr(0, operation.type.rfind('-')) + "-pp-comm";
      }
      return operation.type;
    });
    const int last = graph_.stages - 1;
    result.last_stage =
        effect([last](int, const TraceOperation& operation) { return operation.stage == last; });
    add_worst_ranks(result);
    result.forward_backward_correlation = correlation();
    return result;
  }

 private:
  using Chosen = std::function<bool(int replica, const TraceOperation& operation)>;

  /// `base` with the chosen operations as in `other`.
  [[nodiscard]] TraceTimes mixed(const TraceTimes& base, const TraceTimes& other,
                                 const Chosen& chosen) const {
    TraceTimes times = base;
    for (int step = 0; step < std::ssize(times.steps); ++step) {
      for (int replica = 0; replica < times.replicas; ++replica) {
        for (int i = 0; i < times.operations; ++i) {
          if (!chosen(replica, graph_.operations[static_cast<std::size_t>(i)])) continue;
          const std::size_t place = times.place(step, replica, i);
          times.values[place] = other.values[place];
        }
      }
    }
    return times;
  }

  template <class Key, class KeyOf>
  [[nodiscard]] std::vector<GroupSlowdown<Key>> slowdowns(const KeyOf& key_of) const {
    std::set<Key> keys;
    for (const TraceOperation& operation : graph_.operations) keys.insert(key_of(operation));
    std::vector<GroupSlowdown<Key>> groups;
    for (const Key& key : keys) {
      groups.push_back(
          slowdown(key, mixed(ideal_, trace_.times, [&](int, const TraceOperation& operation) {
                     return key_of(operation) == key;
                   })));
    }
    std::ranges::stable_sort(groups, std::greater<>(), &GroupSlowdown<Key>::slowdown);
    return groups;
  }

  template <class Key>
  [[nodiscard]] GroupSlowdown<Key> slowdown(const Key& key, const TraceTimes& times) const {
    const std::vector<double> steps = replayed_steps(graph_, times);
    GroupSlowdown<Key> group{.group = key, .slowdown = mean(steps) / ideal_mean_, .by_step = {}};
    for (std::size_t i = 0; i < steps.size(); ++i) {
      group.by_step.push_back(steps[i] / ideal_steps_[i]);
    }
    return group;
  }

  /// Each replica beside one that is ideal: all others would do at any moment what that one does.
  [[nodiscard]] std::vector<GroupSlowdown<int>> slowdowns_of_replicas() const {
    std::vector<GroupSlowdown<int>> groups;
    TraceTimes pair = ideal_;
    pair.replicas = std::min(2, ideal_.replicas);
    pair.values.resize(pair.place(static_cast<int>(pair.steps.size()), 0, 0));
    for (int replica = 0; replica < ideal_.replicas; ++replica) {
      for (int step = 0; step < std::ssize(pair.steps); ++step) {
        const auto copy = [&](const TraceTimes& from, int of, int to) {
          const auto begin = from.values.begin();
          std::copy_n(begin + static_cast<std::ptrdiff_t>(from.place(step, of, 0)), from.operations,
                      pair.values.begin() + static_cast<std::ptrdiff_t>(pair.place(step, to, 0)));
        };
        copy(trace_.times, replica, 0);
        if (pair.replicas > 1) copy(ideal_, 0, 1);
      }
      groups.push_back(slowdown(replica, pair));
    }
    std::ranges::stable_sort(groups, std::greater<>(), &GroupSlowdown<int>::slowdown);
    return groups;
  }

  [[nodiscard]] RepairEffect effect(const Chosen& chosen) const {
    RepairEffect effect;
    effect.with_it_repaired_s = mean(replayed_steps(graph_, mixed(trace_.times, ideal_, chosen)));
    effect.with_only_it_s = mean(replayed_steps(graph_, mixed(ideal_, trace_.times, chosen)));
    const double lost = replayed_mean_ - ideal_mean_;
    if (lost == 0.0) return effect;
    effect.removed_share = (replayed_mean_ - effect.with_it_repaired_s) / lost;
    effect.added_share = (effect.with_only_it_s - ideal_mean_) / lost;
    return effect;
  }

  /// A rank is as bad as the lesser of what its replica and what its stage cost: both are needed
  /// for it to be the culprit (Lin et al. 2025, section 4).
  void add_worst_ranks(ReplayResult& result) const {
    constexpr int kWorstPercent = 3;
    struct Scored {
      double score;
      int rank;
      int replica;
      int stage;
    };
    std::vector<Scored> ranks;
    for (const GroupSlowdown<int>& replica : result.by_replica) {
      for (const GroupSlowdown<int>& stage : result.by_stage) {
        const std::size_t place = index(replica.group) * index(graph_.stages) + index(stage.group);
        ranks.push_back({std::min(replica.slowdown, stage.slowdown), trace_.rank_of[place],
                         replica.group, stage.group});
      }
    }
    std::ranges::sort(ranks, [](const Scored& a, const Scored& b) {
      return a.score != b.score ? a.score > b.score : a.rank < b.rank;
    });
    ranks.resize((ranks.size() * kWorstPercent + 99) / 100);
    std::vector<bool> is_worst(trace_.rank_of.size(), false);
    for (const Scored& one : ranks) {
      result.worst.push_back(one.rank);
      is_worst[index(one.replica) * index(graph_.stages) + index(one.stage)] = true;
    }
    result.worst_ranks = effect([&](int replica, const TraceOperation& operation) {
      return is_worst[index(replica) * index(graph_.stages) + index(operation.stage)];
    });
  }

  /// Pearson's coefficient of what the times of micro-batches are beyond the mean of their rank,
  /// within each stage, then the mean of stages: a rank that is always slow says nothing of them.
  [[nodiscard]] double correlation() const {
    double sum = 0.0;
    for (int stage = 0; stage < graph_.stages; ++stage) {
      const std::vector<PassPair> pairs = pairs_of(stage);
      PassSums of_stage;
      for (int replica = 0; replica < trace_.times.replicas; ++replica) {
        add_deviations(pairs, replica, of_stage);
      }
      sum += of_stage.correlation();
    }
    return sum / graph_.stages;
  }

  /// Operations of the same micro-batch.
  struct PassPair {
    int forward;
    int backward;
  };
  struct PassSums {
    double squares_forward = 0.0;
    double squares_backward = 0.0;
    double products = 0.0;
    double times_forward = 0.0;  ///< squared
    double times_backward = 0.0;

    /// 0 where one of the two does not differ beyond how times are rounded.
    [[nodiscard]] double correlation() const {
      constexpr double kAlike = 1e-10;
      const bool differ =
          squares_forward > kAlike * times_forward && squares_backward > kAlike * times_backward;
      return differ ? products / std::sqrt(squares_forward * squares_backward) : 0.0;
    }
  };

  [[nodiscard]] std::vector<PassPair> pairs_of(int stage) const {
    std::map<int, int> backward;
    for (int i = 0; i < trace_.times.operations; ++i) {
      const TraceOperation& operation = graph_.operations[index(i)];
      if (operation.stage == stage && operation.type == trace_type::kBackward) {
        backward[operation.sequence] = i;
      }
    }
    std::vector<PassPair> pairs;
    for (int i = 0; i < trace_.times.operations; ++i) {
      const TraceOperation& operation = graph_.operations[index(i)];
      if (operation.stage != stage || operation.type != trace_type::kForward) continue;
      const auto found = backward.find(operation.sequence);
      if (found != backward.end()) pairs.push_back({i, found->second});
    }
    return pairs;
  }

  void add_deviations(const std::vector<PassPair>& pairs, int replica, PassSums& sums) const {
    const int steps = static_cast<int>(trace_.times.steps.size());
    const auto for_each = [&](const auto& use) {
      for (int step = 0; step < steps; ++step) {
        for (const PassPair& pair : pairs) {
          use(trace_.times.values[trace_.times.place(step, replica, pair.forward)],
              trace_.times.values[trace_.times.place(step, replica, pair.backward)]);
        }
      }
    };
    const double count = static_cast<double>(pairs.size()) * steps;
    double forward = 0.0;
    double backward = 0.0;
    for_each([&](double x, double y) {
      forward += x / count;
      backward += y / count;
    });
    for_each([&](double x, double y) {
      sums.squares_forward += (x - forward) * (x - forward);
      sums.squares_backward += (y - backward) * (y - backward);
      sums.products += (x - forward) * (y - backward);
      sums.times_forward += x * x;
      sums.times_backward += y * y;
    });
  }

  const std::string& path_;
  const TraceGraph& graph_;
  LaidOutTrace trace_;
  TraceTimes ideal_;
  std::vector<double> ideal_steps_;
  double replayed_mean_ = 0.0;
  double ideal_mean_ = 0.0;
};

}  // namespace

ReplayResult replay(const std::string& path) {
  Diagnostics diagnostics;
  const std::vector<TraceRow> rows = read_trace(path, diagnostics);
  diagnostics.throw_if_errors();
  const TraceGraph graph = trace_graph(rows, path, diagnostics);
  diagnostics.throw_if_errors();
  LaidOutTrace trace = lay_out(rows, graph, path, diagnostics);
  diagnostics.throw_if_errors();
  // Every stage is replayed by itself.
  const auto work = static_cast<double>(rows.size()) * graph.stages;
  if (work > kStagesOfAllRows * static_cast<double>(limits().rows)) {
    refuse(path,
           fmt::format("{} rows on {} stages take too long", grouped_digits(std::ssize(rows)),
                       grouped_digits(graph.stages)),
           limit_help(&Limits::rows));
  }
  ReplayResult result = Replay(path, graph, std::move(trace)).result();
  result.trace = path;
  return result;
}

}  // namespace headway

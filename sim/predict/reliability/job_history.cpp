#include "sim/predict/reliability/job_history.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "sim/predict/reliability/checkpoint_cycle.h"
#include "sim/predict/reliability/node_supply.h"

namespace headway {
namespace {

/// Work that a failure may undo, the latest last.
class UnsavedWork {
 public:
  struct Stretch {
    double trained = 0.0;  ///< seconds
    double rate = 1.0;     ///< of work in them
  };

  void add(double trained, double rate) {
    if (!stretches_.empty() && stretches_.back().rate == rate) {
      stretches_.back().trained += trained;
    } else {
      stretches_.push_back({trained, rate});
    }
  }
  /// The latest, up to so many seconds; none is left that was before a rate changed.
  Stretch take_back(double seconds) {
    if (stretches_.empty()) return {};
    Stretch& last = stretches_.back();
    const Stretch taken{std::min(seconds, last.trained), last.rate};
    last.trained -= taken.trained;
    if (last.trained <= 0.0) stretches_.pop_back();
    return taken;
  }
  [[nodiscard]] bool is_empty() const { return stretches_.empty(); }
  /// Nothing can undo what was before the latest so many seconds.
  void keep_latest(double seconds) {
    auto first = stretches_.end();
    while (seconds > 0.0 && first != stretches_.begin()) {
      --first;
      first->trained = std::min(first->trained, seconds);
      seconds -= first->trained;
    }
    stretches_.erase(stretches_.begin(), first);
  }

 private:
  std::vector<Stretch> stretches_;
};

class Job {
 public:
  Job(const ReliabilitySettings& settings, Seconds interval, double work, double horizon,
      std::uint64_t seed, const HistoryLimits& limits)
      : settings_(settings),
        recovery_(*settings.recovery),
        cycle_(settings.checkpoint, interval),
        failures_(settings.causes, seed, limits.most_lifetimes),
        supply_(settings, limits.record_start),
        target_(work),
        horizon_(horizon) {
    if (settings.spot) withdrawal_.notice = settings.spot->notice;
    const std::size_t causes = settings.causes.size() + (settings.spot ? 1 : 0);
    history_.interruptions.assign(causes, 0);
    history_.cost_of_cause.assign(causes, 0.0);
  }

  JobHistory history() && {
    int nobody = kNobody;
    while (now_ < horizon_ && !wait_for_nodes(nobody)) {
    }
    while (!history_.finished && now_ < horizon_) train();
    history_.wall = now_;
    history_.lifetimes = failures_.drawn();
    history_.spot_node_seconds = supply_.spot_node_seconds(now_);
    return std::move(history_);
  }

 private:
  static constexpr double kNever = NodeSupply::kNever;
  static constexpr int kNobody = -1;  ///< is the cause

  [[nodiscard]] double speed(int missing) const {
    return recovery_.speed(settings_, missing) / (1.0 + settings_.step_overhead);
  }
  [[nodiscard]] double speed() const { return speed(supply_.missing()); }
  [[nodiscard]] double next_failure() const {
    return std::min(failures_.next().time, supply_.next_withdrawal());
  }
  [[nodiscard]] const FailureCause& cause_at(int cause) const {
    const auto number = static_cast<std::size_t>(cause);
    return number < settings_.causes.size() ? settings_.causes[number] : withdrawal_;
  }
  /// What a node takes that starts beside a job in place; else all start together.
  [[nodiscard]] double start_beside() const {
    return recovery_.in_place && !recovery_.moves ? settings_.restart.count() : 0.0;
  }

  /// Trains until something happens: done, a failure, a node back, or the end of time. Grows first
  /// where nodes came, as they may while everybody stands still.
  void train() {
    const double rate = speed();
    supply_.settle(now_, start_beside());
    if (speed(supply_.missing() - supply_.ready(now_)) > rate) return grow();
    const Stretch before = cycle_.after(position_);
    const double left = (target_ - work_) / rate;
    const double finish = now_ + std::max(0.0, cycle_.time_for(before.trained + left) - position_);
    const double broken = next_failure();
    const double arrival = supply_.next_arrival(now_);
    const double end = std::min({finish, broken, arrival, horizon_});
    position_ += end - now_;
    const Stretch done = cycle_.after(position_);
    now_ = end;
    history_.checkpoints += done.checkpointing - before.checkpointing;
    keep(done.trained - before.trained, rate);
    if (end == finish) {
      history_.finished = true;
    } else if (end == broken) {
      int cause = kNobody;
      if (take_failure(cause)) fail(done, cause);
    }
  }

  void keep(double trained, double rate) {
    history_.productive += trained;
    history_.reduced_speed += trained * (1.0 - rate);
    work_ += trained * rate;
    unsaved_.add(trained, rate);
  }

  /// The latest seconds of training have to be done again.
  void undo(double seconds, int cause) {
    while (seconds > 0.0 && !unsaved_.is_empty()) {
      const UnsavedWork::Stretch undone = unsaved_.take_back(seconds);
      seconds -= undone.trained;
      history_.productive -= undone.trained;
      history_.reduced_speed -= undone.trained * (1.0 - undone.rate);
      work_ -= undone.trained * undone.rate;
      lose(undone.trained, history_.lost_work, cause);
    }
  }

  /// Nodes are ready that were missing.
  void grow() {
    if (recovery_.in_place) {
      int cause = kNobody;
      if (pass(recovery_.rejoin(settings_).count(), history_.restart, cause)) {
        supply_.join_ready(now_);
      } else {
        go_on(cause);
      }
      return;
    }
    // A checkpoint, if there is anything new to keep, and on with more replicas.
    if (!unsaved_.is_empty()) {
      spend(settings_.checkpoint.blocking.count(), history_.checkpoints, kNobody);
      only_on_nodes_ = 0.0;
    }
    restart(kNobody, true);
  }

  void fail(const Stretch& done, int cause) {
    if (!stays_in_place()) return fall_back(cause);
    const double step = settings_.step.count() * (1.0 + settings_.step_overhead);
    const bool is_warned = cause_at(cause).notice >= settings_.step;
    const double under_way = step > 0.0 && !is_warned ? std::fmod(done.since_part, step) : 0.0;
    undo(under_way, cause);
    position_ -= under_way;
    go_on(cause);
  }

  [[nodiscard]] bool stays_in_place() const {
    return recovery_.in_place && (recovery_.moves || speed() > 0.0);
  }

  /// In place: the others form anew, or go on once lost nodes are replaced.
  void go_on(int cause) {
    while (now_ < horizon_) {
      if (!stays_in_place()) return fall_back(cause);
      if (!pass(settings_.detection.count(), history_.detection, cause)) continue;
      supply_.settle(now_, start_beside());
      if (recovery_.moves && !wait_for_nodes(cause)) continue;
      if (pass(recovery_.pause(settings_).count(), history_.restart, cause)) return;
    }
  }

  /// To the last checkpoint that is left.
  void fall_back(int cause) {
    const FailureCause& of = cause_at(cause);
    const CheckpointSettings& checkpoint = settings_.checkpoint;
    const bool is_warned = is_saved_in(of.notice, checkpoint);
    if (!is_warned) ++history_.setbacks;
    const bool local = !takes_nodes_away(cause);
    const Stretch done = cycle_.after(position_);
    if (is_warned) {
      spend(checkpoint.blocking.count(), history_.checkpoints, kNobody);
      only_on_nodes_ = 0.0;
    } else if (local) {
      undo(done.trained - done.safe_locally, cause);
      if (done.safe > 0.0) only_on_nodes_ = 0.0;
      only_on_nodes_ += done.safe_locally - done.safe;
    } else {
      undo(done.trained - done.safe, cause);
      if (done.safe > 0.0) only_on_nodes_ = 0.0;
      undo_what_nodes_held(cause);
    }
    restart(cause, local);
  }

  /// Whether the checkpoints on nodes are gone after such a failure, if there are any.
  [[nodiscard]] bool takes_nodes_away(int cause) const {
    const auto& local = settings_.checkpoint.local;
    const FailureCause& of = cause_at(cause);
    const bool takes_nodes = of.nodes_lost > 0 || &of == &withdrawal_;
    return !local || (takes_nodes && !local->survives_lost_nodes);
  }
  void undo_what_nodes_held(int cause) {
    undo(only_on_nodes_, cause);
    only_on_nodes_ = 0.0;
  }

  /// The next failure happens: it is counted, and its nodes are gone. False if the job does not
  /// notice.
  bool take_failure(int& cause) {
    const bool is_withdrawal = supply_.next_withdrawal() < failures_.next().time;
    if (is_withdrawal) {
      if (supply_.withdraw(now_) == 0 || waits_) return false;
      cause = static_cast<int>(settings_.causes.size());
    } else {
      cause = failures_.next().cause;
      failures_.pop();
      const FailureCause& of = cause_at(cause);
      supply_.lose(of.nodes_lost, of.repair.count(), now_);
      // Somebody's processes ended: that node has to start anew, and the others need not.
      if (of.nodes_lost == 0 && start_beside() > 0.0) supply_.step_out();
    }
    ++history_.interruptions[static_cast<std::size_t>(cause)];
    return true;
  }

  /// Detects, waits for nodes, restarts; from the beginning if something breaks meanwhile. A job
  /// that only grows has nothing to detect.
  void restart(int cause, bool from_local) {
    unsaved_.keep_latest(only_on_nodes_);
    position_ = 0.0;
    while (now_ < horizon_) {
      if (starts(cause, from_local)) return;
      if (!takes_nodes_away(cause)) continue;
      from_local = false;
      undo_what_nodes_held(cause);
    }
  }
  /// False if something breaks meanwhile.
  bool starts(int& cause, bool from_local) {
    if (cause != kNobody && !pass(settings_.detection.count(), history_.detection, cause)) {
      return false;
    }
    if (!wait_for_nodes(cause)) return false;
    const CheckpointSettings& checkpoint = settings_.checkpoint;
    const Seconds loading =
        from_local && checkpoint.local ? checkpoint.local->loading : checkpoint.loading;
    const Seconds start = settings_.restart + loading + settings_.warm_up;
    return pass(start.count(), history_.restart, cause);
  }

  /// Until all nodes are there, or enough to go on. False if something broke.
  bool wait_for_nodes(int& cause) {
    while (supply_.missing() > 0) {
      supply_.settle(now_, 0.0);
      supply_.join_all();
      if (speed() > 0.0 || now_ >= horizon_) return true;
      const double there = supply_.next_arrival(now_);
      waits_ = true;
      const bool is_quiet = pass(std::max(0.0, there - now_), history_.waiting, cause);
      waits_ = false;
      if (!is_quiet) return false;
    }
    return true;
  }

  /// Spends `time` on something; false if a failure cut it short (and was counted).
  bool pass(double time, double& part, int& cause) {
    const double end = std::min(now_ + time, horizon_);
    while (true) {
      const double broken = next_failure();
      if (broken > end) {
        spend(end - now_, part, cause);
        return true;
      }
      spend(std::max(0.0, broken - now_), part, cause);
      if (take_failure(cause)) return false;
    }
  }

  void spend(double time, double& part, int cause) {
    now_ += time;
    lose(time, part, cause);
  }
  void lose(double time, double& part, int cause) {
    part += time;
    if (cause != kNobody) history_.cost_of_cause[static_cast<std::size_t>(cause)] += time;
  }

  const ReliabilitySettings& settings_;
  const Recovery& recovery_;
  CheckpointCycle cycle_;
  FailureProcess failures_;
  NodeSupply supply_;
  FailureCause withdrawal_;  ///< of spot nodes
  double target_;
  double horizon_;
  JobHistory history_;
  double now_ = 0.0;
  double work_ = 0.0;      ///< kept, in seconds at full speed
  double position_ = 0.0;  ///< in the cycle of checkpoints: time of it since the last restart
  /// Training before the last restart that checkpoints on nodes hold and no other; seconds.
  double only_on_nodes_ = 0.0;
  UnsavedWork unsaved_;  ///< of that, and since the last restart
  bool waits_ = false;   ///< for nodes, and nobody works
};

}  // namespace

JobHistory job_history(const ReliabilitySettings& settings, Seconds interval, double work,
                       double horizon, std::uint64_t seed, const HistoryLimits& limits) {
  return Job(settings, interval, work, horizon, seed, limits).history();
}

}  // namespace headway

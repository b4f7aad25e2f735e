#include "sim/predict/reliability/job_history.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <set>
#include <utility>
#include <vector>

namespace headway {
namespace {

/// What a stretch of undisturbed training brings.
struct Stretch {
  double trained = 0.0;        ///< time of iterations
  double checkpointing = 0.0;  ///< time of standing still
  double safe = 0.0;           ///< of the trained time, in checkpoints that survive everything
  double safe_locally = 0.0;   ///< in those on the nodes too
};

/// Checkpoints in turn: every `local` interval one on the nodes, and at the end of each cycle one
/// that survives everything. Without a local tier a cycle is a single interval.
class CheckpointCycle {
 public:
  CheckpointCycle(const CheckpointSettings& settings, Seconds interval)
      : cost_(settings.blocking.count()), persisting_(settings.persisting.count()) {
    if (settings.local && settings.local->interval < interval) {
      parts_ = std::max(1.0, std::round(interval / settings.local->interval));
      part_cost_ = settings.local->blocking.count();
    }
    part_ = interval.count() / parts_;
    length_ = parts_ * part_ + (parts_ - 1.0) * part_cost_ + cost_;
  }

  /// `time` from the last restart on.
  [[nodiscard]] Stretch after(double time) const {
    Stretch done;
    const double cycles = std::floor(time / length_);
    const double rest = time - cycles * length_;
    const double in_parts = std::min(std::floor(rest / (part_ + part_cost_)), parts_ - 1.0);
    const double in_part = rest - in_parts * (part_ + part_cost_);
    done.trained = (cycles * parts_ + in_parts) * part_ + std::min(in_part, part_);
    done.checkpointing = time - done.trained;
    done.safe = std::max(0.0, std::floor((time - persisting_) / length_)) * parts_ * part_;
    done.safe_locally = std::max(done.safe, (cycles * parts_ + in_parts) * part_);
    return done;
  }

  /// Time in which `trained` seconds are trained, no checkpoint after the last.
  [[nodiscard]] double time_for(double trained) const {
    if (!std::isfinite(trained)) return trained;
    const double whole = std::max(0.0, std::ceil(trained / part_) - 1.0);  // parts ended before
    const double cycles = std::floor(whole / parts_);
    return trained + whole * part_cost_ + cycles * (cost_ - part_cost_);
  }

 private:
  double cost_;
  double persisting_;
  double parts_ = 1.0;
  double part_ = 0.0;
  double part_cost_ = 0.0;
  double length_ = 0.0;
};

class Job {
 public:
  Job(const ReliabilitySettings& settings, Seconds interval, double work, double horizon,
      std::uint64_t seed, std::int64_t most_lifetimes)
      : settings_(settings),
        cycle_(settings.checkpoint, interval),
        failures_(settings.causes, seed, most_lifetimes),
        target_(work),
        horizon_(horizon),
        spares_(settings.spare_nodes) {
    history_.interruptions.assign(settings.causes.size(), 0);
    history_.cost_of_cause.assign(settings.causes.size(), 0.0);
  }

  JobHistory history() && {
    while (!history_.finished && now_ < horizon_) train();
    history_.wall = now_;
    history_.lifetimes = failures_.drawn();
    return std::move(history_);
  }

 private:
  static constexpr double kNever = std::numeric_limits<double>::infinity();

  [[nodiscard]] double speed() const {
    if (missing_ == 0) return 1.0;
    const double lost = std::ceil(missing_ / settings_.nodes_per_replica);
    return std::max(0.0, 1.0 - lost / settings_.replicas);
  }

  /// Trains until something happens: done, a failure, a node back, or the end of time.
  void train() {
    const double rate = speed();
    const double finish = now_ + cycle_.time_for((target_ - work_) / rate);
    const double broken = failures_.next().time;
    const double grown = time_to_grow();
    const double end = std::min({finish, broken, grown, horizon_});
    const Stretch done = cycle_.after(end - now_);
    now_ = end;
    history_.checkpoints += done.checkpointing;
    if (end == finish) {
      keep(done.trained, rate);
      history_.finished = true;
    } else if (end == broken) {
      fail(done, rate);
    } else {
      keep(done.trained, rate);
      if (end == grown) grow();
    }
  }

  /// When enough nodes are back for one more replica.
  [[nodiscard]] double time_to_grow() const {
    if (missing_ == 0) return kNever;
    const double replicas = std::ceil(missing_ / settings_.nodes_per_replica) - 1.0;
    const auto needed = static_cast<std::size_t>(
        missing_ - static_cast<int>(std::floor(replicas * settings_.nodes_per_replica)));
    std::vector<double> arrivals;
    std::ranges::merge(repairs_, orders_, std::back_inserter(arrivals));
    return arrivals.size() < needed ? kNever : arrivals[needed - 1];
  }

  void keep(double trained, double rate) {
    history_.productive += trained;
    history_.reduced_speed += trained * (1.0 - rate);
    work_ += trained * rate;
  }

  /// Nodes are back that were missing: a checkpoint, and on with more replicas.
  void grow() {
    collect_arrived();
    spend(settings_.checkpoint.blocking.count(), history_.checkpoints, -1);
    replace_missing();
    recover(-1, true);
  }

  void fail(const Stretch& done, double rate) {
    const int cause = take_failure();
    const FailureCause& of = settings_.causes[static_cast<std::size_t>(cause)];
    const CheckpointSettings& checkpoint = settings_.checkpoint;
    const bool warned =
        of.notice > Seconds(0.0) && of.notice >= checkpoint.blocking + checkpoint.persisting;
    const bool local =
        checkpoint.local && (of.nodes_lost == 0 || checkpoint.local->survives_lost_nodes);
    const double safe = warned ? done.trained : local ? done.safe_locally : done.safe;
    keep(safe, rate);
    lose(done.trained - safe, history_.lost_work, cause);
    if (warned) spend(checkpoint.blocking.count(), history_.checkpoints, -1);
    recover(cause, local);
  }

  /// The next failure happens: it is counted, and its nodes are gone.
  int take_failure() {
    const int cause = failures_.next().cause;
    const FailureCause& of = settings_.causes[static_cast<std::size_t>(cause)];
    failures_.pop();
    ++history_.interruptions[static_cast<std::size_t>(cause)];
    collect_arrived();
    for (int i = 0; i < of.nodes_lost; ++i) repairs_.insert(now_ + of.repair.count());
    const int replaced = std::min(of.nodes_lost, spares_);
    spares_ -= replaced;
    missing_ += of.nodes_lost - replaced;
    return cause;
  }

  /// Nodes that were repaired, and new ones.
  void collect_arrived() {
    for (std::multiset<double>* arrivals : {&repairs_, &orders_}) {
      while (!arrivals->empty() && *arrivals->begin() <= now_) {
        arrivals->erase(arrivals->begin());
        ++spares_;
      }
    }
  }

  /// By spares as far as they go; new nodes are on order for the rest, one for each.
  void replace_missing() {
    const int taken = std::min(missing_, spares_);
    missing_ -= taken;
    spares_ -= taken;
    const auto wanted = static_cast<std::size_t>(missing_);
    while (orders_.size() > wanted) orders_.erase(std::prev(orders_.end()));
    while (orders_.size() < wanted) orders_.insert(now_ + settings_.reprovision.count());
  }

  /// Detects, waits for nodes, restarts; from the beginning if something breaks meanwhile. A job
  /// that only grows (cause -1) has nothing to detect.
  void recover(int cause, bool from_local) {
    while (now_ < horizon_) {
      if (cause >= 0 && !pass(settings_.detection.count(), history_.detection, cause)) continue;
      if (!wait_for_nodes(cause)) continue;
      const CheckpointSettings& checkpoint = settings_.checkpoint;
      const Seconds loading =
          from_local && checkpoint.local ? checkpoint.local->loading : checkpoint.loading;
      const Seconds start = settings_.restart + loading + settings_.warm_up;
      if (pass(start.count(), history_.restart, cause)) return;
    }
  }

  /// Until all nodes are there, or enough for an elastic job. False if something broke.
  bool wait_for_nodes(int& cause) {
    while (missing_ > 0) {
      collect_arrived();
      replace_missing();
      if (missing_ == 0 || (settings_.elastic && speed() > 0.0)) return true;
      const double repaired = repairs_.empty() ? kNever : *repairs_.begin();
      const double there = std::min(repaired, *orders_.begin());
      if (!pass(std::max(0.0, there - now_), history_.waiting, cause)) return false;
      if (now_ >= horizon_) return true;
    }
    return true;
  }

  /// Spends `time` on something; false if a failure cut it short (and was counted).
  bool pass(double time, double& part, int& cause) {
    const double end = std::min(now_ + time, horizon_);
    const double broken = failures_.next().time;
    if (broken > end) {
      spend(end - now_, part, cause);
      return true;
    }
    spend(broken - now_, part, cause);
    cause = take_failure();
    return false;
  }

  void spend(double time, double& part, int cause) {
    now_ += time;
    lose(time, part, cause);
  }
  void lose(double time, double& part, int cause) {
    part += time;
    if (cause >= 0) history_.cost_of_cause[static_cast<std::size_t>(cause)] += time;
  }

  const ReliabilitySettings& settings_;
  CheckpointCycle cycle_;
  FailureProcess failures_;
  double target_;
  double horizon_;
  JobHistory history_;
  double now_ = 0.0;
  double work_ = 0.0;  ///< kept, in seconds at full speed
  int spares_;
  int missing_ = 0;                ///< nodes
  std::multiset<double> repairs_;  ///< when they end
  std::multiset<double> orders_;   ///< when new nodes come, one for each missing one
};

}  // namespace

JobHistory job_history(const ReliabilitySettings& settings, Seconds interval, double work,
                       double horizon, std::uint64_t seed, std::int64_t most_lifetimes) {
  return Job(settings, interval, work, horizon, seed, most_lifetimes).history();
}

}  // namespace headway

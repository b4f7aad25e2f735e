#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/units.h"
#include "sim/base/words.h"
#include "sim/scenario/recovery/recovery.h"
#include "sim/scenario/recovery/spot_record.h"

namespace headway {

/// What breaks. Of each kind the job has as many as its nodes bring along; there is one software.
enum class FailureUnit { gpu, node, nic, network_switch, rack, software };

/// How long a unit lasts.
enum class LifetimeKind {
  exponential,  ///< memoryless: `mean`
  weibull,      ///< `mean` and `shape`: less than 1 for early failures, more for wear
  empirical     ///< one of `observed`, each as likely
};

struct Lifetime {
  LifetimeKind kind = LifetimeKind::exponential;
  Seconds mean;
  double shape = 1.0;
  std::vector<Seconds> observed = {};
};

/// A cause of interruptions.
struct FailureCause {
  std::string name;
  FailureUnit unit = FailureUnit::node;
  Lifetime lifetime;
  int units = 1;       ///< that the job has
  int nodes_lost = 0;  ///< that have to be replaced before the job goes on
  Seconds repair;      ///< until a lost node is back among the spares
  Seconds notice;      ///< time between the warning and the end (spot instances); mostly none
};

/// How the state of training is kept. Sizes are of the whole job.
struct CheckpointSettings {
  enum class Interval { given, young, daly, search };
  Interval how = Interval::daly;
  Seconds interval;    ///< of training time between two, if given
  Bytes size;          ///< of one
  Seconds blocking;    ///< that training stands still for one
  Seconds persisting;  ///< after that, until it can be restored from; 0 if synchronous
  Seconds loading;     ///< to restore one
  /// A faster place that is written to more often: the nodes' own memory or disks.
  struct Local {
    Seconds interval;
    Seconds blocking;
    Seconds loading;
    bool survives_lost_nodes = false;  ///< kept on other nodes too
  };
  std::optional<Local> local;
};
template <>
inline constexpr Word<CheckpointSettings::Interval> kWords<CheckpointSettings::Interval>[] = {
    {"given", CheckpointSettings::Interval::given},
    {"young", CheckpointSettings::Interval::young},
    {"daly", CheckpointSettings::Interval::daly},
    {"search", CheckpointSettings::Interval::search}};

/// The "reliability" of a scenario: weeks of training with what breaks in them.
struct ReliabilitySettings {
  std::optional<double> train_tokens;  ///< the run ends when they are trained,
  std::optional<Seconds> duration;     ///< or after this time; one of the two
  int runs = 200;                      ///< histories that are drawn
  std::vector<FailureCause> causes;
  Seconds detection;    ///< from a failure until the job is stopped
  Seconds restart;      ///< to schedule and start processes on good nodes
  Seconds warm_up;      ///< of the first iterations, beyond their normal time
  Seconds reprovision;  ///< to get a node where no spare is left
  int nodes = 1;        ///< that the job wants
  int spare_nodes = 0;
  int nodes_per_rack = 1;
  const Recovery* recovery = recoveries().data();
  /// What the job can be cut into: data-parallel replicas, or, in place, whole copies of the state.
  int replicas = 1;
  double nodes_per_replica = 1.0;
  int pipelines = 1;               ///< side by side
  int stages = 1;                  ///< of a pipeline
  double micro_batches = 1.0;      ///< of a replica, in a step
  Seconds reconfigure;             ///< in place: to go on in another formation
  BytesPerSecond state_bandwidth;  ///< in place: at which a node gets what another held
  double step_overhead = 0.0;      ///< what every step takes more, as a share
  Seconds step;                    ///< one, undisturbed; known once the job has been simulated
  /// Nodes of the job that come and go as recorded; the others are there until they break.
  std::optional<SpotNodes> spot;
  CheckpointSettings checkpoint;

  /// To hand a node its part of a copy of the state.
  [[nodiscard]] Seconds node_state() const {
    return checkpoint.size / std::max(1.0, nodes_per_replica) / state_bandwidth;
  }
};

}  // namespace headway

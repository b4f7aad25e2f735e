#pragma once

#include <optional>

#include "sim/base/units.h"
#include "sim/base/words.h"

namespace headway {

/// By what the replicas of a job come to the same parameters.
enum class SynchronisationScheme {
  all_reduce,        ///< collectives between them, whatever is sharded
  parameter_server,  ///< pushed to servers and pulled from them (Li et al. 2014, OSDI)
  local_steps  ///< groups of them meet every so many steps only (Stich 2018, arXiv:1805.09767)
};

template <>
inline constexpr Word<SynchronisationScheme> kWords<SynchronisationScheme>[] = {
    {"all_reduce", SynchronisationScheme::all_reduce},
    {"parameter_server", SynchronisationScheme::parameter_server},
    {"local_steps", SynchronisationScheme::local_steps}};

/// Where servers stand.
enum class ServerHosts {
  beside,  ///< on nodes of the job, spread evenly
  apart    ///< on nodes of their own, those after the job's
};

template <>
inline constexpr Word<ServerHosts> kWords<ServerHosts>[] = {{"beside", ServerHosts::beside},
                                                            {"apart", ServerHosts::apart}};

/// How the replicas of a job come to the same parameters.
struct Synchronisation {
  SynchronisationScheme scheme = SynchronisationScheme::all_reduce;
  int servers = 1;  ///< each has an equal part of every key
  ServerHosts hosts = ServerHosts::beside;
  /// Every push is an update, answered by itself; else updates wait for the pushes of a whole step.
  bool asynchronous = false;
  /// Synchronous: pushes of a step that are not waited for, and dropped (Chen et al. 2016,
  /// arXiv:1604.00981).
  int backup_workers = 0;
  /// Asynchronous: by how many steps a worker may be ahead of the slowest (Ho et al. 2013).
  std::optional<int> staleness_bound;
  /// Steps of its own that a worker takes between two pushes; it pushes what it has learned in them
  /// (synchronous: a round of federated averaging, McMahan et al. 2017, arXiv:1602.05629;
  /// asynchronous: Liu et al. 2024, arXiv:2401.09135, asynchronous local SGD).
  int push_every = 1;
  /// Of a parameter on its way to servers, and back; else those of a gradient, and of a parameter.
  std::optional<double> push_bits;
  std::optional<double> pull_bits;
  /// What an accelerator's connection to all servers together carries, and the one back: below what
  /// the fabric leaves it, as at home or on a phone.
  std::optional<BytesPerSecond> uplink;
  std::optional<BytesPerSecond> downlink;
  /// Accelerators of a scale-up domain add up their gradients first, and are one worker.
  bool local_reduction = false;

  // Local steps. Islands are groups of replicas that work as one, each by itself; every so many
  // steps they average what they learned and an outer optimizer takes a step of it (DiLoCo:
  // Douillard et al. 2023, arXiv:2311.08105).
  int every = 500;     ///< steps from one average of a parameter to the next
  int islands = 0;     ///< 0: each replica is one
  double bits = 32.0;  ///< of a parameter, between islands
  /// Parts of the model that are averaged in turn, spread over the steps (Streaming DiLoCo:
  /// Douillard et al. 2025, arXiv:2501.18512).
  int fragments = 1;
  double overlap_steps = 0.0;  ///< during which an average is under way while islands go on

  [[nodiscard]] bool by_servers() const {
    return scheme == SynchronisationScheme::parameter_server;
  }
  [[nodiscard]] bool by_local_steps() const { return scheme == SynchronisationScheme::local_steps; }
  /// Whether workers update their parameters themselves between pushes.
  [[nodiscard]] bool has_local_updates() const { return by_servers() && push_every > 1; }
  /// Averages a step, of a fragment each.
  [[nodiscard]] double averages() const { return static_cast<double>(fragments) / every; }
  /// Share of the steps in which one may be under way.
  [[nodiscard]] double averaging() const { return averages() * overlap_steps; }
};

}  // namespace headway

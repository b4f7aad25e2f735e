#pragma once

#include <optional>

#include "sim/base/words.h"

namespace headway {

/// By what the replicas of a job come to the same parameters.
enum class SynchronisationScheme {
  all_reduce,       ///< collectives between them, whatever is sharded
  parameter_server  ///< pushed to servers and pulled from them (Li et al. 2014, OSDI)
};

template <>
inline constexpr Word<SynchronisationScheme> kWords<SynchronisationScheme>[] = {
    {"all_reduce", SynchronisationScheme::all_reduce},
    {"parameter_server", SynchronisationScheme::parameter_server}};

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
  /// Accelerators of a scale-up domain add up their gradients first, and are one worker.
  bool local_reduction = false;

  [[nodiscard]] bool by_servers() const {
    return scheme == SynchronisationScheme::parameter_server;
  }
};

}  // namespace headway

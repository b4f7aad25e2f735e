#pragma once

#include <functional>
#include <vector>

#include "sim/files/input_files.h"
#include "sim/files/json_reader.h"
#include "sim/models/read_model.h"
#include "sim/network/cluster.h"
#include "sim/scenario/neighbour_job.h"

namespace headway {

struct ReadStrategy;

/// The job of the scenario itself, beside which the others run.
struct OwnJob {
  const ReadModel& model;
  int nodes = 1;  ///< the first of the cluster
  const Cluster& cluster;
  bool has_store = false;  ///< the scenario has "data_loading"
  /// Whether the profile knows what a job needs; reports what it lacks.
  std::function<void(const Model& model, const ReadStrategy& strategy)> check_costs;
};

/// Reads "jobs" of a scenario and writes them, resolved, into it: who else is on the fabric, and
/// when. No node belongs to two jobs at a time.
[[nodiscard]] std::vector<NeighbourJob> read_jobs(ObjectReader& scenario, const OwnJob& own,
                                                  InputFiles& files);

}  // namespace headway

#pragma once

#include <memory>
#include <string>
#include <vector>

#include "sim/predict/what_if/bad_links.h"
#include "sim/programs/perturbation/perturbation.h"
#include "sim/programs/workload.h"
#include "sim/scenario/scenario.h"

namespace headway {

/// Something to do about stragglers, as runs of which the job then is a mean.
struct MitigationCase {
  struct Part {
    Workload workload;
    Perturbation perturbation;
    double weight = 1.0;      ///< of the length of this run in an iteration
    double iterations = 1.0;  ///< that this run is of
    std::shared_ptr<const Cluster> cluster = nullptr;  ///< nullptr: the scenario's
  };
  std::string name;   ///< "spare_nodes", for programs
  std::string title;  ///< "node 3 replaced by a spare", for people
  std::vector<Part> parts;
  double own_weight = 0.0;  ///< of the iteration as it is now
  double work = 1.0;        ///< samples of an iteration over those now
};

/// What the scenario allows: bad cables mended; slow nodes replaced by spares, or left out with
/// their replicas, and with what is plugged into them; not waiting for the last replicas (Chen et
/// al. 2016, arXiv:1604.00981: backup workers); updating locally and exchanging gradients now and
/// then (Stich 2018, arXiv:1805.09767: local SGD). The last two need replicas that hold everything;
/// that they learn from each sample as much as before is assumed. `workload` is the scenario's job,
/// `drawn` how its ranks differ, `bad_links` which of its cables are slow or down.
[[nodiscard]] std::vector<MitigationCase> mitigation_cases(const Scenario& scenario,
                                                           const Perturbation& drawn,
                                                           const Workload& workload,
                                                           const BadLinks& bad_links);

}  // namespace headway

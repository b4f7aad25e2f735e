#pragma once

#include <map>
#include <string>

#include "sim/predict/job_run.h"

namespace headway {

/// The fingerprint of the profile's content, which a resolved scenario only names.
[[nodiscard]] std::string profile_fingerprint(const Scenario& scenario);

/// Runs of the last scenario, for others that ask the same of the simulator: scenarios that differ
/// only in what is reckoned afterwards (failures, money) or in their names.
class JobRunMemory {
 public:
  /// run_job(scenario, strategy, scenario.run.replicas, jobs), simulated only if the last scenario
  /// was another job. Requires a scenario that is as it was resolved.
  [[nodiscard]] JobRun run(const Scenario& scenario, const Strategy& strategy, int jobs);

 private:
  std::string job_;                 ///< what the last scenario said of its job
  std::map<int, JobRun> by_ranks_;  ///< of smaller jobs too, which differ in their replicas
};

}  // namespace headway

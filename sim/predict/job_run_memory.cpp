#include "sim/predict/job_run_memory.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/base/diagnostic.h"
#include "sim/files/json_text.h"
#include "sim/jobs/strategy.h"

namespace headway {
namespace {

/// What a scenario says of the job that is simulated, and no more.
std::string job_text(const Scenario& scenario) {
  nlohmann::json job = *scenario.resolved;
  for (const char* afterwards : {"name", "description", "reliability", "cost"}) {
    job.erase(afterwards);
  }
  return compact_json(job) + profile_fingerprint(scenario);
}

}  // namespace

std::string profile_fingerprint(const Scenario& scenario) {
  // What stands in the scenario itself is in its text already.
  const nlohmann::json& named = scenario.resolved->at("profile");
  std::string fingerprints;
  for (const nlohmann::json& file : *scenario.files) {
    const bool is_one = named.is_array() ? std::ranges::find(named, file.at("path")) != named.end()
                                         : file.at("path") == named;
    if (is_one) fingerprints += file.at("fingerprint").get<std::string>();
  }
  return fingerprints;
}

JobRun JobRunMemory::run(const Scenario& scenario, const Strategy& strategy, int jobs) {
  HEADWAY_CHECK(scenario.software_factor == 1.0 && scenario.workload_changes.empty(),
                "only what stands in a scenario can be known again");
  std::string job = job_text(scenario);
  if (job != job_) {
    by_ranks_.clear();
    job_ = std::move(job);
  }
  const auto known = by_ranks_.find(strategy.ranks());
  if (known != by_ranks_.end()) return known->second;
  return by_ranks_
      .emplace(strategy.ranks(), run_job(scenario, strategy, scenario.run.replicas, jobs))
      .first->second;
}

}  // namespace headway

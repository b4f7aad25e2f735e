#include "sim/cli/jobs.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <string>

#include "sim/base/diagnostic.h"
#include "sim/base/utf8.h"

namespace headway {
namespace {

constexpr int kMostJobs = 4096;

int cores_at_hand() {
  cpu_set_t cores;
  if (sched_getaffinity(0, sizeof cores, &cores) != 0) return 1;
  return std::clamp(CPU_COUNT(&cores), 1, kMostJobs);
}

}  // namespace

int jobs_of(const Arguments& arguments) {
  if (const auto jobs = arguments.integer("jobs", 1, kMostJobs)) return static_cast<int>(*jobs);
  const char* const wanted = std::getenv("HEADWAY_JOBS");
  if (wanted == nullptr || *wanted == '\0') return cores_at_hand();
  if (const auto jobs = whole_number_in(wanted, 1, kMostJobs)) return static_cast<int>(*jobs);
  Diagnostic problem;
  problem.message =
      fmt::format("the environment variable HEADWAY_JOBS needs a whole number from 1 to {}, not {}",
                  kMostJobs, in_quotes(wanted));
  throw InputError(std::move(problem));
}

}  // namespace headway

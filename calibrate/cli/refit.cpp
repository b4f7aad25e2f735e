#include <fmt/format.h>

#include "calibrate/cli/backends.h"
#include "calibrate/cli/results.h"

namespace headway {

int refit(const Job& job) {
  Measurements all = read_measurements(job.options.from);
  if (!job.options.name.empty()) all.name = job.options.name;
  Calibration& calibration = all.calibration;
  if (!job.options.accelerator.empty()) calibration.offer.accelerator = job.options.accelerator;
  all.refitted = fmt::format("{} by {}: {}", job.created_utc, kTool, job.command_line);
  report_results(job.options, calibration, write_profile(job.options, all));
  return calibration.is_aborted ? 3 : 0;
}

}  // namespace headway

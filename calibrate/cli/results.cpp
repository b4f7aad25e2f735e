#include "calibrate/cli/results.h"

#include <fmt/format.h>

#include <cstdio>

#include "calibrate/output/atomic_file.h"
#include "calibrate/output/profile_json.h"
#include "sim/base/diagnostic.h"

namespace headway {

void write_points(const Options& options, const Measurements& all) {
  if (!options.points.empty()) write_atomically(options.points, measurements_json(all));
}

CalibratedProfile write_profile(const Options& options, const Measurements& all) {
  CalibratedProfile profile = fitted_profile(all);
  const std::string text = profile_json(profile);
  if (!options.output.empty()) {
    write_atomically(options.output, text);
  } else if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() ||
             std::fflush(stdout) != 0) {
    throw EnvironmentError("cannot write the profile to standard output");
  }
  return profile;
}

void report_results(const Options& options, const Calibration& calibration,
                    const CalibratedProfile& profile) {
  const Quality all = quality(calibration.points);
  fmt::print(stderr,
             "{}: {} points, {} samples, {:.1f} % contaminated, passes differ by {:.1f} %\n",
             verdict(calibration), calibration.points.size(), all.samples,
             100.0 * all.contaminated_share, 100.0 * all.pass_spread);
  if (verdict(calibration) == "noisy") {
    fmt::print(stderr,
               "noisy: other work held it up; measure again while nothing else runs here\n");
  }
  for (const std::string& missing : calibration.missing) {
    fmt::print(stderr, "missing: {}\n", missing);
  }
  for (const std::string& refused : refused_texts(calibration.refused)) {
    fmt::print(stderr, "refused: {}\n", refused);
  }
  if (calibration.block) {
    fmt::print(stderr, "transformer block: {}\n", profile.provenance.at("transformer_block"));
  }
  for (const std::string& file : {options.points, options.output}) {
    if (!file.empty()) fmt::print(stderr, "wrote {}\n", file);
  }
}

}  // namespace headway

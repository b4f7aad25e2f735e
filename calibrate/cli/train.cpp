#include <fmt/format.h>

#include <cstdio>

#include "calibrate/cli/backends.h"
#include "calibrate/cli/cpu_ranks.h"
#include "calibrate/output/atomic_file.h"
#include "calibrate/train/comparison.h"
#include "calibrate/train/read_steps.h"
#include "calibrate/train/trainer.h"
#include "sim/base/diagnostic.h"
#include "sim/base/input_files.h"
#include "sim/profile/read_profile.h"

namespace headway {
namespace {

std::vector<Profile> read_profiles(const std::vector<std::string>& paths) {
  std::vector<Profile> profiles;
  Diagnostics diagnostics;
  InputFiles files({}, {}, diagnostics);
  for (const std::string& path : paths) {
    const auto cursor = files.open(path, "calibrate/profiles");
    const auto read = cursor ? read_profile(*cursor, files) : std::nullopt;
    if (read) profiles.push_back(*read->profile);
  }
  diagnostics.throw_if_errors();
  return profiles;
}

/// One rank by itself trains without a network.
class NoTransport final : public Transport {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  void exchange(std::span<const std::byte> /*out*/, int /*to*/, std::span<std::byte> /*in*/,
                int /*from*/) override {}
};

void write_measured(const Job& job, const std::vector<MeasuredStep>& measured) {
  const std::string text = measured_json(measured, job.command_line, job.created_utc);
  if (!job.options.output.empty()) return write_atomically(job.options.output, text);
  if (job.options.against.empty()) fmt::print("{}", text);
}

int compare(const Job& job, const std::vector<MeasuredStep>& measured,
            const std::vector<Profile>& profiles) {
  if (job.options.against.empty()) return 0;
  const Comparison result = compared(measured, profiles);
  fmt::print("{}{}\nverdict: {}{}\n", result.table, result.summary, result.verdict,
             result.reason.empty() ? "" : " (" + result.reason + ")");
  return result.verdict == "off" ? 1 : 0;
}

}  // namespace

int train_cpu(const Job& job) {
  const std::vector<Profile> profiles = read_profiles(job.options.against);
  if (!job.options.measured.empty()) {
    return compare(job, read_measured(job.options.measured), profiles);
  }
  const std::vector<TrainingStep> steps = read_steps(job.options.steps);
  return on_cpu_ranks(job.options, [&job, &steps, &profiles](const CpuRank& rank) {
    NoTransport none;
    Transport& main = rank.main == nullptr ? none : *rank.main;
    Transport& network = rank.network == nullptr ? none : *rank.network;
    std::vector<MeasuredStep> measured;
    for (const TrainingStep& step : steps) {
      if (main.rank() == 0 && job.options.shows_progress) {
        fmt::print(stderr, "step {}/{}: {}\n", measured.size() + 1, steps.size(), step.id);
      }
      measured.push_back(measured_step(step, main, network));
    }
    if (main.rank() != 0) return 0;
    write_measured(job, measured);
    return compare(job, measured, profiles);
  });
}

}  // namespace headway

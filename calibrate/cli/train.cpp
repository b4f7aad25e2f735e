#include <fmt/format.h>

#include <cstdio>

#include "calibrate/cli/backends.h"
#include "calibrate/cli/cpu_ranks.h"
#include "calibrate/output/atomic_file.h"
#include "calibrate/output/measured_json.h"
#include "calibrate/train/trainer.h"
#include "sim/costs/steps/read_steps.h"

namespace headway {
namespace {

/// One rank by itself trains without a network.
class NoTransport final : public Transport {
 public:
  [[nodiscard]] int rank() const override { return 0; }
  [[nodiscard]] int size() const override { return 1; }
  void exchange(std::span<const std::byte> /*out*/, int /*to*/, std::span<std::byte> /*in*/,
                int /*from*/) override {}
};

}  // namespace

int train_cpu(const Job& job) {
  const std::vector<TrainingStep> steps = read_steps(job.options.steps);
  return on_cpu_ranks(job.options, [&job, &steps](const CpuRank& rank) {
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
    const std::string text = measured_json(measured, job.command_line, job.created_utc);
    if (job.options.output.empty()) {
      fmt::print("{}", text);
    } else {
      write_atomically(job.options.output, text);
    }
    return 0;
  });
}

}  // namespace headway

#include "calibrate/train/trainer.h"

#include <optional>
#include <vector>

#include "calibrate/cpu/processor_load.h"
#include "calibrate/cpu/strided_transport.h"
#include "calibrate/cpu/thread_clock.h"
#include "calibrate/cpu/transport_rendezvous.h"
#include "calibrate/measure/statistics.h"
#include "calibrate/suite/interruption.h"
#include "calibrate/train/least_disturbed.h"
#include "calibrate/train/stage.h"
#include "sim/base/diagnostic.h"

namespace headway {
namespace {

constexpr int kWarmUp = 3;

/// A stretch of steps that other work held up for more than a fiftieth of its time is run again.
constexpr int kMostAttempts = 3;
constexpr double kAccepted = 0.02;

}  // namespace

MeasuredStep measured_step(const TrainingStep& step, Transport& transport, Transport& network) {
  const int ranks = transport.size();
  const std::string reason = unrunnable_reason(step, ranks);
  if (!reason.empty()) throw EnvironmentError(step.id + ": " + reason);
  StridedTransport replicas(network, step.pipeline_stages);
  Stage stage(step, network);
  Reducer reducer(replicas, step.overlap);
  Worker sender;
  TransportRendezvous rendezvous(transport);
  // All ranks see the same loads, and so decide alike.
  return least_disturbed(kMostAttempts, kAccepted, [&]() -> MeasuredStep {
    std::optional<LoadWatch> watch;
    std::vector<double> times;
    for (int index = -kWarmUp; index < step.steps; ++index) {
      throw_if_interrupted();
      if (index == 0) watch.emplace();
      const double factor = compute_factor(step, transport.rank(), index);
      rendezvous.barrier();
      const Seconds start = steady_now();
      stage.run(factor, reducer, sender);
      const Seconds mine = steady_now() - start;
      const double slowest = group_max(transport, ranks, mine.count());
      if (index >= 0) times.push_back(slowest);
    }
    const auto loads = gathered(watch->load(), rendezvous);
    const double time = median(times);
    return {step, ranks, time, 1.4826 * median_absolute_deviation(times) / time,
            contaminated_share(loads)};
  });
}

}  // namespace headway

#include "sim/predict/input/input_use.h"

#include <algorithm>

#include "sim/jobs/strategy.h"

namespace headway {

BytesPerSecond demand_at(const InputDemand& demand, double utilisation) {
  return utilisation * (demand.batch / demand.compute);
}

InputUse input_use(const InputSettings& settings, const Strategy& strategy, const Cluster& cluster,
                   Seconds iteration, const std::optional<StoreSteps>& simulated) {
  const auto batch = static_cast<double>(strategy.global_batch);
  const Seconds read_all = batch * settings.sample / settings.rate_for(settings);
  InputUse use;
  use.read_share = read_share(settings, strategy, cluster);
  use.read = use.read_share * read_all;
  if (settings.cores) {
    use.prepare = Seconds(batch / strategy.ranks() / (*settings.cores * settings.samples_of_core));
  }
  const auto step_with = [&](Seconds read) {
    const Seconds input = max(read, use.prepare);
    return settings.prefetch > 0 ? max(iteration, input) : iteration + input;
  };
  Seconds step = step_with(use.read);
  use.first_epoch_step = step_with(read_all);
  if (simulated) {
    const auto simulated_step = [&](Seconds reading) {
      return max(step_with(Seconds(0.0)),
                 iteration + max(Seconds(0.0), reading - simulated->alone));
    };
    step = simulated_step(simulated->reading);
    use.first_epoch_step = simulated_step(simulated->first_epoch);
    if (settings.holds_checkpoints) {
      use.checkpoint_step = simulated_step(simulated->beside_checkpoint);
      use.checkpoint = simulated->checkpoint;
    }
  }
  use.stalled = step - iteration;
  use.epoch = settings.samples / batch * step;
  use.storage_rate = use.read_share * batch * settings.sample / step;
  return use;
}

InputUse input_use(const Scenario& scenario, const Strategy& strategy, Seconds iteration,
                   int jobs) {
  std::optional<StoreSteps> simulated;
  if (meets_others(*scenario.input)) simulated = store_steps(scenario, strategy, jobs);
  return input_use(*scenario.input, strategy, *scenario.cluster, iteration, simulated);
}

Seconds step_of_other(const InputSettings& settings, const InputUse& use, Seconds iteration,
                      Seconds other) {
  if (use.stalled == Seconds(0.0)) return other;
  return settings.prefetch > 0 ? max(other, iteration + use.stalled) : other + use.stalled;
}

}  // namespace headway

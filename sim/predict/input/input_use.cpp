#include "sim/predict/input/input_use.h"

#include <algorithm>

#include "sim/predict/input/page_cache.h"

namespace headway {

InputUse input_use(const InputSettings& settings, const Strategy& strategy, const Cluster& cluster,
                   Seconds iteration) {
  const int of_node = cluster.node_type.accelerators;
  const int nodes = (strategy.ranks() + of_node - 1) / of_node;
  const double cached = std::min(1.0, settings.cache / settings.data_set());
  const auto batch = static_cast<double>(strategy.global_batch);
  const Seconds read_all = batch * settings.sample / settings.storage;
  InputUse use;
  use.read_share = settings.scope == CacheScope::job
                       ? std::max(0.0, 1.0 - nodes * cached)
                       : read_share({.cached_share = cached, .part = 1.0 / nodes});
  use.read = use.read_share * read_all;
  if (settings.cores) {
    use.prepare = Seconds(batch / strategy.ranks() / (*settings.cores * settings.samples_of_core));
  }
  const Seconds step = max(iteration, max(use.read, use.prepare));
  use.stalled = step - iteration;
  use.first_epoch_step = max(iteration, max(read_all, use.prepare));
  use.epoch = settings.samples / batch * step;
  use.storage_rate = use.read_share * batch * settings.sample / step;
  return use;
}

}  // namespace headway

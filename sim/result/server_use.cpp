#include "sim/result/server_use.h"

#include <algorithm>

#include "sim/base/diagnostic.h"
#include "sim/result/spans.h"
#include "sim/result/workload_index.h"

namespace headway {

ServerUse server_use(const Workload& workload, const Timeline& timeline) {
  HEADWAY_CHECK(!workload.servers.empty(), "no server to tell of");
  ServerUse use;
  use.servers = std::ssize(workload.servers);
  use.workers = std::ssize(workload.groups);
  double computing = 0.0;
  for (std::int32_t group = 0; group < use.workers; ++group) {
    for (const Span& span : group_spans(workload, timeline, group)) {
      if (span.of == SpanOf::block) computing += span.end - span.begin;
    }
  }
  use.idle_share = 1.0 - computing / (static_cast<double>(use.workers) * timeline.finish);

  const auto hottest = std::ranges::max_element(timeline.served, {}, &Timeline::Served::busy);
  const auto number = static_cast<std::size_t>(hottest - timeline.served.begin());
  use.hottest = workload.servers[number].name;
  use.hottest_busy = hottest->busy / timeline.finish;
  std::int64_t dropped = 0;
  std::int64_t all = 0;
  for (const Timeline::Served& served : timeline.served) {
    dropped += served.dropped;
    all += served.dropped + served.taken;
  }
  if (all > 0) use.dropped_share = static_cast<double>(dropped) / static_cast<double>(all);

  if (timeline.updates.empty()) return use;
  const double one = 1.0 / static_cast<double>(timeline.updates.size());
  for (const Timeline::Update& update : timeline.updates) {
    const auto staleness = static_cast<std::size_t>(update.staleness);
    if (use.staleness.size() <= staleness) use.staleness.resize(staleness + 1, 0.0);
    use.staleness[staleness] += one;
    use.mean_staleness += one * update.staleness;
  }
  return use;
}

}  // namespace headway

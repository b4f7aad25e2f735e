#pragma once

#include <utility>

namespace headway {

/// What `run` returns, run again up to `most` times in all while other work took more than
/// `accepted` of its time (`contaminated` of the result); of several the one that was held up
/// least. Which one counts depends on what others did, never on the time that came out.
template <class Run>
[[nodiscard]] auto least_disturbed(int most, double accepted, Run run) {
  auto best = run();
  for (int i = 1; i < most && best.contaminated > accepted; ++i) {
    auto next = run();
    if (next.contaminated < best.contaminated) best = std::move(next);
  }
  return best;
}

}  // namespace headway

#include "sim/result/mean_timeline.h"

#include <cstddef>

namespace headway {
namespace {

class Mean {
 public:
  Mean(const std::vector<Timeline>& runs, const std::vector<double>& weights)
      : runs_(runs), weights_(weights) {}

  /// Of what `value` names in a timeline.
  template <class Value>
  [[nodiscard]] double of(const Value& value) const {
    double sum = 0.0;
    for (std::size_t i = 0; i < runs_.size(); ++i) sum += weights_[i] * value(runs_[i]);
    return sum;
  }

 private:
  const std::vector<Timeline>& runs_;
  const std::vector<double>& weights_;
};

}  // namespace

Timeline mean_timeline(const std::vector<Timeline>& runs, const std::vector<double>& weights) {
  const Mean mean(runs, weights);
  Timeline all = runs.front();
  all.finish = mean.of([](const Timeline& run) { return run.finish; });
  for (std::size_t i = 0; i < all.operation_end.size(); ++i) {
    all.operation_end[i] = mean.of([i](const Timeline& run) { return run.operation_end[i]; });
  }
  for (std::size_t i = 0; i < all.messages.size(); ++i) {
    all.messages[i].sent = mean.of([i](const Timeline& run) { return run.messages[i].sent; });
    all.messages[i].arrived = mean.of([i](const Timeline& run) { return run.messages[i].arrived; });
  }
  for (std::size_t i = 0; i < all.collectives.size(); ++i) {
    for (std::size_t k = 0; k < all.collectives[i].size(); ++k) {
      const auto at = [&](double Timeline::Collective::*moment) {
        return mean.of([&](const Timeline& run) { return run.collectives[i][k].*moment; });
      };
      Timeline::Collective& record = all.collectives[i][k];
      record.first_join = at(&Timeline::Collective::first_join);
      record.last_join = at(&Timeline::Collective::last_join);
      record.end = at(&Timeline::Collective::end);
    }
  }
  for (std::size_t i = 0; i < all.plan_bytes.size(); ++i) {
    all.plan_bytes[i] = mean.of([i](const Timeline& run) { return run.plan_bytes[i]; });
  }
  for (std::size_t i = 0; i < all.served.size(); ++i) {
    all.served[i].busy = mean.of([i](const Timeline& run) { return run.served[i].busy; });
  }
  return all;
}

}  // namespace headway

#include "calibrate/suite/concurrent_operation.h"

#include <algorithm>
#include <utility>

namespace headway {
namespace {

constexpr Seconds kLongest = 50.0_ms;

class ConcurrentOperation final : public Operation {
 public:
  ConcurrentOperation(std::unique_ptr<RepeatedWork> timed, std::unique_ptr<RepeatedWork> beside,
                      Rendezvous& rendezvous)
      : timed_(std::move(timed)), beside_(std::move(beside)), rendezvous_(rendezvous) {}

  Sample repeat() override {
    rendezvous_.barrier();
    beside_->launch(nullptr);
    timed_->launch(beside_.get());
    const Seconds mine = timed_->finish();
    const bool has_ended = beside_->has_ended();
    (void)beside_->finish();
    Sample sample{Seconds(most(mine.count())), most(has_ended ? 1.0 : 0.0) > 0.0};
    sample.besides = Seconds(most(beside_->expected_time().count()));
    if (sample.contaminated && sample.besides < kLongest) beside_->double_repetitions();
    return sample;
  }

 private:
  [[nodiscard]] double most(double mine) {
    const auto all = rendezvous_.all_gather(mine);
    return *std::max_element(all.begin(), all.end());
  }

  std::unique_ptr<RepeatedWork> timed_;
  std::unique_ptr<RepeatedWork> beside_;
  Rendezvous& rendezvous_;
};

}  // namespace

std::unique_ptr<Operation> concurrent_operation(std::unique_ptr<RepeatedWork> timed,
                                                std::unique_ptr<RepeatedWork> beside,
                                                Rendezvous& rendezvous) {
  return std::make_unique<ConcurrentOperation>(std::move(timed), std::move(beside), rendezvous);
}

}  // namespace headway

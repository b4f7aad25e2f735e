#include "calibrate/suite/agreed_operation.h"

#include <algorithm>
#include <utility>

namespace headway {
namespace {

/// Far above the tenths of a millisecond by which ranks leave a rendezvous apart.
constexpr double kSampleTime = 5e-3;
constexpr double kMostRepetitions = 200.0;

}  // namespace

AgreedOperation::AgreedOperation(Rendezvous& rendezvous, Run run)
    : rendezvous_(rendezvous), run_(std::move(run)) {
  (void)slowest();  // connections are made by the first one
  const double once = std::max(slowest(), 1e-7);
  repetitions_ = static_cast<int>(std::clamp(kSampleTime / once, 1.0, kMostRepetitions));
}

double AgreedOperation::slowest() {
  const double mine = run_ ? run_(repetitions_).count() : 0.0;
  const auto all = rendezvous_.all_gather(mine);
  return *std::max_element(all.begin(), all.end());
}

Sample AgreedOperation::repeat() { return {Seconds(slowest() / repetitions_), false}; }

}  // namespace headway

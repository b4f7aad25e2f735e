#pragma once

#include <functional>

#include "calibrate/suite/backend.h"
#include "calibrate/suite/rendezvous.h"

namespace headway {

/// A collective that ranks run together, as they agree over a rendezvous: all ranks construct and
/// repeat it, those that take no part too, and see the slowest one's time. A sample is a batch back
/// to back, as ranks leave the rendezvous at different times, which longer work makes up for.
class AgreedOperation final : public Operation {
 public:
  /// Runs a number of collectives back to back and returns the time of all of them; null on a rank
  /// that takes no part.
  using Run = std::function<Seconds(int repetitions)>;

  /// `rendezvous` outlives this object.
  AgreedOperation(Rendezvous& rendezvous, Run run);
  Sample repeat() override;
  [[nodiscard]] int repetitions() const { return repetitions_; }

 private:
  [[nodiscard]] double slowest();

  Rendezvous& rendezvous_;
  Run run_;
  int repetitions_ = 1;
};

}  // namespace headway

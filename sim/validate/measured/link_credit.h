#pragma once

#include "sim/base/units.h"

namespace headway {

/// A link of limited rate with a token bucket (tc-tbf(8)): what was not used of the rate is saved
/// up to `burst`, and passes at once. Full at first, as after a long pause.
class LinkCredit {
 public:
  LinkCredit(Bytes burst, BytesPerSecond rate) : burst_(burst), rate_(rate), saved_(burst) {}

  /// What the rate has to carry of a message; the next one will be ready `interval` after this one
  /// was, and waits for its end.
  [[nodiscard]] Bytes carried(Bytes message, Seconds interval) {
    const Bytes at_once = min(saved_, message);
    const Bytes rest = message - at_once;
    const Seconds idle = max(interval - rest / rate_, Seconds(0.0));
    saved_ = min(burst_, saved_ - at_once + rate_ * idle);
    return rest;
  }

 private:
  Bytes burst_;
  BytesPerSecond rate_;
  Bytes saved_;
};

}  // namespace headway

#include "sim/predict/reliability/checkpoint_cycle.h"

#include <algorithm>
#include <cmath>

namespace headway {

CheckpointCycle::CheckpointCycle(const CheckpointSettings& settings, Seconds interval)
    : cost_(settings.blocking.count()), persisting_(settings.persisting.count()) {
  if (settings.local && settings.local->interval < interval) {
    parts_ = std::max(1.0, std::round(interval / settings.local->interval));
    part_cost_ = settings.local->blocking.count();
  }
  part_ = interval.count() / parts_;
  length_ = parts_ * part_ + (parts_ - 1.0) * part_cost_ + cost_;
}

Stretch CheckpointCycle::after(double time) const {
  Stretch done;
  const double cycles = std::floor(time / length_);
  const double rest = time - cycles * length_;
  const double in_parts = std::min(std::floor(rest / (part_ + part_cost_)), parts_ - 1.0);
  const double in_part = rest - in_parts * (part_ + part_cost_);
  done.since_part = std::min(in_part, part_);
  done.trained = (cycles * parts_ + in_parts) * part_ + done.since_part;
  done.checkpointing = time - done.trained;
  done.safe = std::max(0.0, std::floor((time - persisting_) / length_)) * parts_ * part_;
  done.safe_locally = std::max(done.safe, (cycles * parts_ + in_parts) * part_);
  return done;
}

double CheckpointCycle::time_for(double trained) const {
  if (!std::isfinite(trained)) return trained;
  const double whole = std::max(0.0, std::ceil(trained / part_) - 1.0);  // parts ended before
  const double cycles = std::floor(whole / parts_);
  return trained + whole * part_cost_ + cycles * (cost_ - part_cost_);
}

}  // namespace headway

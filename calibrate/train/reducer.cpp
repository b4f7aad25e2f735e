#include "calibrate/train/reducer.h"

namespace headway {

Reducer::Reducer(Transport& group, bool overlap)
    : collectives_(group, group.size()), is_alone_(group.size() == 1) {
  if (overlap && !is_alone_) worker_.emplace();
}

void Reducer::reduce(std::span<float> gradient) {
  if (is_alone_) return;
  if (!worker_) return collectives_.ring_all_reduce(gradient);
  worker_->post([this, gradient] { collectives_.ring_all_reduce(gradient); });
}

void Reducer::finish() {
  if (worker_) worker_->finish();
}

}  // namespace headway

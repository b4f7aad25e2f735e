#pragma once

#include "calibrate/cpu/transport.h"

namespace headway {

/// Every `stride`-th rank of a transport as a group of its own, in which the calling rank takes
/// part. `all` outlives this object.
class StridedTransport final : public Transport {
 public:
  /// Requires that `stride` divides the number of ranks.
  StridedTransport(Transport& all, int stride)
      : all_(all), stride_(stride), first_(all.rank() % stride) {}
  [[nodiscard]] int rank() const override { return all_.rank() / stride_; }
  [[nodiscard]] int size() const override { return all_.size() / stride_; }
  void exchange(std::span<const std::byte> out, int to, std::span<std::byte> in,
                int from) override {
    all_.exchange(out, first_ + stride_ * to, in, first_ + stride_ * from);
  }

 private:
  Transport& all_;
  int stride_;
  int first_;
};

}  // namespace headway

#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "calibrate/cuda/enqueue.h"
#include "calibrate/suite/point.h"

namespace headway {

/// Fused attention on the current device, by cuDNN where the program was built with it (folder
/// cudnn/), else not at all (no_cudnn/).
class FusedAttention {
 public:
  /// Why there is none in this program; empty: there is.
  [[nodiscard]] static std::string lacks();
  /// The library's version; empty where there is none.
  [[nodiscard]] static std::string version();

  /// Operands are random, from `seed` on. Throws EnvironmentError where the library does not start.
  explicit FusedAttention(std::uint32_t seed);
  ~FusedAttention();
  /// A pass over operands that are not in the device's cache; its kernels are compiled once. Throws
  /// Refused saying why it cannot run here.
  [[nodiscard]] Enqueue work(const AttentionPoint& point);

 private:
  class Library;
  std::unique_ptr<Library> library_;
};

}  // namespace headway

#pragma once

#include <gtest/gtest.h>

#include "calibrate/cuda/cuda_backend.h"

namespace headway {

/// A suite that measures with one backend, which is a process alone.
class LoneBackend : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { backend_ = new CudaBackend(1, alone_, 0); }
  static void TearDownTestSuite() { delete backend_; }
  static inline SingleRendezvous alone_;
  static inline CudaBackend* backend_ = nullptr;
};

}  // namespace headway

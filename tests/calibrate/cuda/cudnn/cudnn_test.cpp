#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "calibrate/cuda/cudnn/attention_run.h"
#include "calibrate/cuda/cudnn/cudnn_check.h"
#include "tests/calibrate/cuda/cudnn/described_device.h"
#include "tests/calibrate/cuda/cudnn/small_attention.h"

namespace headway {
namespace {

using ::testing::HasSubstr;

AttentionGraph graph_of(const AttentionShape& shape, Pass pass) {
  return pass == Pass::forward ? attention_forward_graph(shape) : attention_backward_graph(shape);
}

std::string text(const AttentionShape& shape, Pass pass) {
  return point_text(AttentionPoint{shape, pass});
}

TEST(CudnnCheck, NamesTheCallAndTheError) {
  try {
    HEADWAY_CUDA(CUDNN_STATUS_NOT_SUPPORTED);
    FAIL() << "accepted";
  } catch (const EnvironmentError& error) {
    EXPECT_THAT(error.what(), HasSubstr("CUDNN_STATUS_NOT_SUPPORTED: CUDNN_STATUS_NOT_SUPPORTED"));
  }
}

TEST(CudnnDescriptor, NamesWhatADescriptionOfADeviceLacks) {
  try {
    (void)described_device("{}");
    FAIL() << "accepted";
  } catch (const EnvironmentError& error) {
    EXPECT_THAT(error.what(), HasSubstr("maxGridSize"));
  }
}

class AttentionPlan : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_driver_library()) {
      GTEST_SKIP() << "cuDNN compiles nothing without a library of the driver's interface";
    }
  }
};

/// cuDNN's own description of the graph has no place in it that does not fit, it finds kernels for
/// it, and these compile. What is left is to load them, which only a driver can.
TEST_F(AttentionPlan, IsCompiledForADeviceThatIsNotThere) {
  const CudnnDescriptor h100 = described_device(h100_text());
  const CudnnTarget target{.properties = &h100};
  for (const AttentionShape& one :
       {small_attention(32, 32, 4096, 128, true), small_attention(32, 8, 1024, 64, false)}) {
    for (const Pass pass : {Pass::forward, Pass::backward}) {
      AttentionGraph graph = graph_of(one, pass);
      EXPECT_FALSE(engine_choices(graph.operations.finished(nullptr), target).empty())
          << text(one, pass);
      try {
        const CudnnPlan plan(std::move(graph.operations), target);
      } catch (const EnvironmentError& error) {
        // Reached behind the compiler.
        EXPECT_THAT(error.what(), HasSubstr("CUDNN_STATUS_EXECUTION_FAILED_CUDA_DRIVER"))
            << text(one, pass);
      }
    }
  }
}

TEST_F(AttentionPlan, OfHeadsThatCudnnDoesNotFuseIsRefused) {
  const CudnnDescriptor h100 = described_device(h100_text());
  try {
    const CudnnPlan plan(attention_forward_graph(small_attention(4, 4, 256, 100, true)).operations,
                         CudnnTarget{.properties = &h100});
    FAIL() << "accepted";
  } catch (const EnvironmentError& error) {
    EXPECT_EQ(std::string(error.what()), "cuDNN has no kernel for it");
  }
}

}  // namespace
}  // namespace headway

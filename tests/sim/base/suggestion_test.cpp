#include "sim/base/suggestion.h"

#include <gtest/gtest.h>

namespace headway {
namespace {

const std::vector<std::string_view> kFields = {"nodes_per_rack", "tensor_parallel",
                                               "pipeline_parallel", "tp", "layers"};

TEST(Suggestion, FindsWhatWasMistyped) {
  EXPECT_EQ(closest("nodes_per_rak", kFields), "nodes_per_rack");
  EXPECT_EQ(closest("tensor_paralel", kFields), "tensor_parallel");
  EXPECT_EQ(closest("layesr", kFields), "layers");  // a swap is one edit
  EXPECT_EQ(closest("Layers", kFields), "layers");
}

TEST(Suggestion, SaysNothingRatherThanGuess) {
  EXPECT_EQ(closest("bandwidth", kFields), std::nullopt);
  EXPECT_EQ(closest("pp", kFields), std::nullopt);  // one edit, but half of the name
  EXPECT_EQ(closest("", kFields), std::nullopt);
  EXPECT_EQ(closest("layers", {}), std::nullopt);
  EXPECT_EQ(closest(std::string(1'000'000, 'a'), kFields), std::nullopt);
}

TEST(Suggestion, TakesTheFirstOfEquallyCloseOnes) {
  EXPECT_EQ(closest("modelx", {"models", "modela"}), "models");
}

}  // namespace
}  // namespace headway

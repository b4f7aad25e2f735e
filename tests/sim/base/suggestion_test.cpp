#include "sim/base/suggestion.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace headway {
namespace {

using testing::ElementsAre;

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
  EXPECT_EQ(closest("tq", kFields), std::nullopt);  // one edit, but half of the name
  EXPECT_EQ(closest("", kFields), std::nullopt);
  EXPECT_EQ(closest("layers", {}), std::nullopt);
  EXPECT_EQ(closest(std::string(1'000'000, 'a'), kFields), std::nullopt);
}

TEST(Suggestion, TakesTheFirstOfEquallyCloseOnes) {
  EXPECT_EQ(closest("modelx", {"models", "modela"}), "models");
}

TEST(Suggestion, KnowsNamesByTheirWords) {
  const std::vector<std::string_view> profiles = {"gb200", "b200_sxm", "h100_pcie", "h100_sxm"};
  EXPECT_THAT(alike("h100", profiles), ElementsAre("h100_pcie", "h100_sxm"));
  EXPECT_EQ(closest("h100", profiles), std::nullopt);  // either
  EXPECT_EQ(closest("B200", profiles), "b200_sxm");    // not gb200, though one edit off
  EXPECT_EQ(closest("100", profiles), std::nullopt);   // no word of any
  EXPECT_EQ(closest("hidden_size", {"ffn_hidden", "hidden", "size"}), "hidden");
  EXPECT_EQ(closest("num_layers", kFields), "layers");
  EXPECT_EQ(closest("rack", kFields), "nodes_per_rack");
  EXPECT_EQ(closest("a_very_long_name_of_layers", kFields), std::nullopt);
  EXPECT_EQ(meant_text("h100", profiles), "did you mean \"h100_pcie\" or \"h100_sxm\"?");
}

TEST(Suggestion, KnowsAbbreviations) {
  EXPECT_EQ(closest("pp", kFields), "pipeline_parallel");
  EXPECT_EQ(closest("NPR", kFields), "nodes_per_rack");
  // Of two it says both.
  EXPECT_THAT(alike("gb", {"global_batch", "gradient_bucket", "layers"}),
              ElementsAre("global_batch", "gradient_bucket"));
}

TEST(Suggestion, ManyWithAWordSayNothing) {
  std::vector<std::string_view> rails = {"rail/0", "rail/1", "rail/2", "rail/3",
                                         "rail/4", "rail/5", "rail/6"};
  EXPECT_TRUE(alike("rail", rails).empty());
  rails.pop_back();
  EXPECT_EQ(alike("rail", rails).size(), 6U);
}

}  // namespace
}  // namespace headway

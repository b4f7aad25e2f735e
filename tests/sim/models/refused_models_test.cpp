// Models that ship, changed in one place to what is no model, and what their author is told.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "model_reading.h"

namespace headway::testing {
namespace {

using ::testing::HasSubstr;

struct RefusedModel {
  std::string model;
  std::vector<std::string> settings;
  std::string told;
};

class RefusedModels : public ::testing::TestWithParam<RefusedModel> {};

TEST_P(RefusedModels, AreTold) {
  const ModelReading reading =
      read_scenario_model(R"({"model": ")" + GetParam().model + R"("})", GetParam().settings);
  EXPECT_FALSE(reading.read.has_value());
  EXPECT_THAT(reading.problems, HasSubstr(GetParam().told));
}

INSTANTIATE_TEST_SUITE_P(
    Patterns, RefusedModels,
    ::testing::Values(
        RefusedModel{"nemotron_h_8b",
                     {"/model/layer_pattern=M*"},
                     "a pattern has as many letters as the model has layers"},
        RefusedModel{"nemotron_h_8b",
                     {"/model/layers=4", "/model/layer_pattern=M*-E"},
                     "'E' are experts, and the model has none"},
        RefusedModel{
            "nemotron_h_8b", {"/model/layers=4", "/model/layer_pattern=M*-X"}, "'X' is no layer"},
        RefusedModel{"llama3_8b",
                     {"/model/layers=2", "/model/layer_pattern=M*"},
                     "'M' is a state space, and the model has none"},
        RefusedModel{"llama3_8b",
                     {"/model/layers=2", "/model/layer_pattern=D-"},
                     "'D' is a delta net, and the model has none"},
        RefusedModel{"llama3_8b",
                     {"/model/layers=2", "/model/layer_pattern=C-"},
                     "'C' is a short convolution, and the model has none"},
        RefusedModel{"llama3_8b",
                     {"/model/layers=2", "/model/layer_pattern=S-"},
                     "'S' is a selective scan, and the model has none"},
        RefusedModel{"qwen3_next_80b",
                     {"/model/layers=2", "/model/layer_pattern=DE"},
                     "a full_attention_interval does so where there is none"},
        RefusedModel{"nemotron_h_8b",
                     {"/model/sliding_window={\"size\": 128}"},
                     "a pattern says all of the order of layers"},
        RefusedModel{"nemotron3_nano_30b",
                     {"/model/layers=3", "/model/layer_pattern=M*-", "/model/parameters=null"},
                     "no layer would have experts"},
        RefusedModel{"nemotron3_nano_30b",
                     {"/model/mixture_of_experts/interval=2"},
                     "a pattern says which layers have experts"}));

INSTANTIATE_TEST_SUITE_P(
    Encoders, RefusedModels,
    ::testing::Values(RefusedModel{"bert_base",
                                   {"/model/full_attention_interval=3"},
                                   "without a window all layers attend to the whole sequence"},
                      RefusedModel{"t5_base",
                                   {"/model/dropout=true"},
                                   "dropout of a T5 that tells distances is not counted"}));

INSTANTIATE_TEST_SUITE_P(
    Mixers, RefusedModels,
    ::testing::Values(
        RefusedModel{"nemotron_h_8b",
                     {"/model/layers=1", "/model/layer_pattern=-"},
                     "no layer would have a state space"},
        RefusedModel{"nemotron_h_8b", {"/model/state_space/heads=100"}, "8 does not divide 100"},
        RefusedModel{"dlrm_dcnv2",
                     {"/model/interaction=dot", "/model/cross_rank=8"},
                     "cross_rank needs interaction \"cross\""},
        RefusedModel{
            "llama3_8b", {"/model/dropout=true"}, "dropout needs position_encoding \"learned\""},
        RefusedModel{"llama3_8b",
                     {"/model/short_convolution={}"},
                     "no layer would have a short convolution"},
        RefusedModel{
            "nemotron_h_8b",
            {R"(/model/selective_scan={"channels": 8192, "state_size": 16, "step_rank": 256})"},
            "no layer would have a selective scan"},
        RefusedModel{"nemotron_h_8b",
                     {R"(/model/delta_net={"key_heads": 2, "key_head_size": 4})"},
                     "no layer would have a delta net"},
        RefusedModel{"qwen3_next_80b",
                     {"/model/delta_net/value_heads=40"},
                     "its heads must be a multiple of those that share"},
        RefusedModel{"deepseek_v3.2",
                     {"/model/latent_attention/query_rank=0"},
                     "sparse attention needs latent attention"},
        RefusedModel{
            "deepseek_v3", {"/model/attention_gate=true"}, "latent attention has no gate"}));

INSTANTIATE_TEST_SUITE_P(
    Images, RefusedModels,
    ::testing::Values(
        RefusedModel{"resnet_50", {"/model/blocks=[]"}, "one stage of blocks at least"},
        RefusedModel{"vgg_16", {"/model/convolutions=[]"}, "one stage of convolutions at least"},
        RefusedModel{"unet3d", {"/model/widths=[]"}, "a U-Net has one level at least"},
        RefusedModel{"unet3d",
                     {"/model/volume_size=100", "/model/widths=[32, 64, 128, 256]"},
                     "each level but the first halves the volume"}));

}  // namespace
}  // namespace headway::testing

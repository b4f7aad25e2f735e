#include "sim/models/convnext.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "sim/layers/flops.h"
#include "sim/layers/kept_tensors.h"
#include "sim/layers/parameters.h"
#include "sim/layers/work.h"
#include "tests/sim/models/library_models.h"
#include "tests/sim/models/model_reading.h"

namespace headway {
namespace {

using testing::expect_parameters;
using testing::read_model_text;

ConvNextModel tiny_convnext() { return {}; }

/// Patches of 3 x 4^2 and biases, a norm; of each block a filter of 49 and a bias, a norm, two
/// products of 4 c^2 with biases and gains; between stages a norm and 4 products; a norm and 1,000
/// classes. torchvision.models.convnext_tiny, _small, _base and _large.
TEST(ConvNext, HasThePublishedParameters) {
  const auto block = [](std::int64_t c) { return 8 * c * c + (49 + 1 + 2 + 4 + 1 + 1) * c; };
  std::int64_t by_hand = 48 * 96 + 96 + 2 * 96 + 2 * 768 + 769 * 1000;
  const ConvNextModel tiny = tiny_convnext();
  for (std::size_t i = 0; i < 4; ++i) {
    const std::int64_t c = tiny.widths[i];
    by_hand += tiny.depths[i] * block(c);
    if (i > 0) by_hand += 2 * (c / 2) + 4 * (c / 2) * c + c;
  }
  EXPECT_EQ(by_hand, 28'589'128);
  EXPECT_EQ(parameter_count(layers_of(tiny)), 28'589'128);
  const auto count = [](std::int64_t third, std::int64_t width) {
    ConvNextModel model;
    model.depths = {3, 3, third, 3};
    model.widths = {width, 2 * width, 4 * width, 8 * width};
    return parameter_count(layers_of(model));
  };
  EXPECT_EQ(count(27, 96), 50'223'688);
  EXPECT_EQ(count(27, 128), 88'591'464);
  EXPECT_EQ(count(27, 192), 197'767'336);
}

/// torchvision: 4.46 and 34.36 GMAC of an image.
TEST(ConvNext, WorksAsMuchAsPublished) {
  const auto giga = [](const ConvNextModel& fields) {
    return forward_flops(layers_of(fields), 1).total().count() / 2e9;
  };
  EXPECT_NEAR(giga(tiny_convnext()), 4.46, 0.005);
  ConvNextModel large;
  large.depths = {3, 3, 27, 3};
  large.widths = {192, 384, 768, 1536};
  EXPECT_NEAR(giga(large), 34.36, 0.005);
}

/// Of 56 x 56 positions of 96 channels a filter of one channel of 49, an MLP of four times the
/// channels; the second stage has a quarter of the positions.
TEST(ConvNext, BlocksFilterChannelsAloneAndPositionsAlone) {
  const Model model = layers_of(tiny_convnext());
  ASSERT_EQ(model.layer_count(), 18 + 3);
  const RankShape two{.micro_batch = 2.0};
  const Work first = work(model.layer(0), two);
  ASSERT_EQ(first.linears.size(), 3U);
  EXPECT_EQ(first.linears[0].forward, (GemmShape{2.0 * 56 * 56, 96, 49}));
  EXPECT_EQ(first.linears[0].reuse, 49.0);
  EXPECT_EQ(first.linears[1].forward, (GemmShape{2.0 * 56 * 56, 384, 96}));
  EXPECT_EQ(first.linears[2].forward, (GemmShape{2.0 * 56 * 56, 96, 384}));
  EXPECT_EQ(work(model.layer(3), two).linears[0].forward, (GemmShape{2.0 * 28 * 28, 192, 4 * 96}));
  EXPECT_EQ(work(model.layer(4), two).linears[0].forward, (GemmShape{2.0 * 28 * 28, 192, 49}));
  EXPECT_FALSE(work(model.first, two).linears[0].input_gradient);
  EXPECT_DOUBLE_EQ(model.first.output, 56.0 * 56 * 96);
  EXPECT_DOUBLE_EQ(model.layer(3).output, 28.0 * 28 * 192);
  EXPECT_DOUBLE_EQ(model.last.input, 7.0 * 7 * 768);
  EXPECT_EQ(model.left_out.size(), 1U);
  // What the filter, the norm, both products, the activation and the gains take.
  EXPECT_DOUBLE_EQ(kept_bytes(model.layer(0), {}).count(), 2.0 * 56 * 56 * 96 * (4 + 2 * 4));
  EXPECT_DOUBLE_EQ(kept_bytes(model.layer(3), {}).count(), 2.0 * 2 * 56 * 56 * 96);
  // Pixels, in 4 bytes and in 2; patches in front of their norm.
  EXPECT_DOUBLE_EQ(kept_bytes(model.first, {}).count(), 6.0 * 3 * 224 * 224 + 2.0 * 56 * 56 * 96);
  EXPECT_DOUBLE_EQ(kept_bytes(model.last, {}).count(), 2.0 * 2 * 768);
  // The filter's inputs but for one channel; copies, norm, MLP's activation, gains and sum.
  double moved = 0.0;
  for (const PassWork& pass : first.passes) moved += pass.forward.count();
  EXPECT_DOUBLE_EQ(moved, 2.0 * 56 * 56 * (2.0 * 95 + 96 * (4 + 4 + 4 * 4 + 4 + 6)));
}

nlohmann::json convnext_config(const char* type) {
  nlohmann::json labels;
  for (int i = 0; i < 1000; ++i) labels[std::to_string(i)] = "a thing";
  return {{"model_type", type},      {"hidden_sizes", {128, 256, 512, 1024}},
          {"depths", {3, 3, 27, 3}}, {"num_stages", 4},
          {"patch_size", 4},         {"image_size", 224},
          {"num_channels", 3},       {"drop_path_rate", 0.0},
          {"id2label", labels}};
}

/// Woo et al. 2023, table 13: 28.6 M and 89 M. Instead of gains of c channels two of 4 c.
TEST(ConvNext, ConfigurationsAreRead) {
  expect_parameters(convnext_config("convnext").dump(), 88'591'464);
  const std::int64_t channels = 3 * 128 + 3 * 256 + 27 * 512 + 3 * 1024;
  expect_parameters(convnext_config("convnextv2").dump(), 88'591'464 + 7 * channels);
  expect_parameters(R"({"model_type": "convnext"})", 28'589'128);
  const std::int64_t of_tiny = 3 * 96 + 3 * 192 + 9 * 384 + 3 * 768;
  EXPECT_EQ(28'589'128 + 7 * of_tiny, 28'635'496);
  expect_parameters(R"({"model_type": "convnextv2"})", 28'635'496);
  nlohmann::json without = convnext_config("convnext");
  without["layer_scale_init_value"] = 0.0;
  expect_parameters(without.dump(), 88'591'464 - channels);
}

/// In a block of the first stage a tensor of 4 c more is kept, and read twice and written.
TEST(ConvNext, ResponseNormsMoveAndKeepWhatTheyTake) {
  ConvNextModel with = tiny_convnext();
  with.response_norms = true;
  const Model normed = layers_of(with);
  const Model plain = layers_of(tiny_convnext());
  const double wide = 56.0 * 56 * 4 * 96;
  EXPECT_DOUBLE_EQ((kept_bytes(normed.layer(0), {}) - kept_bytes(plain.layer(0), {})).count(),
                   2.0 * wide);
  const auto moved = [](const Model& model) {
    double forward = 0.0;
    for (const PassWork& pass : work(model.layer(0), {}).passes) forward += pass.forward.count();
    return forward;
  };
  EXPECT_DOUBLE_EQ(moved(normed) - moved(plain), 6.0 * wide);
}

TEST(ConvNext, WhatDoesNotGoTogetherIsTold) {
  const auto told = [](const nlohmann::json& config, const char* what) {
    const std::string problems = read_model_text(config.dump()).problems;
    EXPECT_NE(problems.find(what), std::string::npos) << problems;
  };
  nlohmann::json config = convnext_config("convnext");
  config["hidden_sizes"] = {128, 256};
  told(config, "2 of 4 stages");
  config = convnext_config("convnext");
  config["hidden_sizes"] = {128, 256, 512, 0};
  told(config, "hidden_sizes");
  config = convnext_config("convnext");
  config["num_channels"] = 1;
  told(config, "images are in other than three colours");
  config = convnext_config("convnext");
  config["num_foo_layers"] = 1;
  told(config, "\"num_foo_layers\" is not read");
  config = {{"schema", "headway/model/1"}, {"family", "convnext"}, {"width", {1}}};
  told(config, R"(missing field "depths")");
  told(config, R"(did you mean "widths"?)");
}

}  // namespace
}  // namespace headway

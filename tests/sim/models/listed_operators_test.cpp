#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/layers/flops.h"
#include "sim/layers/kept_tensors.h"
#include "sim/layers/parameters.h"
#include "tests/sim/models/model_reading.h"

namespace headway {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using testing::read_model_text;

/// Of a list of these layers, and what else the model says.
Model listed(const std::string& layers, const std::string& more = "") {
  const auto reading = read_model_text(
      fmt::format(R"({{"schema": "headway/model/1", {} "layers": [{}]}})", more, layers));
  EXPECT_EQ(reading.problems, "") << layers;
  return reading.read ? reading.read->model : Model();
}

std::string problems(const std::string& layers, const std::string& more = "") {
  return read_model_text(
             fmt::format(R"({{"schema": "headway/model/1", {} "layers": [{}]}})", more, layers))
      .problems;
}

Model of_family(const std::string& fields) {
  const auto reading = read_model_text(R"({"schema": "headway/model/1", )" + fields + "}");
  EXPECT_EQ(reading.problems, "") << fields;
  return reading.read ? reading.read->model : Model();
}

double operations(const Model& model) { return forward_flops(model, 1).total().count(); }

double kept(const Model& model) {
  double bytes = kept_bytes(model.last, {}).count();
  for (int i = 0; i < model.layer_count(); ++i) bytes += kept_bytes(model.layer(i), {}).count();
  return bytes;
}

/// Bytes of passes, forward and backward.
double moved(const Model& model, bool is_merged = false) {
  const RankShape shape{.fused_normalization = is_merged};
  double bytes = 0.0;
  for (int i = 0; i < model.layer_count(); ++i) {
    for (const MemoryPass& pass : model.layer(i).passes) {
      if (shape.holds(pass.when)) bytes += pass.forward + pass.backward;
    }
  }
  return bytes;
}

std::string convolved(int channels, int kernel, int stride, bool beside = false) {
  return fmt::format(
      R"({{"kind": "convolution", "channels": {}, "kernel": {}, "stride": {}, "bias": false{}}},
         {{"kind": "normalization", "norm": "batch"}})",
      channels, kernel, stride, beside ? R"(, "beside": true)" : "");
}

constexpr const char* kRectified = R"({"kind": "activation"})";

/// A bottleneck block of ResNet (He et al. 2016, table 1); the first of a stage has a convolution
/// in its shortcut.
std::string bottleneck(int width, int stride, bool is_first, int repeat) {
  return fmt::format(
      R"({{"repeat": {}, "operators": [{}, {}, {}, {}, {}{}, {{"kind": "sum"}}, {}]}})", repeat,
      convolved(width, 1, 1), kRectified, convolved(width, 3, stride), kRectified,
      convolved(4 * width, 1, 1), is_first ? ", " + convolved(4 * width, 1, stride, true) : "",
      kRectified);
}

TEST(ListedOperators, MakeAResNetThatIsTheFamilys) {
  std::string layers = fmt::format(
      R"({{"operators": [{{"kind": "convolution", "in": [3, 224, 224], "channels": 64, "kernel": 7,
          "stride": 2, "bias": false, "out": [64, 112, 112]}},
          {{"kind": "normalization", "norm": "batch"}}, {},
          {{"kind": "pooling", "kernel": 3, "stride": 2, "padding": 1, "out": [64, 56, 56]}}]}})",
      kRectified);
  int width = 64;
  for (const int blocks : {3, 4, 6, 3}) {
    layers += ", " + bottleneck(width, width == 64 ? 1 : 2, true, 1);
    layers += ", " + bottleneck(width, 1, false, blocks - 1);
    width *= 2;
  }
  layers += R"(, {"kind": "pooling", "out": [2048]}, {"kind": "linear", "outputs": 1000})";
  const Model model = listed(layers, R"("loss_classes": 1000,)");
  EXPECT_EQ(parameter_count(model), 25'557'032);
  EXPECT_NEAR(operations(model) / 2.0, 4.089e9, 1e6);
  EXPECT_DOUBLE_EQ(operations(model), operations(of_family(R"("family": "resnet")")));
}

TEST(ListedOperators, MakeAnLstmThatIsTheFamilys) {
  const Model model = listed(R"({"kind": "embedding", "rows": 33278, "width": 200},
      {"kind": "recurrent", "hidden": 200, "repeat": 2}, {"kind": "linear", "outputs": 33278})",
                             R"("sequence_length": 35, "loss_classes": 33278,)");
  const Model family = of_family(R"("family": "lstm")");
  EXPECT_EQ(parameter_count(model), parameter_count(family));
  EXPECT_DOUBLE_EQ(forward_flops(model, 35).total().count(),
                   forward_flops(family, 35).total().count());
  EXPECT_EQ(kept_bytes(model.layer(1), {}), kept_bytes(family.layer(0), {}));
  EXPECT_TRUE(model.layer(1).products[1].in_turns);
  EXPECT_DOUBLE_EQ(model.layer(1).launches.forward, family.layer(0).launches.forward);
}

// What is given as products is launched like what operators make: each by a call that takes 0.6 of
// a transformer's kernel; each of 35 positions has a product and a kernel of gates, 8 of 63 us.
TEST(ListedOperators, ProductsInTurnsAreLaunchedForEachPosition) {
  const Model model = listed(R"({"name": "cells", "products": [
      {"name": "inputs", "outputs": 800, "inputs": 200},
      {"name": "states", "outputs": 800, "inputs": 200, "in_turns": true}]})",
                             R"("sequence_length": 35,)");
  EXPECT_DOUBLE_EQ(model.layer(0).launches.forward, 0.6 * 2.0 + 35.0 * 2.0 * 8.0 / 63.0);
  EXPECT_DOUBLE_EQ(model.layer(0).launches.backward, 0.6 * 4.0 + 35.0 * 2.0 * 8.0 / 63.0);
}

// 81 rows of 451 inputs that filters of 41 x 11 read again and again, two steps apart either way.
TEST(ListedOperators, ProductsSayHowOftenTheyReadAnInput) {
  const auto at_work = [](const std::string& reuse) {
    const Model model = listed(R"({"name": "convolution", "products": [
        {"rows": 81, "outputs": 32, "inputs": 451)" +
                               reuse + "}]}");
    return gradients_at_work(model.layer(0), {}) - input_bytes(model.layer(0), {});
  };
  EXPECT_DOUBLE_EQ(at_work("").count(), 81.0 * 2.0 * (451.0 + 32.0));
  EXPECT_DOUBLE_EQ(at_work(R"(, "reuse": 112.75)").count(), 81.0 * 2.0 * (4.0 + 32.0));
}

TEST(ListedOperators, MakeARecommendationModelThatIsTheFamilys) {
  const Model model = listed(R"(
      {"kind": "linear", "in": [13], "outputs": 512}, {"kind": "activation"},
      {"kind": "linear", "outputs": 256}, {"kind": "activation"},
      {"kind": "linear", "outputs": 128}, {"kind": "activation"},
      {"kind": "embedding_bag", "table_rows": [1000, 20, 7], "width": 128, "out": [4, 128]},
      {"kind": "interaction", "out": [134]}, {"kind": "linear", "outputs": 64},
      {"kind": "activation"}, {"kind": "linear", "outputs": 1})",
                             R"("loss_classes": 1,)");
  const Model family = of_family(R"("family": "dlrm", "table_rows": [1000, 20, 7],
                                    "top_mlp": [64, 1])");
  EXPECT_EQ(parameter_count(model), parameter_count(family));
  EXPECT_DOUBLE_EQ(operations(model), operations(family));
  EXPECT_TRUE(model.has_tables());
}

TEST(ListedOperators, AttentionHasWhatATransformerLayerHas) {
  const Model model = listed(R"({"kind": "attention", "in": [128, 64], "heads": 4, "kv_heads": 2,
      "causal": false})",
                             R"("sequence_length": 128,)");
  // Queries 64 x 64, keys and values 64 x 32 each, the projection 64 x 64; biases of all.
  EXPECT_EQ(parameter_count(model), 64 * 64 + 2 * 64 * 32 + 64 * 64 + 64 + 2 * 32 + 64);
  // 2 operations a weight and position, and scores and their sum over 128 positions of 64 channels.
  EXPECT_DOUBLE_EQ(forward_flops(model, 128).total().count(),
                   2.0 * (64 * 64 + 2 * 64 * 32 + 64 * 64) + 2.0 * 2.0 * 128 * 64);
  EXPECT_FALSE(model.layer(0).attention->causal);
}

TEST(ListedOperators, AttentionGoesToAnotherSequence) {
  const Model model = listed(R"({"kind": "attention", "in": [128, 64], "heads": 4, "cross": 32})",
                             R"("sequence_length": 128,)");
  EXPECT_EQ(parameter_count(model), 4 * (64 * 64 + 64));
  // Keys and values are made of a quarter as many positions, to all of which each goes.
  EXPECT_DOUBLE_EQ(forward_flops(model, 128).total().count(),
                   2.0 * (64 * 64 + 2 * 64 * 64 / 4 + 64 * 64) + 2.0 * 2.0 * 32 * 64);
}

TEST(ListedOperators, AStateSpaceHasWhatMamba2Has) {
  const Model model = listed(R"({"kind": "state_space", "in": [256, 64], "heads": 8,
      "head_size": 16, "state_size": 32})",
                             R"("sequence_length": 256,)");
  // Gate and inputs 128 each, 2 x 32 into and out of the state, 8 steps; outward 128 x 64; a filter
  // of 4 and a bias for each of 192 channels; 3 numbers a head; a norm.
  EXPECT_EQ(parameter_count(model), 64 * (128 + 192 + 8) + 128 * 64 + 192 * 5 + 3 * 8 + 128);
}

TEST(ListedOperators, RecurrentLayersHaveTheGatesOfTheirCells) {
  const std::string tokens = R"("sequence_length": 10,)";
  const auto count = [&](const char* cell, const char* more = "") {
    return parameter_count(
        listed(fmt::format(R"({{"kind": "recurrent", "in": [10, 6], "hidden": 5, "cell": "{}"{}}})",
                           cell, more),
               tokens));
  };
  // PyTorch: gates of inputs and of states, a bias of each.
  EXPECT_EQ(count("lstm"), 4 * (5 * 6 + 5 * 5 + 2 * 5));
  EXPECT_EQ(count("gru"), 3 * (5 * 6 + 5 * 5 + 2 * 5));
  EXPECT_EQ(count("plain"), 5 * 6 + 5 * 5 + 2 * 5);
  EXPECT_EQ(count("gru", R"(, "bidirectional": true, "out": [10, 10])"),
            2 * 3 * (5 * 6 + 5 * 5 + 2 * 5));
}

TEST(ListedOperators, ConvolutionsHaveTheirShapes) {
  // Three dimensions, a kernel that is not a cube; bias as PyTorch has it.
  const Model volume = listed(R"({"kind": "convolution", "in": [2, 8, 16, 16], "channels": 4,
      "kernel": [1, 3, 3], "stride": [1, 2, 2], "out": [4, 8, 8, 8]})");
  EXPECT_EQ(parameter_count(volume), 4 * 2 * 9 + 4);
  EXPECT_DOUBLE_EQ(operations(volume), 2.0 * 4 * 2 * 9 * 8 * 8 * 8);
  // Depthwise: each channel sees itself. What 31 of 32 channels read moves beside the product.
  const Model depthwise = listed(R"({"kind": "convolution", "in": [32, 10, 10], "channels": 32,
      "kernel": 3, "groups": 32, "bias": false, "out": [32, 10, 10]})");
  EXPECT_EQ(parameter_count(depthwise), 32 * 9);
  EXPECT_DOUBLE_EQ(operations(depthwise), 2.0 * 32 * 9 * 100);
  EXPECT_DOUBLE_EQ(depthwise.layer(0).passes.front().forward, 2.0 * 31 * 100);
  EXPECT_DOUBLE_EQ(depthwise.layer(0).launches.forward, 0.6);
  // Transposed: (5 - 1) 2 - 2 + 4 = 10; each of 25 positions is multiplied with all taps.
  const Model larger = listed(R"({"kind": "transposed_convolution", "in": [6, 5, 5],
      "channels": 3, "kernel": 4, "stride": 2, "padding": 1, "out": [3, 10, 10]})");
  EXPECT_EQ(parameter_count(larger), 6 * 3 * 16 + 3);
  EXPECT_DOUBLE_EQ(operations(larger), 2.0 * 25 * 6 * 3 * 16);
}

TEST(ListedOperators, ATensorIsKeptOnceThoughTwoOperatorsWantIt) {
  // The rectifier's output is the second matrix's input: 10 and 20 elements of 2 bytes.
  const std::string first =
      R"({"kind": "linear", "in": [10], "outputs": 20}, {"kind": "activation"})";
  EXPECT_DOUBLE_EQ(kept(listed(first + R"(, {"kind": "linear", "outputs": 5})")), 2.0 * (10 + 20));
  // Nobody behind it: its own.
  EXPECT_DOUBLE_EQ(kept(listed(first)), 2.0 * (10 + 20));
  // A sum makes another tensor, which the matrix keeps besides.
  EXPECT_DOUBLE_EQ(kept(listed(first + R"(, {"kind": "sum"}, {"kind": "linear", "outputs": 5})")),
                   2.0 * (10 + 20 + 20));
  // A function that wants its input keeps that.
  EXPECT_DOUBLE_EQ(kept(listed(R"({"kind": "linear", "in": [10], "outputs": 20},
                               {"kind": "activation", "function": "gelu"})")),
                   2.0 * (10 + 20));
  // Of three alike each rectifier's output is the next one's input, and the last one's is its own.
  EXPECT_DOUBLE_EQ(kept(listed(R"({"repeat": 3, "operators": [
      {"kind": "linear", "in": [8], "outputs": 8}, {"kind": "activation"}]})")),
                   2.0 * 8 * (3 + 1));
  // Each of three that begin with a sum keeps its own.
  EXPECT_DOUBLE_EQ(kept(listed(R"({"repeat": 3, "operators": [
      {"kind": "sum", "in": [8]}, {"kind": "activation"}]})")),
                   2.0 * 8 * 3);
}

TEST(ListedOperators, PassesMoveWhatTheyReadAndWrite) {
  // Of 100 elements of 2 bytes: a batch norm 3 and 5, another 2 and 3, a sum 3 and 3.
  const auto bytes = [](const char* one) {
    return moved(listed(fmt::format(R"({{"in": [4, 5, 5], {}}})", one)));
  };
  EXPECT_DOUBLE_EQ(bytes(R"("kind": "normalization", "norm": "batch")"), 200.0 * 8);
  EXPECT_DOUBLE_EQ(bytes(R"("kind": "normalization", "norm": "layer")"), 200.0 * 5);
  EXPECT_DOUBLE_EQ(bytes(R"("kind": "activation")"), 200.0 * 5);
  EXPECT_DOUBLE_EQ(bytes(R"("kind": "sum")"), 200.0 * 6);
  EXPECT_DOUBLE_EQ(bytes(R"("kind": "pooling")"), 2.0 * 2 * (100 + 4));
}

TEST(ListedOperators, ABatchNormTakesASumAndARectifierAlongWhereNormsAreMerged) {
  // Of 100 elements of 2 bytes: the norm 2 and 5, the sum one and two more, the rectifier a bit
  // written and read twice. Behind something else, and another function, each has its own kernel.
  const auto bytes = [](const char* behind) {
    return moved(listed(fmt::format(R"({{"operators": [
        {{"kind": "normalization", "norm": "batch", "in": [4, 5, 5]}}, {}]}})",
                                    behind)),
                 true);
  };
  const char* const rectified = R"({"kind": "activation"})";
  const char* const summed = R"({"kind": "sum"}, {"kind": "activation"})";
  const char* const other = R"({"kind": "activation", "function": "gelu"})";
  const char* const pooled = R"({"kind": "pooling", "kernel": 1}, {"kind": "activation"})";
  EXPECT_DOUBLE_EQ(bytes(rectified), 200.0 * 7 + 3 * 100 / 8.0);
  EXPECT_DOUBLE_EQ(bytes(summed), 200.0 * (7 + 3) + 3 * 100 / 8.0);
  EXPECT_DOUBLE_EQ(bytes(other), 200.0 * (7 + 5));
  EXPECT_DOUBLE_EQ(bytes(pooled), 200.0 * (7 + 4 + 5));
}

TEST(ListedOperators, OfSequencesALayerIsATokensShare) {
  // A picture of 8 x 8 in patches of 4 x 4: 4 tokens of 6 channels.
  const Model model = listed(R"({"kind": "convolution", "in": [3, 8, 8], "channels": 6, "kernel": 4,
      "stride": 4, "padding": 0})",
                             R"("sequence_length": 4,)");
  EXPECT_DOUBLE_EQ(model.layer(0).products.front().rows_each, 1.0);
  EXPECT_DOUBLE_EQ(model.layer(0).output, 6.0);
  EXPECT_EQ(kept_bytes(model.layer(0), {}), Bytes(2.0 * 3 * 8 * 8 / 4));
}

TEST(ListedOperators, WhatElseIsWrongWithOneThatDoesNotFitIsSaidAtOnce) {
  // Nothing says what comes in, so nothing is known of what the second one takes either: told once.
  const std::string found =
      problems(R"({"kind": "linear"}, {"kind": "pooling", "kernel": 0, "size": 2})");
  EXPECT_THAT(found, HasSubstr("nothing says what comes into \"linear\""));
  EXPECT_THAT(found, HasSubstr("missing field \"outputs\""));
  EXPECT_THAT(found, HasSubstr("kernel must be"));
  EXPECT_THAT(found, HasSubstr("unknown field \"size\""));
  EXPECT_THAT(found, Not(HasSubstr("\"pooling\" takes")));
  EXPECT_THAT(found, Not(HasSubstr("unknown field \"kernel\"")));
  // What comes in is said again.
  EXPECT_THAT(
      problems(R"({"kind": "linear", "outputs": 4}, {"kind": "pooling", "in": [4], "kernel": 2})"),
      HasSubstr("\"pooling\" takes"));
}

TEST(ListedOperators, WhatIsNoLayerIsSaidOnce) {
  // Nothing is known of what it would give, so the next one is not blamed for it; a first one that
  // is none leaves the list a list.
  for (const char* layers :
       {R"({"kind": "linear", "in": [4], "outputs": 3}, 13, {"kind": "linear", "outputs": 2})",
        R"(13, {"kind": "linear", "outputs": 2})"}) {
    const std::string found = problems(layers);
    EXPECT_THAT(found, HasSubstr("of \"layers\" must be an object"));
    EXPECT_EQ(found.find("error:"), found.rfind("error:")) << found;
  }
}

TEST(ListedOperators, WhatDoesNotFitIsSaidWhereItStands) {
  const std::string image = R"("in": [3, 8, 8])";
  const auto expect = [&](const std::string& layers, const char* said, const char* more = "") {
    EXPECT_THAT(problems(layers, more), HasSubstr(said)) << layers;
  };
  expect(R"({"kind": "convolutoin"})", R"(did you mean "convolution"?)");
  expect(R"({"kind": "convolution", "channels": 4, "kernel": 3})",
         R"(say what comes in: "in": [3, 224, 224])");
  expect(R"({"kind": "convolution", "in": [3], "channels": 4, "kernel": 3})",
         R"("convolution" takes [channels, height, width])");
  expect("{\"kind\": \"convolution\", " + image + R"(, "channels": 4, "kernel": [3, 3, 3]})",
         R"("kernel" has a number for each dimension)");
  expect("{\"kind\": \"convolution\", " + image + R"(, "channels": 4, "kernel": 9, "padding": 0})",
         "nothing comes out of [3, 8, 8]");
  expect("{\"kind\": \"convolution\", " + image + R"(, "channels": 4, "kernel": 3, "groups": 2})",
         "groups divide the channels");
  expect("{\"kind\": \"pooling\", " + image + R"(, "kernel": 2, "out": [3, 3, 3]})",
         "[3, 4, 4], not [3, 3, 3]");
  expect("{\"kind\": \"pooling\", " + image + R"(, "kernel": 2}, {"kind": "sum", "in": [3, 8, 8]})",
         "what comes in is what the operator before gives");
  expect("{\"kind\": \"pooling\", \"repeat\": 2, " + image + R"(, "kernel": 2})",
         "a layer that is repeated gives what it takes");
  expect("{\"kind\": \"linear\", " + image + R"(, "outputs": 4, "output": "1 KB"})",
         R"(unknown field "output")");
  expect(R"({"kind": "recurrent", "in": [10, 4], "hidden": 4})", "looks along a sequence");
  expect(R"({"kind": "recurrent", "in": [10, 4], "hidden": 4})",
         R"(positions are the 12 of "sequence_length")", R"("sequence_length": 12,)");
  expect(R"({"kind": "attention", "in": [10, 4], "heads": 3})", "heads divide what comes in",
         R"("sequence_length": 10,)");
  expect(R"({"kind": "attention", "in": [10, 4], "heads": 2, "cross": 5, "causal": true})",
         "none of the past or the future", R"("sequence_length": 10,)");
  expect(R"({"kind": "embedding_bag", "table_rows": [4], "width": 2})", "is not for sequences",
         R"("sequence_length": 10,)");
  expect(R"({"kind": "embedding_bag", "in": [3], "table_rows": [4], "width": 2})",
         "as wide as a row");
  expect(R"({"kind": "transposed_convolution", "in": [1, 1000000, 1], "channels": 1,
             "kernel": [5000, 1], "stride": [5000, 1]})",
         "what comes out is too large");
  expect(R"({"kind": "linear", "in": [], "outputs": 3})",
         "nothing says what comes into \"linear\"");
  expect(R"({"kind": "sum", "operators": [{"kind": "sum", "in": [4]}]})",
         "a layer is one operator or several");
  expect(R"({"operators": []})", "a layer has to do something");
  expect(R"({"operators": [{"kind": "sum", "in": [4], "beside": true}]})",
         "the first operator has none to stand beside");
}

}  // namespace
}  // namespace headway

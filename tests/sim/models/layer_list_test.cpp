#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "sim/layers/flops.h"
#include "sim/layers/kept_tensors.h"
#include "sim/layers/parameters.h"
#include "sim/layers/work.h"
#include "tests/sim/models/model_reading.h"

namespace headway {
namespace {

using testing::ModelReading;
using testing::read_model_text;
using testing::read_scenario_model;

TEST(LayerList, IsReadAsItStands) {
  const ModelReading reading = read_model_text(R"({"schema": "headway/model/1", "layers": [
    {"repeat": 3, "products": [{"outputs": 8, "inputs": 4, "rows": 10, "bias": true}],
     "passes": [{"forward": "100 B"}], "other_parameters": 5, "kept": "60 B"},
    {"products": [{"outputs": 2, "inputs": 8}]}], "loss_classes": 2})");
  EXPECT_EQ(reading.problems, "");
  ASSERT_TRUE(reading.read.has_value());
  const Model& model = reading.read->model;
  EXPECT_EQ(model.layer_count(), 4);
  EXPECT_FALSE(model.has_tokens);
  EXPECT_EQ(parameter_count(model), 3 * (8 * 4 + 8 + 5) + 16);
  EXPECT_DOUBLE_EQ(forward_flops(model, 1).total().count(), 3 * 2 * 10 * 32 + 2 * 16.0);
  EXPECT_EQ(kept_bytes(model.layer(0), {}), 60_B);
  EXPECT_EQ(kept_bytes(model.layer(3), {}), 16_B);  // what its product takes
  EXPECT_EQ(model.layer(3).input, 80.0);            // what the layer before gives: 10 x 8
  const ModelReading again = read_model_text(reading.read->resolved->dump());
  EXPECT_EQ(again.problems, "");
  ASSERT_TRUE(again.read.has_value());
  EXPECT_EQ(parameter_count(again.read->model), parameter_count(model));
}

TEST(LayerList, EveryLayerDoesSomething) {
  EXPECT_EQ(read_model_text(R"({"schema": "headway/model/1",
  "layers": [{"name": "idle"}]})")
                .problems,
            R"(error: a layer has to do something
  --> model.json:2:14   /layers/0
   |
 2 |   "layers": [{"name": "idle"}]}
   |              ^ neither products nor passes nor attention
  help: for example "kind": "linear", "outputs": 1024
)");
}

/// Of nothing else is told, unless there is a transformer's hidden size.
TEST(LayerList, HasOneLayerAtLeast) {
  EXPECT_EQ(read_model_text(R"({"schema": "headway/model/1", "layers": []})").problems,
            R"(error: a list of layers needs one at least
  --> model.json:1:41   /layers
   |
 1 | {"schema": "headway/model/1", "layers": []}
   |                                         ^
  help: for example "layers": [{"products": [{"outputs": 10, "inputs": 10}]}]
)");
  EXPECT_NE(read_model_text(R"({"schema": "headway/model/1", "hidden": 8, "layers": []})")
                .problems.find(R"("layers" must be a whole number)"),
            std::string::npos);
}

TEST(LayerList, NoElementIsReadMoreOftenThanAFilterHasPlaces) {
  const auto problems_of = [](const std::string& reuse) {
    return read_model_text(R"({"schema": "headway/model/1", "layers": [
      {"products": [{"outputs": 8, "inputs": 9, "rows": 10, "reuse": )" +
                           reuse + "}]}]}")
        .problems;
  };
  EXPECT_EQ(problems_of("9"), "");  // a filter of 3 x 3 on one channel
  const std::string problems = problems_of("9.5");
  EXPECT_NE(problems.find("reuse is at most inputs"), std::string::npos) << problems;
  EXPECT_NE(problems.find("of 9 that a product takes"), std::string::npos) << problems;
}

TEST(LayerList, AttendsToItselfOrToOthers) {
  // 8 heads of 64. Of 100 positions each attends to half of them in the mean, or 25 to all of 40:
  // two products of 64 elements a pair and head, two operations each, for each of the 100.
  const ModelReading reading = read_model_text(R"({"schema": "headway/model/1",
    "sequence_length": 100, "layers": [
    {"attention": {"heads": 8, "head_size": 64, "causal": true}},
    {"attention": {"heads": 8, "kv_heads": 2, "head_size": 64, "positions": 25, "cross": 40}}]})");
  EXPECT_EQ(reading.problems, "");
  ASSERT_TRUE(reading.read.has_value());
  const Model& model = reading.read->model;
  EXPECT_DOUBLE_EQ(forward_flops(model.layer(0), 100).attention, 4.0 * 8 * 64 * 50);
  EXPECT_DOUBLE_EQ(forward_flops(model.layer(1), 100).attention, 4.0 * 8 * 64 * 25 * 40 / 100);
  // Queries and output of 8 heads, keys and values of 2, in 2 bytes.
  EXPECT_DOUBLE_EQ(kept_bytes(model.layer(1), {}).count(),
                   2.0 * 64 * (2 * 8 * 0.25 + 2 * 2 * 0.40));
  const RankShape whole{.sequence_length = 100.0};
  const Work of_layer = work(model.layer(1), whole);
  ASSERT_TRUE(of_layer.attention.has_value());
  EXPECT_EQ(of_layer.attention->shape.query_length, 25.0);
  EXPECT_EQ(of_layer.attention->shape.key_length, 40.0);
  const ModelReading again = read_model_text(reading.read->resolved->dump());
  EXPECT_EQ(again.problems, "");
}

TEST(LayerList, AttentionIsOfSequences) {
  EXPECT_EQ(read_model_text(R"({"schema": "headway/model/1",
  "layers": [{"attention": {"heads": 8, "head_size": 64}}]})")
                .problems,
            R"(error: only positions of a sequence attend to each other
  --> model.json:2:28   /layers/0/attention
   |
 2 |   "layers": [{"attention": {"heads": 8, "head_size": 64}}]}
   |                            ^
  help: give the list a sequence_length
)");
  EXPECT_EQ(read_model_text(R"({"schema": "headway/model/1", "sequence_length": 10, "layers": [
  {"attention": {"heads": 8, "kv_heads": 3, "head_size": 64, "causal": true, "cross": 5}}]})")
                .problems,
            R"(error: positions of another sequence are none of the past or the future
  --> model.json:2:72   /layers/0/attention/causal
   |
 2 |   {"attention": {"heads": 8, "kv_heads": 3, "head_size": 64, "causal": true, "cross": 5}}]}
   |                                                                        ^^^^
  help: leave causal out, or cross
error: kv_heads must divide heads
  --> model.json:2:42   /layers/0/attention/kv_heads
   |
 2 |   {"attention": {"heads": 8, "kv_heads": 3, "head_size": 64, "causal": true, "cross": 5}}]}
   |                                          ^ 3 does not divide 8
  help: leave it out for as many as heads
)");
}

TEST(LayerList, RetinaNetHasAsManyMultiplicationsAsTorchvisionCounts) {
  // torchvision/models/detection/retinanet.py, RetinaNet_ResNet50_FPN_Weights: "_ops": 151.54, in
  // 10^9 multiplications of an image.
  const ModelReading reading = read_scenario_model(R"({"model": "retinanet"})");
  ASSERT_TRUE(reading.read.has_value()) << reading.problems;
  EXPECT_NEAR(forward_flops(reading.read->model, 1).total().count() / 2.0, 151.54e9, 0.005e9);
}

TEST(ModelFamilies, ANameThatIsNoneIsAProblem) {
  const ModelReading reading =
      read_model_text(R"({"schema": "headway/model/1", "family": "resnett", "blocks": [1]})");
  EXPECT_NE(reading.problems.find(R"(did you mean "resnet"?)"), std::string::npos)
      << reading.problems;
}

}  // namespace
}  // namespace headway

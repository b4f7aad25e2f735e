#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "sim/layers/flops.h"
#include "sim/layers/kept_tensors.h"
#include "sim/layers/parameters.h"
#include "tests/sim/models/model_reading.h"

namespace headway {
namespace {

using testing::ModelReading;
using testing::read_model_text;

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
   |              ^ neither products nor passes
  help: for example "kind": "linear", "outputs": 1024
)");
}

TEST(ModelFamilies, ANameThatIsNoneIsAProblem) {
  const ModelReading reading =
      read_model_text(R"({"schema": "headway/model/1", "family": "resnett", "blocks": [1]})");
  EXPECT_NE(reading.problems.find(R"(did you mean "resnet"?)"), std::string::npos)
      << reading.problems;
}

}  // namespace
}  // namespace headway

#include "sim/models/lstm.h"

#include <gtest/gtest.h>

#include <utility>

#include "sim/layers/flops.h"
#include "sim/layers/parameters.h"
#include "sim/layers/work.h"
#include "tests/sim/models/model_reading.h"

namespace headway {
namespace {

using testing::read_model_text;

/// Two layers of 3 on words of 2, ten words, sequences of 4.
LstmModel small() {
  return {.layers = 2, .hidden = 3, .embedding_width = 2, .vocabulary = 10, .sequence_length = 4};
}

// A table of 10 x 2; gates 12 x 2 and 12 x 3 with two biases, then 12 x 3 twice; a head of 10 x 3
// and a bias.
TEST(Lstm, HasFourGatesALayer) {
  const Model model = layers_of(small());
  EXPECT_EQ(parameter_count(model), 20 + (24 + 36 + 24) + (36 + 36 + 24) + 40);
  EXPECT_DOUBLE_EQ(forward_flops(model, 4).total().count(), 2.0 * (24 + 36 + 36 + 36 + 30));
}

// Five sequences of four: inputs at once, 20 rows; states in four turns.
TEST(Lstm, StatesTakeTurns) {
  const Work layer = work(layers_of(small()).layer(0), {.micro_batch = 5, .sequence_length = 4});
  ASSERT_EQ(layer.linears.size(), 2U);
  EXPECT_EQ(layer.linears[0].forward, (GemmShape{20, 12, 2}));
  EXPECT_EQ(layer.linears[0].turns, 1.0);
  EXPECT_EQ(layer.linears[1].forward, (GemmShape{20, 12, 3}));
  EXPECT_EQ(layer.linears[1].turns, 4.0);
}

// 30 bytes forward for each element of the state in 16 bits, twice as many in fp32.
TEST(Lstm, PassesMoveWhatTensorsTake) {
  const Layer layer = layers_of(small()).layer(0);
  const auto moved = [&](double element) {
    return work(layer, {.micro_batch = 5, .sequence_length = 4, .element_bytes = element})
        .passes[0]
        .forward.count();
  };
  EXPECT_DOUBLE_EQ(moved(2.0), 20.0 * 3.0 * 30.0);
  EXPECT_DOUBLE_EQ(moved(4.0), 20.0 * 3.0 * 60.0);
}

// Numbers of 2 bytes for each element of the state. A GRU reads two products of three gates and the
// state, and writes gates and state; backward it reads gates, state and gradient, and writes those
// of the state and of four products. A plain layer reads two products and writes its state;
// backward it reads that and its gradient, and writes one.
TEST(RecurrentLayer, MovesTheGatesOfItsCell) {
  const auto moved = [](RecurrentCell cell) {
    const MemoryPass pass = recurrent_layer(cell, 2.0, 3.0, 4.0).passes.at(0);
    return std::pair(pass.forward, pass.backward);
  };
  EXPECT_EQ(moved(RecurrentCell::lstm), std::pair(2 * 3 * 15.0, 2 * 3 * 13.0));
  EXPECT_EQ(moved(RecurrentCell::gru), std::pair(2 * 3 * (6 + 1 + 4.0), 2 * 3 * (5 + 1 + 4.0)));
  EXPECT_EQ(moved(RecurrentCell::plain), std::pair(2 * 3 * 3.0, 2 * 3 * 3.0));
}

// A product of all inputs and backward three of all positions, beside a product and a kernel for
// each, whose launches take 8 us of an operator's 63.
TEST(RecurrentLayer, LaunchesWhatTakesTurnsOneByOne) {
  const Launches launches = recurrent_layer(RecurrentCell::lstm, 2.0, 3.0, 63.0).launches;
  EXPECT_DOUBLE_EQ(launches.forward, 1.0 + 2.0 * 8.0);
  EXPECT_DOUBLE_EQ(launches.backward, 3.0 + 2.0 * 8.0);
}

TEST(Lstm, SharesATableOfTheSameWidth) {
  EXPECT_EQ(
      read_model_text(R"({"schema": "headway/model/1", "family": "lstm", "hidden": 100})").problems,
      "");
  EXPECT_EQ(read_model_text(R"({"schema": "headway/model/1", "family": "lstm", "hidden": 100,
 "tied_embeddings": true})")
                .problems,
            R"(error: a head that shares the table needs a state as wide as its rows
  --> model.json:2:21   /tied_embeddings
   |
 2 |  "tied_embeddings": true}
   |                     ^^^^ 100 and 200
  help: set embedding_width to hidden, or leave it out
)");
}

}  // namespace
}  // namespace headway

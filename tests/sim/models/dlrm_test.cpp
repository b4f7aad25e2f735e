#include "sim/models/dlrm.h"

#include <gtest/gtest.h>

#include "sim/layers/flops.h"
#include "sim/layers/parameters.h"
#include "sim/layers/tables.h"
#include "sim/layers/work.h"
#include "tests/sim/models/model_reading.h"

namespace headway {
namespace {

using testing::read_model_text;

/// Two tables of 4 wide, MLPs of one and of two layers.
DlrmModel small(Interaction interaction) {
  return {.table_rows = {10, 20},
          .embedding_width = 4,
          .dense_features = 3,
          .bottom_mlp = {4},
          .top_mlp = {5, 1},
          .interaction = interaction,
          .cross_layers = 2,
          .cross_rank = 2};
}

// Tables 30 x 4; bottom 3 x 4 + 4; three pairs and 4 elements make 7: 7 x 5 + 5, then 5 + 1.
TEST(Dlrm, CountsTablesAndMlps) {
  const Model model = layers_of(small(Interaction::dot));
  EXPECT_EQ(parameter_count(model), 120 + 16 + 40 + 6);
  EXPECT_DOUBLE_EQ(parameters(model).tables(), 120.0);
  // Two operations for each weight of the MLPs, biases apart.
  EXPECT_DOUBLE_EQ(forward_flops(model, 1).total().count(), 2.0 * (12 + 35 + 5));
}

// Three vectors of 4 make 12 elements: each cross layer 12 x 2, 2 x 12 and a bias of 12; then
// 12 x 5 + 5 and 5 + 1.
TEST(Dlrm, MayHaveCrossLayers) {
  const Model model = layers_of(small(Interaction::cross));
  EXPECT_EQ(parameter_count(model), 120 + 16 + 2 * (24 + 24 + 12) + 65 + 6);
  EXPECT_DOUBLE_EQ(forward_flops(model, 1).total().count(), 2.0 * (12 + 2 * 48 + 60 + 5));
}

TEST(Dlrm, LooksUpARowOfEachTableWhereNobodySaysMore) {
  DlrmModel fields = small(Interaction::dot);
  EXPECT_DOUBLE_EQ(layers_of(fields).layer(0).tables[1].lookups, 1.0);
  fields.lookups = {1, 7};
  EXPECT_DOUBLE_EQ(layers_of(fields).layer(0).tables[1].lookups, 7.0);
}

TEST(Dlrm, NothingInFrontOfTheBottomMlpIsTrained) {
  const Work first = work(layers_of(small(Interaction::dot)).layer(0), {});
  EXPECT_FALSE(first.linears[0].input_gradient);
  EXPECT_GT(first.tables.forward, Bytes(0.0));
}

TEST(Dlrm, TellsWhatDoesNotGoTogether) {
  EXPECT_EQ(read_model_text(R"({"schema": "headway/model/1", "family": "dlrm",
 "table_rows": [10, 20], "lookups": [1], "embedding_width": 64})")
                .problems,
            R"(error: "lookups" has a number for each table
  --> model.json:2:37   /lookups
   |
 2 |  "table_rows": [10, 20], "lookups": [1], "embedding_width": 64}
   |                                     ^ 1 numbers for 2 tables
error: the last layer of the bottom MLP is as wide as a row of a table
  --> model.json:1:1
   |
 1 | {"schema": "headway/model/1", "family": "dlrm",
   | ^ 128 and 64
  help: end it with 64
)");
}

}  // namespace
}  // namespace headway

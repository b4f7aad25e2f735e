#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/sim/models/library_models.h"
#include "tests/sim/models/model_reading.h"

namespace headway {
namespace {

using testing::expect_parameters;
using testing::ModelReading;
using testing::read_model_text;

std::string electra(const std::string& architecture, const std::string& sizes) {
  return R"({"model_type": "electra", "architectures": [")" + architecture + R"("],
    "num_hidden_layers": 12, "vocab_size": 30522, "type_vocab_size": 2,
    "max_position_embeddings": 512, "hidden_act": "gelu", )" +
         sizes + "}";
}

/// Clark et al. 2020, table 1: 14 M and 110 M. By hand three tables of e columns and a norm,
/// a product where e is not h, layers, a product of h and one of a column; of a generator a product
/// to e, a norm and a bias for each word.
TEST(HuggingFaceWords, ElectraHasTablesOfAWidthOfTheirOwn) {
  const auto tables = [](std::int64_t e) { return (30'522 + 512 + 2) * e + 2 * e; };
  const auto layers = [](std::int64_t h) { return 12 * (12 * h * h + 13 * h); };
  const std::string small = R"("hidden_size": 256, "embedding_size": 128,
    "num_attention_heads": 4, "intermediate_size": 1024)";
  EXPECT_EQ(tables(128) + 128 * 256 + 256 + layers(256), 13'483'008);
  expect_parameters(electra("ElectraForPreTraining", small),
                    13'483'008 + 256 * 256 + 256 + 256 + 1);
  expect_parameters(electra("ElectraForPreTraining", R"("hidden_size": 768, "embedding_size": 768,
    "num_attention_heads": 12, "intermediate_size": 3072)"),
                    109'483'009);
  EXPECT_EQ(tables(768) + layers(768) + 768 * 768 + 768 + 768 + 1, 109'483'009);
  expect_parameters(
      electra("ElectraForMaskedLM", R"("hidden_size": 256, "embedding_size": 768,
    "num_attention_heads": 4, "intermediate_size": 1024)"),
      tables(768) + 768 * 256 + 256 + layers(256) + 256 * 768 + 768 + 2 * 768 + 30'522);
}

/// A discriminator tells of each word one thing and says what it leaves out; 128 columns are the
/// library's default.
TEST(HuggingFaceWords, ElectraTellsWhichWordsWereReplaced) {
  const std::string small = R"("hidden_size": 256, "num_attention_heads": 4,
    "intermediate_size": 1024)";
  const ModelReading reading = read_model_text(electra("ElectraForPreTraining", small));
  EXPECT_EQ(reading.problems, "");
  ASSERT_TRUE(reading.read.has_value());
  EXPECT_EQ(reading.read->resolved->at("table_width"), 128);
  EXPECT_DOUBLE_EQ(reading.read->model.last.loss_classes, 1.0);
  ASSERT_EQ(reading.read->model.left_out.size(), 1U);
  const ModelReading generator = read_model_text(electra("ElectraForMaskedLM", small));
  EXPECT_DOUBLE_EQ(generator.read->model.last.loss_classes, 30'522.0);
  EXPECT_TRUE(generator.read->model.left_out.empty());
  EXPECT_NE(read_model_text(electra("ElectraForPreTraining", R"("hidden_size": 256,
 "embedding_size": 0, "num_attention_heads": 4, "intermediate_size": 1024)"))
                .problems.find("/embedding_size"),
            std::string::npos);
}

}  // namespace
}  // namespace headway
